"""What does a database error mean, and what should the user do about it?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from assay.durable import is_full
from assay.errors import BusyError, CorruptError, DiskFullError, StorageError

Complaint: TypeAlias = Callable[[str, str, int], StorageError]


def _full(place: str, reason: str, _: int) -> StorageError:
    return DiskFullError(
        f"{place} cannot be written: {reason}",
        hint="free some space and try again; what was stored before is still there",
    )


def _locked(place: str, _: str, seconds: int) -> StorageError:
    return BusyError(f"another process kept {place} locked for {seconds} s", hint="try again")


def _damaged(place: str, reason: str, _: int) -> StorageError:
    return CorruptError(
        f"{place} was damaged: {reason}",
        hint="assay restore puts a backup into a new folder; keep the damaged file",
    )


def _foreign(place: str, reason: str, _: int) -> StorageError:
    return CorruptError(f"{place} cannot be opened: {reason}", hint="is it an assay database?")


def _failed(place: str, reason: str, _: int) -> StorageError:
    return StorageError(f"{place} cannot be used: {reason}", hint="check disk and permissions")


_OF_SQLITE: dict[str, Complaint] = {
    "SQLITE_FULL": _full,
    "SQLITE_BUSY": _locked,
    "SQLITE_LOCKED": _locked,
    "SQLITE_CORRUPT": _damaged,
    "SQLITE_NOTADB": _foreign,
}
_OF_POSTGRESQL: dict[str, Complaint] = {
    "53100": _full,  # disk_full
    "55P03": _locked,  # lock_not_available
    "XX001": _damaged,  # data_corrupted
    "XX002": _damaged,  # index_corrupted
}


def translated_error(problem: Exception, place: str, busy_seconds: int) -> StorageError | None:
    """The error that a caller sees; None if the request is at fault rather than the database."""
    if isinstance(problem, UnicodeDecodeError):
        # invalid text, or a SQLite message that quotes such text
        return _damaged(place, "it holds text that is not UTF-8", busy_seconds)
    if isinstance(problem, sqlite3.Error):
        # an extended name starts with the plain one: SQLITE_IOERR_READ, SQLITE_BUSY_SNAPSHOT
        name = getattr(problem, "sqlite_errorname", "")
        known = next((_OF_SQLITE[key] for key in _OF_SQLITE if name.startswith(key)), None)
        plain = isinstance(problem, sqlite3.OperationalError)
        if "decode to UTF-8" in str(problem):
            known = _damaged
        elif known is None and plain and is_full(Path(place), problem):
            known = _full  # SQLite's auxiliary files fail with other messages
    else:
        known = _OF_POSTGRESQL.get(getattr(problem, "sqlstate", None) or "")
        plain = any(kind.__name__ == "OperationalError" for kind in type(problem).__mro__)
    if known is None and not plain:
        return None
    return (known or _failed)(place, str(problem).strip(), busy_seconds)
