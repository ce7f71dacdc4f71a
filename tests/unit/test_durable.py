"""Does everything that is kept go through one place, and does that place keep its word?"""

from __future__ import annotations

import ast
import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import assay
from assay import durable
from assay.errors import DiskFullError, StorageError

SOURCES = Path(assay.__file__).parent

# Who else writes a file, and why that is no promise to anybody.
ELSEWHERE = {
    "index/columns.py": "a part of a generation: index/writer.py makes it durable",
    "index/facts.py": "a part of a generation: index/writer.py makes it durable",
    "index/lock.py": "a lock; its content is for a message",
    "store/backup.py": "a folder that durable.move_folder gives its name",
    "encode/wheel.py": "the same, and a file for pip, gone a moment later",
    "encode/hub.py": "the same",
    "encode/pull.py": "a damaged folder on its way out",
    "ingest/archives.py": "a temporary folder, gone a moment later",
    "app/corpus.py": "a temporary file, gone a moment later",
    "testing/invariants.py": "a journal of a test run, flushed line by line",
    "cli/streams.py": "nothing: /dev/null",
    "cli/eval/deciding.py": "a line for the summary of a CI job, in a file of theirs",
}


def writes(tree: ast.AST) -> Iterator[str]:
    """Every call that writes a file, renames one or makes one durable."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        texts = [
            one.value
            for one in (*node.args, *(word.value for word in node.keywords))
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        if (
            name in {"write_bytes", "fsync", "fdatasync", "rename"}
            or (name == "write_text" and isinstance(node.func, ast.Attribute))
            or (name == "replace" and isinstance(node.func, ast.Attribute) and len(node.args) == 1)
            or (name == "open" and any(t.strip("bt+") in {"w", "a", "x"} for t in texts))
        ):
            yield f"{name}:{node.lineno}"


def test_files_are_written_in_one_place() -> None:
    found = {
        str(path.relative_to(SOURCES)): list(writes(ast.parse(path.read_text(encoding="utf-8"))))
        for path in SOURCES.rglob("*.py")
    }
    assert found.pop("durable.py")
    assert {name for name, calls in found.items() if calls} == set(ELSEWHERE)


def test_a_folder_is_made_with_those_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(durable, "sync_folder", synced.append)
    durable.make_folder(tmp_path / "a" / "b" / "c")
    assert synced == [tmp_path, tmp_path / "a", tmp_path / "a" / "b"]
    durable.make_folder(tmp_path / "a" / "b" / "c")
    assert len(synced) == 3


def test_two_threads_write_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    wrong: list[object] = []

    def write(letter: bytes) -> None:
        for _ in range(60):
            try:
                durable.write_atomically(path, letter * 50_000)
            except StorageError as problem:
                wrong.append(problem)
            if len({*path.read_bytes()}) != 1:
                wrong.append(letter)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept"
    durable.write_atomically(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match="kept cannot be written: no space"):
        durable.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with pytest.raises(TypeError), durable.new_file(path) as file:
        file.writelines([b"half", 2])  # type: ignore[list-item]
    assert list(tmp_path.iterdir()) == []
    with durable.new_file(path) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    with pytest.raises(StorageError, match="File exists"), durable.new_file(path) as file:
        file.write(b"other")
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_other_complaints_name_the_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError, match="file cannot be written: File exists"):
        durable.write_atomically(tmp_path / "file" / "inside", b"")


def test_a_library_that_says_nothing_of_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = OSError("800 requested and 512 written")  # numpy's words
    assert not durable.is_full(tmp_path / "new" / "file", short)
    monkeypatch.setattr(durable, "_NEARLY_NOTHING", 1 << 60)
    assert durable.is_full(tmp_path / "new" / "file", short)
    assert durable.is_full(tmp_path, ValueError("IO error: No space left on device (os error 28)"))


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK])
def test_a_file_system_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    with durable.new_file(tmp_path / "a") as out:
        out.write(b"one")
    with pytest.raises(StorageError), durable.new_file(tmp_path / "a") as out:
        out.write(b"two")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"one"}


class _Busy:
    """A connection whose file others hold, so many times."""

    def __init__(self, times: int) -> None:
        self.times = times

    def execute(self, _: str) -> None:
        if self.times:
            self.times -= 1
            problem = sqlite3.OperationalError("database is locked")
            problem.sqlite_errorname = "SQLITE_BUSY_RECOVERY"
            raise problem


def test_who_opens_a_new_database_waits_for_others_who_do() -> None:
    held: Any = _Busy(3)
    durable.keep_log(held, 30)
    assert held.times == 0
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        durable.keep_log(cast("sqlite3.Connection", _Busy(3)), -1)
