"""Where do the bytes of a file come from?

A source is a path or ``-`` for standard input, plain or compressed. Compression is told by
content, not by name. A source can be opened more than once: what cannot be rewound is spooled.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import tempfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from assay import limits
from assay.errors import FormatError, LimitError, MissingDependencyError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
BOMB_FLOOR = 64 << 20  # below this nothing is a bomb


@dataclass(slots=True)
class Source:
    """Bytes with a name; ``open`` gives them from the start, decompressed and capped."""

    name: str
    path: Path | None = None
    _spool: IO[bytes] | None = field(default=None, repr=False)

    @contextmanager
    def open(self) -> Iterator[Bytes]:
        """The content from its first byte."""
        raw = self._raw()
        try:
            yield Bytes(raw, self.name)
        finally:
            if self._spool is None:
                raw.close()

    def size(self) -> int | None:
        """How many bytes are stored (before decompression)."""
        if self._spool is not None:
            return self._spool.seek(0, io.SEEK_END)
        return self.path.stat().st_size if self.path else None

    def _raw(self) -> IO[bytes]:
        if self._spool is None and self.path is not None and self.path.is_file():
            return self.path.open("rb")
        if self._spool is None:
            self._spool = self._spooled()
        self._spool.seek(0)
        return self._spool

    def _spooled(self) -> IO[bytes]:
        spool: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=limits.SMALL_FILE_BYTES)  # noqa: SIM115
        origin = sys.stdin.buffer if self.path is None else self.path.open("rb")
        while block := origin.read(1 << 20):
            spool.write(block)
        return spool


def source(place: str | os.PathLike[str]) -> Source:
    """The source that a path (or ``-``) names, or an error that says what is wrong with it."""
    if place == "-":
        return Source("<stdin>")
    path = Path(place)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as problem:
        raise MissingFileError(
            f"{str(path)!r} cannot be read: {_because(problem)}", hint="check the path"
        ) from None
    if stat.S_ISDIR(mode):
        raise MissingFileError(f"{path} is a folder", hint="name a file in it")
    if not os.access(path, os.R_OK):
        raise MissingFileError(f"{path} cannot be read: permission denied")
    return Source(str(path), path)


def _because(problem: Exception) -> str:
    return (problem.strerror or str(problem)) if isinstance(problem, OSError) else str(problem)


class Bytes:
    """A decompressing reader that knows its name and refuses bombs."""

    def __init__(self, raw: IO[bytes], name: str) -> None:
        self.name = name
        self._raw = raw
        self._count = 0
        magic = raw.read(4)
        raw.seek(0)
        self._stream: IO[bytes] = raw
        self._packed = True
        if magic.startswith(GZIP):
            self._stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
        elif magic == ZSTD:
            self._stream = _zstd(raw)
        else:
            self._packed = False

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""
        try:
            data = self._stream.read(size)
            while len(data) < size and (more := self._stream.read(size - len(data))):
                data += more
        except (EOFError, OSError, zlib.error) as problem:
            raise FormatError(
                f"the compressed data is damaged or cut off: {problem}", source=self.name
            ) from None
        except Exception as problem:
            if type(problem).__name__ != "ZstdError":
                raise
            raise FormatError(
                f"the compressed data is damaged: {problem}", source=self.name
            ) from None
        self._count += len(data)
        if self._packed:
            self._refuse_bomb()
        return data

    def consumed(self) -> int:
        """How many stored bytes were read so far."""
        return self._raw.tell()

    def _refuse_bomb(self) -> None:
        too_dense = self._count > max(
            BOMB_FLOOR, limits.MAX_DECOMPRESSED_RATIO * max(self._raw.tell(), 1)
        )
        if too_dense or self._count > limits.MAX_DECOMPRESSED_BYTES:
            raise LimitError(
                f"{self.name} unpacks to more than {self._count:,} bytes from {self._raw.tell():,}",
                hint="unpack it yourself if you trust it",
            )


def _zstd(raw: IO[bytes]) -> IO[bytes]:
    try:
        import zstandard
    except ImportError as problem:
        raise MissingDependencyError(
            "reading .zst files needs the package zstandard", hint="pip install zstandard"
        ) from problem
    reader: IO[bytes] = zstandard.ZstdDecompressor().stream_reader(
        raw, read_across_frames=True, closefd=False
    )
    return reader
