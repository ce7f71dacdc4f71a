"""What may be left of a folder when the power fails?

A model of a disk: what programs see now, and what is certainly there. ``fsync`` of a file makes its
content certain, ``fsync`` of a folder the names in it. A crash leaves of everything else the old,
the new, or, of a file's content, any mixture of blocks of both, cut anywhere, or rubbish. A disk
that lies says that it synced, and did not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = 4_096


@dataclass
class File:
    """Content; nothing is certain of a file that was never made durable."""

    now: bytearray = field(default_factory=bytearray)
    safe: bytes = b""


@dataclass
class Folder:
    """Names of files and folders, which may have several names or none."""

    now: dict[str, File | Folder] = field(default_factory=dict)
    safe: dict[str, File | Folder] = field(default_factory=dict)


class Disk:
    """One folder tree; paths are those that programs used, beneath ``top``."""

    def __init__(self, top: Path, lies: Callable[[], bool] = lambda: False) -> None:
        self.top = top
        self.root = Folder()
        self._lies = lies

    def holds(self, path: str) -> bool:
        return Path(path).is_relative_to(self.top) and Path(path) != self.top

    def find(self, path: str) -> File | Folder | None:
        """What has this name now."""
        found: File | Folder | None = self.root
        for name in Path(path).relative_to(self.top).parts:
            found = found.now.get(name) if isinstance(found, Folder) else None
        return found

    def create(self, path: str) -> File:
        """The file of this name, made where it is missing."""
        found = self.find(path)
        if found is None:
            found = File()
            self._parent(path).now[Path(path).name] = found
        assert isinstance(found, File), path
        return found

    def make_folder(self, path: str) -> None:
        self._parent(path).now[Path(path).name] = Folder()

    def link(self, source: str, target: str) -> None:
        found = self.find(source)
        assert found is not None, source
        self._parent(target).now[Path(target).name] = found

    def remove(self, path: str) -> None:
        self._parent(path).now.pop(Path(path).name, None)

    def rename(self, source: str, target: str) -> None:
        found = self._parent(source).now.pop(Path(source).name)
        self._parent(target).now[Path(target).name] = found

    def sync(self, path: str) -> None:
        found = self.root if Path(path) == self.top else self.find(path)
        if found is not None:
            self.sync_file(found)

    def sync_file(self, what: File | Folder) -> None:
        """Make it certain, unless the disk lies."""
        if not self._lies():
            make_safe(what)

    def _parent(self, path: str) -> Folder:
        found = self.find(str(Path(path).parent))
        assert isinstance(found, Folder), path
        return found

    def crash(self, target: Path, rng: random.Random) -> None:
        """Write what a crash at this moment may leave into a new folder."""
        written: dict[int, Path] = {}
        _write_folder(self.root, target, rng, written)


def make_safe(what: File | Folder) -> None:
    """From now on the content of a file, or the names in a folder, are certain."""
    if isinstance(what, File):
        what.safe = bytes(what.now)
    else:
        what.safe = dict(what.now)


def _write_folder(
    folder: Folder, target: Path, rng: random.Random, written: dict[int, Path]
) -> None:
    target.mkdir()
    for name in sorted({*folder.now, *folder.safe}):
        old, new = folder.safe.get(name), folder.now.get(name)
        left = old if old is new else rng.choice((old, new))
        if isinstance(left, Folder):
            _write_folder(left, target / name, rng, written)
        elif left is not None and id(left) in written:
            (target / name).hardlink_to(written[id(left)])  # one file with two names
        elif left is not None:
            written[id(left)] = target / name
            (target / name).write_bytes(_content(left, rng))


def _content(file: File, rng: random.Random) -> bytes:
    old, new = file.safe, bytes(file.now)
    if old == new:
        return old
    kind = rng.choice(("old", "new", "mixed", "cut", "rubbish"))
    if kind == "old":
        return old
    if kind == "new":
        return new
    if kind == "cut":
        least, most = sorted((len(old), len(new)))
        return _mixed(old, new, rng)[: rng.randrange(least, most + 1)]
    return _mixed(old, new, rng, rubbish=kind == "rubbish")


def _mixed(old: bytes, new: bytes, rng: random.Random, *, rubbish: bool = False) -> bytes:
    """Blocks of both, or rubbish where they differ.

    What is the same in both was not being written, and is not harmed: disks keep their word on
    that, and SQLite relies on it, too ("powersafe overwrite").
    """
    blocks = []
    for start in range(0, max(len(old), len(new)), BLOCK):
        one, other = old[start : start + BLOCK], new[start : start + BLOCK]
        if rubbish and rng.random() < 0.5:
            same = _same(one, other)
            size = max(len(one), len(other))
            tail = _same(one[same:][::-1], other[same:][::-1])
            tail = tail if len(one) == len(other) else 0
            middle = rng.randbytes(size - same - tail)
            blocks.append(other[:same] + middle + other[len(other) - tail :])
        else:
            blocks.append(rng.choice((one, other)).ljust(len(other), b"\0"))
    return b"".join(blocks)


def _same(one: bytes, other: bytes) -> int:
    """How many bytes at the beginning are the same."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
