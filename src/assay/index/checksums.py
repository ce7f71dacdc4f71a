"""Does a file still have the content that was written?"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

from assay.errors import CorruptError


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(folder: Path) -> dict[str, list[int | str]]:
    """The size and SHA-256 of every file in a folder."""
    return {
        path.name: [path.stat().st_size, digest(path)]
        for path in sorted(folder.iterdir())
        if path.is_file()
    }


SETTLED_NS = 2_000_000_000
"""Two writes within the grain of a file system's clock have one time; none is coarser than this."""


def fingerprint(path: Path, checksum: int | str) -> str:
    """A fingerprint that changes whenever a file is written, and its expected checksum.

    Anybody may set the time of the last write back, but not that of the last change (``ctime``).
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise CorruptError(f"{path} is missing", hint="assay index rebuild") from None
    return f"{checksum} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def is_settled(path: Path) -> bool:
    """Whether the next write to a file would change its fingerprint."""
    return abs(time.time_ns() - path.stat().st_ctime_ns) > SETTLED_NS


def verify(path: Path, size: int | str, checksum: int | str) -> None:
    """Raise an error that names the file if it does not match the manifest."""
    try:
        sound = path.stat().st_size == size and digest(path) == checksum
    except FileNotFoundError:
        raise CorruptError(f"{path} is missing", hint="assay index rebuild") from None
    except OSError as problem:
        raise CorruptError(
            f"{path} cannot be read: {problem.strerror}", hint="check permissions and disk"
        ) from None
    if not sound:
        raise CorruptError(f"{path} was damaged", hint="assay index rebuild")
