"""Who may write to the index right now?

One process at a time, by an advisory lock that the system releases when the process ends, however
it ends. The lock file names its holder, for the error message of a second process.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from assay.durable import make_folder, storing
from assay.errors import BusyError


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Hold the folder's write lock; an error names the process that holds it already."""
    make_folder(folder)
    path = folder / "WRITER"
    with storing(path):
        opened = path.open("a+", encoding="utf-8")
    with opened as file:
        with storing(path):
            _take(file, folder)
            holder = json.dumps({"pid": os.getpid(), "host": socket.gethostname()})
            file.truncate(0)
            os.write(file.fileno(), holder.encode())  # at once, so that closing writes nothing
        yield


def _take(file: TextIO, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        raise BusyError(
            f"{folder} is being written by {_holder(file.read())}",
            hint="wait for it, or end that process",
        ) from None


def _holder(text: str) -> str:
    try:
        found = json.loads(text)
        return f"process {found['pid']} on {found['host']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
