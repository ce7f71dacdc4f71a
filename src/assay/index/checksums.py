"""Does a file still have the content that was written?"""

from __future__ import annotations

import hashlib
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


def fingerprint(path: Path, checksum: int | str) -> str:
    """A fingerprint that changes whenever a file is written, and its expected checksum."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise CorruptError(f"{path} is missing", hint="assay index rebuild") from None
    return f"{checksum} {found.st_ino} {found.st_size} {found.st_mtime_ns}"


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
