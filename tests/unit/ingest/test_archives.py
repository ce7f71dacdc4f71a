"""Are archives read like folders, and is nothing written outside of one's own?"""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from assay import limits
from assay.errors import InputError, LimitError
from assay.ingest import read_corpus
from assay.ingest.watch import Progress
from tests.unit.ingest.samples import ARTICLE, LABEL


def zipped(**members: Any) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def read(path: Path, notes: list[str] | None = None, *, keep_going: bool = False) -> list[str]:
    def told(step: Progress) -> None:
        if notes is not None and (said := step.note or step.problem):
            notes.append(said)

    found = read_corpus(path, progress=told, keep_going=keep_going)
    return [document.doc_id for document, _ in found]


def test_a_release_of_labels_packs_each_by_itself(tmp_path: Path) -> None:
    label = zipped(**{"label.xml": LABEL, "box.jpg": b"\xff\xd8 picture"})
    path = put(tmp_path, "dm_spl.zip", zipped(**{"prescription/one.zip": label}))
    notes: list[str] = []
    assert len(read(path, notes)) == 1
    assert any("box.jpg" in note and str(path) in note for note in notes)


def test_packages_of_articles_are_tar_files(tmp_path: Path) -> None:
    path = tmp_path / "PMC77.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo("PMC77/article.nxml")
        entry.size = len(ARTICLE.encode())
        archive.addfile(entry, io.BytesIO(ARTICLE.encode()))
    assert read(path) == ["PMC77"]


def test_ids_go_by_the_path_within(tmp_path: Path) -> None:
    put(tmp_path, "notes.zip", zipped(**{"monday/a.txt": "words", "b.txt": "more"}))
    assert read(tmp_path / "notes.zip") == ["notes.b", "notes.monday.a"]
    assert read(tmp_path) == ["notes.b", "notes.monday.a"]


def test_no_member_takes_the_place_of_another(tmp_path: Path) -> None:
    inner = zipped(**{"x.txt": "Inner words."})
    path = put(tmp_path, "all.zip", zipped(**{"a/x.txt": "Outer words.", "a.zip": inner}))
    texts = {document.text for document, _ in read_corpus(path)}
    assert texts == {"Inner words.", "Outer words."}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("d/x.txt", "First words.")
        archive.writestr("d\\x.txt", "Second words.")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("d/x.txt", "Third words.")
    notes: list[str] = []
    assert len(read(put(tmp_path, "twice.zip", target.getvalue()), notes)) == 3
    assert sum("more than once" in note for note in notes) == 2


def tarred(name: str, content: bytes) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return target.getvalue()


def test_archives_within_share_one_allowance_and_go_no_deeper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = {f"{number}.tar.gz": tarred("x.txt", b"a " * 300) for number in range(3)}
    path = put(tmp_path, "all.zip", zipped(**inner))
    assert len(read(path)) == 3
    monkeypatch.setattr(limits, "BOMB_FLOOR_BYTES", 1_500)
    monkeypatch.setattr(limits, "MAX_DECOMPRESSED_RATIO", 1)
    with pytest.raises(LimitError, match="unpacks to more than"):
        read(path)
    monkeypatch.undo()
    deep = zipped(**{"k.txt": b"Words.", "2.tar.gz": tarred("3.zip", zipped(**{"x.txt": "No."}))})
    notes: list[str] = []
    assert read(put(tmp_path, "deep.zip", deep), notes) == ["deep.k"]
    assert any("within an archive within an archive" in note for note in notes)


def test_errors_name_the_archive_and_the_member(tmp_path: Path) -> None:
    path = put(tmp_path, "a.zip", zipped(**{"sub/x.jsonl": '{"id": 1, "text": 5}\n'}))
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.message.startswith(f"{path}!sub/x.jsonl:1: ")
    problems: list[str] = []
    assert read(path, problems, keep_going=True) == []
    assert problems[0].startswith(f"{path}!sub/x.jsonl:1: ")


@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "a/../../out.txt", "..\\out.txt"])
def test_nothing_is_written_elsewhere(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "in"
    inner.mkdir()
    path = put(inner, "a.zip", zipped(**{name: "x", "b.txt": "words"}))
    notes: list[str] = []
    assert read(path, notes) == ["a.b"]
    assert any("is no plain file" in note for note in notes)
    assert not list(tmp_path.rglob("out.txt"))


def test_links_and_devices_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        entry = tarfile.TarInfo("b.txt")
        entry.size = 5
        archive.addfile(entry, io.BytesIO(b"words"))
    assert read(path) == ["a.b"]


def test_a_bomb_is_noticed_while_unpacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BOMB_FLOOR_BYTES", 1_000)
    path = put(tmp_path, "a.zip", zipped(**{"a.txt": "x" * 500_000}))
    with pytest.raises(LimitError, match="unpacks to more than"):
        read(path)


def test_the_folder_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    path = put(tmp_path, "a.zip", zipped(**{"a.txt": "words"}))
    assert read(path) == ["a.a"]
    assert list((tmp_path / "scratch").iterdir()) == []
