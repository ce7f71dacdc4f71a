"""A few cuts of the power; ``make crash`` does five hundred."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from assay.index.reader import Generation, open_generation
from assay.index.writer import update
from assay.testing.component import sample
from tests.crash.disk import Disk
from tests.crash.power import crash_series
from tests.crash.recorded import NoTracer
from tests.crash.watched import Watch
from tests.unit.index.helpers import DENSE, ENCODERS, SPARSE, Memory


@pytest.mark.req("2")
def test_a_cut_of_the_power_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    try:
        figures = crash_series(20, 3, tmp_path)
    except NoTracer as problem:
        pytest.skip(f"programs cannot be watched here: {problem}")
    assert figures.crashes == 20
    assert (figures.lost, figures.wrong, figures.bad_opens) == (0, 0, 0)


def test_a_disk_that_lies_about_syncs_loses_writes_and_tells_no_falsehood(tmp_path: Path) -> None:
    try:
        figures = crash_series(15, 4, tmp_path, lies=0.4)
    except NoTracer as problem:
        pytest.skip(f"programs cannot be watched here: {problem}")
    assert figures.crashes == 15
    assert (figures.wrong, figures.bad_opens) == (0, 0)


@pytest.mark.req("2")
def test_every_sync_of_the_index_may_be_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same without strace, for the index alone: a crash before every sync that we make."""
    top, rng = tmp_path / "top", random.Random(5)
    top.mkdir()
    images: list[Path] = []

    def crash(disk: Disk) -> None:
        images.append(tmp_path / f"crash-{len(images)}")
        disk.crash(images[-1], rng)

    watch = Watch(top, crash)
    memory, applied = Memory(), {0: 0}
    rows = sample()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", watch.fsync)
        for start, fresh in ((0, False), (10, False), (20, True)):
            memory.change(rows[start : start + 10], [rows[start - 1].key] if start else [])
            update(top / "index", memory, ENCODERS, fresh=fresh)
            applied[memory.last_change()] = start + 10 - start // 10
    watch.close()
    assert len(images) > 60
    for image in rng.sample(images, 25):
        before = open_generation(image / "index")
        assert len(_alive(before)) == applied[before.manifest.applied]
        update(image / "index", memory, ENCODERS)
        assert _alive(open_generation(image / "index")) == _alive(open_generation(top / "index"))


def _alive(generation: Generation) -> set[str]:
    found = {hit.chunk_id for hit in generation.dense(DENSE).search("heart", 99)}
    for part in (generation.bm25(), generation.splade(SPARSE)):
        assert {hit.chunk_id for hit in part.search("heart failure dose", 99)} <= found
    return found


def left(disk: Disk, target: Path, name: str) -> set[bytes | None]:
    """Everything that a crash may leave under a name."""
    found: set[bytes | None] = set()
    for seed in range(60):
        image = target / str(seed)
        disk.crash(image, random.Random(seed))
        path = image / name
        found.add(path.read_bytes() if path.exists() else None)
    return found


def test_the_disk_loses_what_was_not_made_durable(tmp_path: Path) -> None:
    disk = Disk(Path("/top"))
    disk.create("/top/.new").now.extend(b"new")
    (tmp_path / "nothing").mkdir()
    assert {None, b"", b"new"} < left(disk, tmp_path / "nothing", ".new")
    disk.sync("/top/.new")
    disk.rename("/top/.new", "/top/file")
    (tmp_path / "content").mkdir()
    assert left(disk, tmp_path / "content", "file") == {None, b"new"}
    disk.sync("/top")
    (tmp_path / "names").mkdir()
    assert left(disk, tmp_path / "names", "file") == {b"new"}


def test_the_disk_tears_what_is_written_over(tmp_path: Path) -> None:
    disk = Disk(Path("/top"))
    file = disk.create("/top/file")
    file.now.extend(b"a" * 10_000)
    disk.sync("/top/file")
    disk.sync("/top")
    file.now[:] = b"b" * 10_000
    contents = left(disk, tmp_path, "file")
    assert {b"a" * 10_000, b"b" * 10_000} < contents
    assert any(one and {*one} == {*b"ab"} for one in contents)
