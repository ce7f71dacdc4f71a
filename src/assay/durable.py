"""How does something get onto the disk whole, and stay there when the power fails?

A file is written beside its place, made durable, given its name in one step, and then the name is
made durable too. What is read, changed and written back is in the hands of one at a time. Every
file that the product keeps goes through here: ``test_durable.py`` looks for others. So this is the
only file to read when one asks what a crash can do.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from assay.errors import BusyError, DiskFullError, StorageError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
_UNFINISHED = ".tmp"
_LOOK_AGAIN_S = 0.005
_NEARLY_NOTHING = 1 << 16  # bytes; libraries that hide the reason fail with less than this left


def write_atomically(path: Path, data: bytes) -> None:
    """Temp file, fsync, rename, fsync the folder: the old content or the new one, never half.

    A device or a pipe gets the data as it is: ``/dev/stdout`` stays what it was.
    """
    with storing(path):
        make_folder(path.parent)
        temporary = _beside(path)
        if path.exists() and not path.is_file():
            _write_through(path, data)
            return
        try:
            with temporary.open("wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(path.parent)


def _write_through(path: Path, data: bytes) -> None:
    # a pipe that nobody reads would block for ever
    with open(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb") as out:
        os.set_blocking(out.fileno(), True)
        out.write(data)


@contextmanager
def alone_in(folder: Path, seconds: float = 30.0) -> Iterator[None]:
    """Be the only one, of all threads and processes, who changes files of a folder.

    Whoever looks at a file to decide what to write holds this from the look until the write. The
    system gives the lock back when a process ends, however it ends. It is not for nesting.
    """
    with storing(folder):
        make_folder(folder)
        held = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + seconds
        while not _locked(held, folder):
            if time.monotonic() > deadline:
                raise BusyError(f"{folder} is being written by others", hint="try again")
            time.sleep(_LOOK_AGAIN_S)
        yield
    finally:
        os.close(held)


def _locked(held: int, folder: Path) -> bool:
    with storing(folder):
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to fill, which has its name once it is whole; one of that name is never replaced.

    It is its owner's alone.
    """
    temporary = _beside(path)
    with storing(path):
        try:
            with private_file(temporary) as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            take_name(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(path.parent)


def private_file(path: Path) -> BinaryIO:
    """A new file to fill that only its owner may read."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "wb")


def take_name(made: Path, path: Path) -> None:
    """Give a finished file its name in one step; what came there meanwhile is not replaced.

    Where there are no links, what comes in the very moment between the look and the step is.
    """
    try:
        os.link(made, path)
    except OSError as problem:
        if problem.errno not in _NO_LINKS or path.exists():
            raise
        made.rename(path)


def _beside(path: Path) -> Path:
    if path.is_dir():
        raise StorageError(f"{path} is a folder", hint="name a file in it")
    return path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}{_UNFINISHED}")


def is_unfinished(name: str) -> bool:
    """Whether a file of this name is one that is being written, or that a crash left."""
    return name.startswith(".") and name.endswith(_UNFINISHED)


def make_folder(folder: Path, *, private: bool = True) -> None:
    """Have a folder; its name, and those of the folders above that were made too, are durable.

    Folders that are made are their owner's alone unless they are not private: what is kept in them
    may be about patients. Those that are there stay as they are.
    """
    with storing(folder):
        missing = []
        while not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        for one in reversed(missing):
            one.mkdir(PRIVATE_FOLDER if private else 0o777, exist_ok=True)
            sync_folder(one.parent)


def move_folder(made: Path, target: Path) -> None:
    """Give a folder with all that is in it another name, in one step, once it is durable."""
    sync_tree(made)
    made.rename(target)
    sync_folder(target.parent)


def move_into(made: Path, target: Path, *, last: str | None = None) -> None:
    """Move what a folder holds into one that is there; ``last``, once all else is durable.

    Where somebody has the last name already, everything goes back.
    """
    sync_tree(made)
    moved = [path for path in made.iterdir() if path.name != last]
    for path in moved:
        path.rename(target / path.name)
    sync_folder(target)
    if last is None:
        return
    try:
        take_name(made / last, target / last)
    except FileExistsError:
        for path in moved:
            (target / path.name).rename(path)
        raise
    sync_folder(target)


def sync_tree(folder: Path) -> None:
    """Make everything beneath a folder durable, and the folder itself."""
    for place, _, names in os.walk(folder):
        sync_files(Path(place) / name for name in names)
        sync_folder(Path(place))


def sync_files(paths: Iterable[Path]) -> None:
    """Make the content of files durable."""
    for path in paths:
        _sync(path)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the file system can do that."""
    try:
        _sync(folder)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def keep_log(connection: sqlite3.Connection, seconds: float) -> None:
    """Let a SQLite file have a log beside it, for which SQLite does not wait by itself.

    Where several open a new file at the same moment, all but one are refused at once.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as problem:
            busy = problem.sqlite_errorname.startswith("SQLITE_BUSY")
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


@contextmanager
def storing(place: Path) -> Iterator[None]:
    """Say in our own words what the system complains of while something is written there."""
    try:
        yield
    except OSError as problem:
        raise refusal(place, problem) from problem


def refusal(place: Path, problem: Exception) -> StorageError:
    """The error that a failed write at a place becomes; a full disk has one of its own."""
    if is_full(place, problem):
        return DiskFullError(
            f"{place} cannot be written: no space is left on the disk",
            hint="free some space and try again; what was stored before is intact",
        )
    reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
    return StorageError(f"{place} cannot be written: {reason}", hint="check permissions and disk")


def is_full(place: Path, problem: Exception) -> bool:
    """Whether a write failed for want of space; not every library says so."""
    if getattr(problem, "errno", None) is not None:
        return problem.errno in _FULL  # type: ignore[attr-defined]
    if os.strerror(errno.ENOSPC) in str(problem):
        return True
    with contextlib.suppress(OSError):
        return shutil.disk_usage(_existing(place)).free < _NEARLY_NOTHING
    return False


def _existing(place: Path) -> Path:
    while not place.exists() and place != place.parent:
        place = place.parent
    return place
