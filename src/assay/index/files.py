"""How does a file get onto the disk whole, and is it still what was written?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from assay.errors import CorruptError

BLOCK = 1 << 20


def write_atomically(path: Path, data: bytes) -> None:
    """Temp file, fsync, rename, fsync the folder: the old content or the new one, never half."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_files(paths: Iterable[Path]) -> None:
    """Make the content of files durable."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(folder: Path) -> dict[str, list[int | str]]:
    """Size and SHA-256 of each file in a folder, by name; lock files are nobody's content."""
    return {
        path.name: [path.stat().st_size, digest(path)]
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.endswith(".lock")
    }


def fingerprint(folder: Path, names: Iterable[str]) -> list[list[int | str]]:
    """What changes whenever somebody writes to a file: its inode, size and time."""
    result: list[list[int | str]] = []
    for name in sorted(names):
        try:
            found = (folder / name).stat()
        except FileNotFoundError:
            raise CorruptError(f"{folder / name} is missing", hint="assay index rebuild") from None
        result.append([name, found.st_ino, found.st_size, found.st_mtime_ns])
    return result


def verify(folder: Path, files: dict[str, list[int | str]]) -> None:
    """Refuse, by name, a file that is not what the manifest says."""
    for name, (size, checksum) in files.items():
        path = folder / name
        if not path.is_file():
            raise CorruptError(f"{path} is missing", hint="assay index rebuild")
        if path.stat().st_size != size or digest(path) != checksum:
            raise CorruptError(f"{path} was damaged", hint="assay index rebuild")
