"""Generations: what is written, when it is seen, and what damage does."""

import errno
import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.errors import BusyError, CorruptError, InputError, StorageError, UsageError
from assay.index import check, checksums, reader, writer
from assay.index import manifest as manifests
from assay.index.bm25 import WORDS, Part, parts_of
from assay.index.lock import write_lock
from assay.index.reader import open_generation
from assay.index.writer import Encoders, cut_words_anew, update
from assay.model.query import Filters
from assay.model.vectors import DenseMatrix
from assay.testing.component import sample
from tests.unit.index.helpers import DENSE, ENCODERS, SPARSE, Memory, built, opened

ROWS = sample()


def everything(folder: Path) -> dict[str, list[str]]:
    generation = opened(folder)
    parts = (generation.bm25(), generation.splade(SPARSE), generation.dense(DENSE))
    return {
        part.name: sorted(hit.chunk_id for hit in part.search("in report of the", 99))
        for part in parts
    }


def test_an_index_without_anything_is_empty(tmp_path: Path) -> None:
    assert opened(tmp_path / "index").bm25().search("heart", 5) == []


def test_nothing_new_writes_nothing(tmp_path: Path) -> None:
    memory, first = built(tmp_path, ROWS)
    assert update(tmp_path, memory, ENCODERS) == first


def test_a_lock_that_cannot_be_had_is_not_somebody_elses(
    tmp_path: Path,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fcntl, "flock", refuse)
        with pytest.raises(StorageError, match="No locks available"), write_lock(tmp_path):
            pass
    (tmp_path / "WRITER").unlink()
    (tmp_path / "WRITER").mkdir()
    with pytest.raises(StorageError, match="WRITER cannot be written"), write_lock(tmp_path):
        pass


def test_half_a_manifest_that_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    memory, _ = built(tmp_path, ROWS)
    left = tmp_path / ".MANIFEST.json.4711.1.tmp"
    left.write_text("{")
    update(tmp_path, memory, ENCODERS)
    assert not left.exists()


def test_an_update_that_has_nothing_to_do_still_names_damage(tmp_path: Path) -> None:
    memory, _ = built(tmp_path, ROWS)
    (keys,) = tmp_path.glob("seg-*/keys.npy")
    keys.write_bytes(b"damaged")
    with pytest.raises(CorruptError, match=f"{keys} was damaged"):
        update(tmp_path, memory, ENCODERS)


def test_new_chunks_and_deletes_are_seen_by_every_component(tmp_path: Path) -> None:
    memory, _ = built(tmp_path, ROWS[:10])
    before = everything(tmp_path)
    memory.change(ROWS[10:12], [ROWS[0].key])
    update(tmp_path, memory, ENCODERS)
    after = everything(tmp_path)
    for name in ("splade", "dense"):
        assert set(after[name]) - set(before[name]) == {r.chunk.chunk_id for r in ROWS[10:12]}
        assert set(before[name]) - set(after[name]) == {ROWS[0].chunk.chunk_id}
    words = opened(tmp_path).bm25()
    assert all(hit.key != ROWS[0].key for hit in words.search(ROWS[0].chunk.text, 99))
    assert words.search(ROWS[10].chunk.text, 1)[0].key == ROWS[10].key


@pytest.mark.parametrize("damage", [lambda data: data[:99], lambda data: b"\xff" * len(data)])
def test_the_card_of_an_index_whose_graph_was_damaged(
    tmp_path: Path, damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MERGED_ROWS", 1)
    memory, _ = built(tmp_path, ROWS[:10])
    manifest = update(tmp_path, memory, ENCODERS, fresh=True, graph_from_rows=1)
    assert check.card(tmp_path, manifest)["dense_search"] == "approximate"
    (graph,) = tmp_path.glob("seg-*/dense_links.npy")
    graph.write_bytes(damage(graph.read_bytes()))
    with pytest.raises(CorruptError, match=f"{graph} was damaged"):
        check.card(tmp_path, manifest)


def test_a_reader_keeps_its_generation(tmp_path: Path) -> None:
    memory, _ = built(tmp_path, ROWS[:10])
    old = opened(tmp_path)
    memory.change((), [row.key for row in ROWS[:9]])
    update(tmp_path, memory, ENCODERS)
    update(tmp_path, memory, ENCODERS, fresh=True)
    for part in (old.bm25(), old.splade(SPARSE), old.dense(DENSE)):
        assert part.search(ROWS[3].chunk.text, 1)[0].key == ROWS[3].key
    assert len(opened(tmp_path).dense(DENSE).search("heart", 99)) == 1


@pytest.mark.parametrize("name", ["terms", "ends", "starts", "rows", "codes", "positions"])
def test_a_generation_that_is_removed_while_it_is_opened_is_never_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    memory, _ = built(tmp_path, ROWS[:10])
    opens = []

    def opened_late(folders: Iterable[Path], segments: Any) -> Iterator[Part]:
        """A writer goes on, and its sweep has reached one file when this one is opened."""
        places = [*folders]
        opens.append(len(places))
        if len(opens) == 1:
            memory.change(ROWS[10:20])
            with monkeypatch.context() as kept:
                kept.setattr(writer, "_sweep", lambda folder, manifest: None)
                update(tmp_path, memory, ENCODERS, fresh=True)
            (places[0] / f"words-0.{name}.npy").unlink()
        return parts_of(places, segments)

    monkeypatch.setattr(reader, "parts_of", opened_late)
    generation = open_generation(tmp_path)
    assert len(opens) == 2
    assert len(generation.chunk_ids) == 20
    assert generation.bm25().search(ROWS[15].chunk.text, 1)[0].key == ROWS[15].key


def test_the_order_of_arrival_changes_no_answer(tmp_path: Path) -> None:
    built(tmp_path / "a", ROWS)
    built(tmp_path / "b", ROWS[20:], ROWS[:10], ROWS[10:20])
    one, other = opened(tmp_path / "a"), opened(tmp_path / "b")
    for query in ("heart failure dose", "renal impairment", "patients observation 7"):
        assert one.bm25().search(query, 20) == other.bm25().search(query, 20)
        assert one.splade(SPARSE).search(query, 20) == other.splade(SPARSE).search(query, 20)
        assert one.dense(DENSE).search(query, 20) == other.dense(DENSE).search(query, 20)


def test_a_rebuild_leaves_the_dead_behind(tmp_path: Path) -> None:
    memory, _ = built(tmp_path, ROWS[:10])
    memory.change((), [ROWS[0].key])
    assert update(tmp_path, memory, ENCODERS).dead is not None
    fresh = update(tmp_path, memory, ENCODERS, fresh=True)
    assert fresh.dead is None
    assert [part.rows for part in fresh.segments] == [9]
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {
        p.folder for p in fresh.parts
    }


def test_files_of_a_crashed_writer_are_swept(tmp_path: Path) -> None:
    memory, _ = built(tmp_path, ROWS[:5])
    (tmp_path / "seg-000099.0").mkdir()
    (tmp_path / "seg-000099.0" / "half").write_text("written")
    memory.change(ROWS[5:6])
    update(tmp_path, memory, ENCODERS)
    assert not (tmp_path / "seg-000099.0").exists()


def test_a_second_writer_is_refused_by_name(tmp_path: Path) -> None:
    memory, _ = built(tmp_path, ROWS[:5])
    memory.change(ROWS[5:6])
    with write_lock(tmp_path), pytest.raises(BusyError, match=r"being written by process \d+ on"):
        update(tmp_path, memory, ENCODERS)


def every_file(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("WRITER", ".verified.json")
    )


@pytest.mark.parametrize("damage", ["flip", "truncate", "delete"])
def test_any_damage_is_refused_by_name(damage: str, tmp_path: Path) -> None:
    memory, _ = built(tmp_path, ROWS)
    memory.change((), [ROWS[0].key])
    update(tmp_path, memory, ENCODERS)
    opened(tmp_path)  # verified once; damage after that must still be seen
    for path in every_file(tmp_path):
        content = path.read_bytes()
        if not content:
            continue
        if damage == "flip":
            _flip(path)
        elif damage == "truncate":
            path.write_bytes(content[:-1])
        else:
            path.unlink()
        with pytest.raises(CorruptError, match=path.name):
            opened(tmp_path)
        path.write_bytes(content)
    assert opened(tmp_path).segments


@pytest.mark.parametrize("settled", [True, False])
def test_a_file_whose_time_was_put_back_is_read_again(
    settled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same size, in the same place, with the time of before."""
    if settled:
        monkeypatch.setattr(checksums, "SETTLED_NS", -1)
    built(tmp_path, ROWS)
    opened(tmp_path)
    for path in every_file(tmp_path):
        if path.name == manifests.NAME or not path.stat().st_size:
            continue
        before, content = path.stat(), path.read_bytes()
        _flip(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        with pytest.raises(CorruptError, match=path.name):
            opened(tmp_path)
        path.write_bytes(content)
    assert opened(tmp_path).segments


def _flip(path: Path) -> None:
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])


@pytest.mark.parametrize("seen", [True, False])
def test_damage_does_not_live_on_in_the_next_generation(
    seen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next generation shares files with this one; their checksums are those of then."""
    memory, manifest = built(tmp_path, ROWS[:10])
    words = tmp_path / manifest.bm25[0].folder / "words-0.codes.npy"
    _flip(words)
    memory.change(ROWS[10:12])
    if seen:
        with pytest.raises(CorruptError, match=words.name):
            update(tmp_path, memory, ENCODERS)
        return
    # a bit that turned without anybody writing is not seen by the writer, but by the next reader
    monkeypatch.setattr(writer, "verify_once", lambda *_: None)
    update(tmp_path, memory, ENCODERS)
    with pytest.raises(CorruptError, match=words.name):
        opened(tmp_path)


def test_only_what_is_new_is_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "SETTLED_NS", -1)  # as if all this took seconds
    memory, first = built(tmp_path, ROWS[:10])
    opened(tmp_path)
    memory.change(ROWS[10:12])
    second = update(tmp_path, memory, ENCODERS)
    checked: list[str] = []

    def note(path: Path, size: int, checksum: str) -> None:
        checked.append(path.parent.name)

    monkeypatch.setattr(reader, "verify", note)
    opened(tmp_path)
    assert second.segments[1].folder in checked
    assert first.segments[0].folder not in checked
    checked.clear()
    opened(tmp_path)
    assert checked == []


def test_a_writer_that_fails_leaves_no_files(tmp_path: Path) -> None:
    memory, manifest = built(tmp_path, ROWS[:10])
    memory.change(ROWS[10:12])

    def broken(_: list[str]) -> DenseMatrix:
        raise InputError("no vectors today")

    with pytest.raises(InputError, match="today"):
        update(tmp_path, memory, replace(ENCODERS, dense=broken))
    left = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert left == {part.folder for part in manifest.parts}


def test_a_rebuild_mends_a_broken_manifest(tmp_path: Path) -> None:
    memory, before = built(tmp_path, ROWS)
    (tmp_path / manifests.NAME).write_text("{")
    with pytest.raises(CorruptError, match="rebuild"):
        opened(tmp_path)
    after = update(tmp_path, memory, ENCODERS, fresh=True)
    assert after.generation > before.generation
    assert len(opened(tmp_path).dense(DENSE).search("heart", 99)) == len(ROWS)


def test_another_model_means_another_index(tmp_path: Path) -> None:
    memory, _ = built(tmp_path, ROWS)
    other = Encoders(dense=ENCODERS.dense, dense_model="other")
    update(tmp_path, memory, ENCODERS)
    memory.change()
    manifest = update(tmp_path, memory, other)
    assert manifest.models == {"dense": "other"}
    assert len(manifest.segments) == 1
    with pytest.raises(UsageError, match="built with other for dense"):
        opened(tmp_path).dense(DENSE)
    with pytest.raises(UsageError, match="no model for splade"):
        opened(tmp_path).splade(SPARSE)


def test_another_format_is_refused(tmp_path: Path) -> None:
    built(tmp_path, ROWS[:3])
    path = tmp_path / manifests.NAME
    content = json.loads(path.read_text())
    content.pop("checksum")
    content["format"] = 99
    content["checksum"] = manifests._checksum(content)
    path.write_text(json.dumps(content))
    with pytest.raises(Exception, match="another format"):
        open_generation(tmp_path)


def test_filters_on_nothing_and_on_everything(tmp_path: Path) -> None:
    built(tmp_path, ROWS)
    words = opened(tmp_path).bm25()
    assert words.search("heart", 5, Filters()) == words.search("heart", 5)
    assert words.search("heart", 5, Filters(doc_id=("nobody",))) == []


def test_words_that_an_older_version_cut_are_cut_anew(tmp_path: Path) -> None:
    memory, manifest = built(tmp_path, sample())
    manifests.save(tmp_path, replace(manifest, words=1))
    with pytest.raises(StorageError, match="another version"):
        open_generation(tmp_path)
    cut_words_anew(tmp_path, memory)
    again = open_generation(tmp_path)
    assert again.manifest.words == WORDS
    assert again.manifest.segments == manifest.segments
    assert again.bm25().search("heart failure", 3)
    manifests.save(tmp_path, replace(again.manifest, words=1))
    assert update(tmp_path, memory, ENCODERS).words == WORDS
    assert open_generation(tmp_path).bm25().search("heart failure", 3)


def test_many_small_updates_leave_few_segments_and_the_answers_of_one(tmp_path: Path) -> None:
    encoded: list[str] = []

    def dense(texts: list[str]) -> DenseMatrix:
        encoded.extend(texts)
        return DENSE.encode(texts, "passage")

    memory, encoders = Memory(), replace(ENCODERS, dense=dense)
    for at, row in enumerate(ROWS):
        memory.change([row], [ROWS[at - 2].key] if at % 5 == 4 else [])
        manifest = update(tmp_path / "small", memory, encoders)
    assert len(manifest.segments) <= 5
    assert len(encoded) == len(ROWS), "what was encoded once is taken over"
    gone = sum(len(removed) for _, removed in memory.log)
    assert manifest.dead is None or manifest.dead.rows < gone
    assert manifest.card["rows"] == len(ROWS) - gone
    update(tmp_path / "whole", memory, ENCODERS)
    small, whole = opened(tmp_path / "small"), opened(tmp_path / "whole")
    for query in ("heart failure dose", "renal impairment", "patients observation 7"):
        assert small.bm25().search(query, 99) == whole.bm25().search(query, 99)
        assert small.splade(SPARSE).search(query, 99) == whole.splade(SPARSE).search(query, 99)
        assert small.dense(DENSE).search(query, 99) == whole.dense(DENSE).search(query, 99)
    assert check.problems(tmp_path / "small", len(ROWS) - gone, memory) == []


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of three rows are full, and those of two or more are packed."""
    monkeypatch.setattr(writer, "SEGMENT_ROWS", 3)
    monkeypatch.setattr(writer, "MERGED_ROWS", 1)


@pytest.mark.usefixtures("small_segments")
def test_a_large_update_that_is_interrupted_goes_on_where_it_stopped(tmp_path: Path) -> None:
    memory = Memory()
    for row in ROWS:
        memory.change([row])
    encoded: list[str] = []

    def dense(texts: list[str]) -> DenseMatrix:
        if len(encoded) == 6:
            raise KeyboardInterrupt
        encoded.extend(texts)
        return DENSE.encode(texts, "passage")

    with pytest.raises(KeyboardInterrupt):
        update(tmp_path, memory, replace(ENCODERS, dense=dense))
    stopped = manifests.load(tmp_path)
    assert [part.rows for part in stopped.segments] == [3, 3]
    assert len(everything(tmp_path)["dense"]) == 6
    seen: list[tuple[int, int]] = []
    update(tmp_path, memory, ENCODERS, progress=lambda _, *done: seen.append(done))
    assert seen[-1] == (len(ROWS) - 6, len(ROWS) - 6)
    built(tmp_path / "whole", ROWS)
    assert everything(tmp_path) == everything(tmp_path / "whole")
    assert check.problems(tmp_path, len(ROWS), memory) == []


@pytest.mark.usefixtures("small_segments")
def test_searches_find_the_old_index_until_a_rebuild_is_whole(tmp_path: Path) -> None:
    memory, before = built(tmp_path, *([row] for row in ROWS))
    calls = 0

    def dense(texts: list[str]) -> DenseMatrix:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return DENSE.encode(texts, "passage")

    with pytest.raises(KeyboardInterrupt):
        update(tmp_path, memory, replace(ENCODERS, dense=dense), fresh=True)
    assert manifests.load(tmp_path) == before


def test_large_segments_of_an_older_version_are_packed_by_the_next_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, loose = built(tmp_path, ROWS)
    before = everything(tmp_path)
    monkeypatch.setattr(writer, "MERGED_ROWS", 1)
    packed = update(tmp_path, memory, ENCODERS)
    (old,), (new,) = loose.segments, packed.segments
    assert {"dense.npy", "sparse_starts.npy"} <= old.files.keys()
    assert {"dense_high.npy", "impact_values.npy"} <= new.files.keys()
    assert not {"dense.npy", "sparse_starts.npy"} & new.files.keys()
    assert everything(tmp_path) == before
    assert check.problems(tmp_path, len(ROWS), memory) == []
    assert update(tmp_path, memory, ENCODERS) == packed


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="no smaps here")
def test_processes_share_the_memory_of_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a search reads is mapped, and no page of it is copied into this process."""
    monkeypatch.setattr(writer, "MERGED_ROWS", 0)  # every segment is a large one
    built(tmp_path, ROWS)
    generation = opened(tmp_path)
    for part in (generation.bm25(), generation.splade(SPARSE), generation.dense(DENSE)):
        assert part.search("in report of the", 99)
    mapped, copied, name = set(), [], ""
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            name = rest[-1] if line.endswith(".npy") and str(tmp_path) in line else ""
        elif name:
            mapped.add(Path(name).name.removesuffix(".npy"))
            if first == "Private_Dirty:" and rest[0] != "0":
                copied.append(name)
    assert not copied
    assert {"dense_high", "impacts-0.pairs", "words-0.rows", "words-0.codes", "keys"} <= mapped
