"""How is a database copied while others write to it?

SQLite makes a consistent copy by itself. Where it cannot create its auxiliary files, as on a
read-only disk, the file and its log are copied together, provided nobody writes to them meanwhile.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from assay.errors import StorageError
from assay.store.database_errors import translated_error


def copy_database(source: Path, target: Path) -> None:
    """A consistent copy, made while others may write."""
    try:
        try:
            _copy_online(source, "ro", target)
        except sqlite3.OperationalError:
            if not is_frozen(source):
                raise
            _copy_online(_copied_with_log(source, target), "rw", target)
    except sqlite3.DatabaseError as problem:
        place = target if getattr(problem, "sqlite_errorname", "") == "SQLITE_FULL" else source
        raise translated_error(problem, str(place), 0) or StorageError(
            f"{source} cannot be copied: {problem}"
        ) from None
    check_database(target, source)


def _copy_online(source: Path, mode: str, target: Path) -> None:
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode={mode}", uri=True)) as theirs,
        closing(sqlite3.connect(target)) as ours,
    ):
        theirs.backup(ours)
        ours.execute("PRAGMA journal_mode=DELETE")  # one file, without a separate log


def is_frozen(path: Path) -> bool:
    """Whether we cannot write there; another machine that mounts the disk may."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _copied_with_log(source: Path, target: Path) -> Path:
    """A plain copy next to the target, for when SQLite cannot create its auxiliary files."""
    folder = target.with_name(f"{target.name}.frozen")
    folder.mkdir()
    files = (source, source.with_name(f"{source.name}-wal"))
    before = [_state(path) for path in files]
    for path in files:
        if path.exists():
            shutil.copyfile(path, folder / path.name)
    if [_state(path) for path in files] != before:
        raise StorageError(
            f"{source} is being written from somewhere else",
            hint="make the backup where the disk can be written, or over HTTP",
        )
    return folder / source.name


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_database(path: Path, source: Path) -> None:
    """Raise an error if SQLite finds a copy damaged; the message names ``source``."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        except sqlite3.DatabaseError as problem:
            verdict = str(problem)
    if verdict != "ok":
        raise StorageError(f"the database of {source} is damaged: {verdict}")
