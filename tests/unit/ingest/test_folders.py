"""Are the files of a folder found, in order, and nothing else?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay import limits
from assay.errors import InputError, LimitError, MissingFileError
from assay.ingest import folders as walking
from assay.ingest.watch import Progress, Watch


def test_suffix_and_stem_look_through_compression() -> None:
    assert walking.suffix(Path("a.XML.gz")) == ".xml"
    assert walking.stem(Path("PMC1.nxml.zst")) == "PMC1"
    assert walking.stem(Path("a.b.txt")) == "a.b"


def test_ids_come_from_where_a_file_stands() -> None:
    notes = Path("c/x/My notes.txt")
    assert walking.id_of(notes, Path("c"), Watch()) == "x.My-notes"
    assert walking.id_of(notes, Path("c/x"), Watch(root=Path("c"))) == "x.My-notes"
    assert walking.id_of(Path("c/a.txt"), Path("c/a.txt"), Watch()) == "a"


def test_files_come_sorted_and_hidden_ones_do_not(tmp_path: Path) -> None:
    for name in ("b.xml", "a.xml.gz", "sub/c.xml", ".hidden.xml", ".git/d.xml", "note.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    seen: list[Progress] = []
    watch = Watch(seen.append)
    found = walking.corpus_files(tmp_path, frozenset({".xml"}), watch)
    assert [str(file.relative_to(tmp_path)) for file in found] == ["a.xml.gz", "b.xml", "sub/c.xml"]
    watch.document("d1")
    assert seen[-1].total_bytes == 3


def test_links_out_of_the_folder_are_left_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "own.txt").write_text("own")
    (folder / "inside.txt").symlink_to(folder / "own.txt")
    (folder / "outside.txt").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(folder / "fifo.txt")
    seen: list[Progress] = []
    found = walking.walk(folder, Watch(seen.append))
    assert [file.name for file in found] == ["inside.txt", "own.txt"]
    assert "leads out of the folder" in seen[0].note


def test_linked_folders_are_left_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("a")
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "own.txt").write_text("own")
    (folder / "linked").symlink_to(tmp_path / "outside")
    seen: list[Progress] = []
    watch = Watch(seen.append)
    assert walking.walk(folder, watch) == walking.walk(folder, watch) == [folder / "own.txt"]
    assert [step.note for step in seen] == [f"{folder / 'linked'}: a link to a folder, skipped"]


def close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    listing = os.scandir

    def refusing(path: str) -> object:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", path)
        return listing(path)

    monkeypatch.setattr(os, "scandir", refusing)


def test_what_the_system_keeps_on_a_disk_does_not_stop_a_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("a")
    close(tmp_path / "lost+found", monkeypatch)
    seen: list[Progress] = []
    assert walking.walk(tmp_path, Watch(seen.append)) == [tmp_path / "a.txt"]
    assert [step.note.partition(": ")[2] for step in seen] == ["a system folder, skipped"]


def test_a_folder_that_cannot_be_listed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close(tmp_path / "closed", monkeypatch)
    with pytest.raises(MissingFileError, match=r"closed cannot be read: Permission denied"):
        walking.walk(tmp_path, Watch())


def test_what_is_missing_or_too_much_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingFileError, match="does not exist"):
        walking.corpus_files(tmp_path / "no", frozenset({".xml"}), Watch())
    with pytest.raises(InputError, match=r"no file here ends in \.xml"):
        walking.corpus_files(tmp_path, frozenset({".xml"}), Watch())
    monkeypatch.setattr(limits, "MAX_CORPUS_FILES", 1)
    for name in "ab":
        (tmp_path / name).write_text("x")
    with pytest.raises(LimitError, match="more than 1 files"):
        walking.walk(tmp_path, Watch())
