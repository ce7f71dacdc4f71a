"""Is a file still what was written?"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from assay.errors import CorruptError


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(folder: Path, but: Collection[str] = ()) -> dict[str, list[int | str]]:
    """Size and SHA-256 of each other file in a folder; lock files are nobody's content."""
    return {
        path.name: [path.stat().st_size, digest(path)]
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.endswith(".lock") and path.name not in but
    }


def fingerprint(path: Path, checksum: int | str) -> str:
    """What changes whenever somebody writes to a file, and what its content should be."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise CorruptError(f"{path} is missing", hint="assay index rebuild") from None
    return f"{checksum} {found.st_ino} {found.st_size} {found.st_mtime_ns}"


def verify(path: Path, size: int | str, checksum: int | str) -> None:
    """Refuse, by name, a file that is not what the manifest says."""
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
