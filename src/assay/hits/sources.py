"""What bytes does this file or standard input hold, unpacked, and what kind of file is it?

A source is a path or ``-`` for standard input, plain or compressed. Compression and kind are
detected from the content, not the name. A source can be opened more than once: input that cannot
be rewound is spooled.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import tempfile
import threading
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from assay import limits
from assay.errors import FormatError, InputError, LimitError, MissingFileError
from assay.zstd import ZstdReader, is_zstd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType


GZIP = b"\x1f\x8b"
PIPE_WAIT_S = 10.0
STEP = 1 << 20  # unpacked or spooled between two checks of the limits


@dataclass(slots=True)
class Source:
    """Bytes with a name; ``open`` reads them from the start, decompressed, within the limits.

    Use it in a ``with`` statement, which removes the spool file.
    """

    name: str
    path: Path | None = None
    _spool: IO[bytes] | None = field(default=None, repr=False)

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._spool is not None:
            self._spool.close()
            self._spool = None

    @contextmanager
    def open(self) -> Iterator[Bytes]:
        """The content from its first byte."""
        raw = self._raw()
        try:
            yield Bytes(raw, self.name)
        finally:
            if raw is not self._spool:
                raw.close()

    def size(self) -> int | None:
        """The number of stored bytes, before decompression."""
        if self._spool is not None:
            return self._spool.seek(0, io.SEEK_END)
        return self.path.stat().st_size if self.path else None

    def _raw(self) -> IO[bytes]:
        if self._spool is None and self.path is not None and self.path.is_file():
            return _opened(self.path)
        if self._spool is None:
            self._spool = self._spooled()
        self._spool.seek(0)
        return self._spool

    def _spooled(self) -> IO[bytes]:
        if self.path is not None:
            with _opened(self.path) as stream:
                return _spool(stream, self.name)
        stdin = getattr(sys.stdin, "buffer", None)
        if stdin is None:
            raise MissingFileError("there is no standard input", hint="name a file")
        spool = _spool(stdin, self.name)
        if not spool.tell():
            spool.close()
            raise InputError("standard input is empty", hint="standard input can be read only once")
        return spool


def source(name: str | os.PathLike[str]) -> Source:
    """The source with this path (or ``-``), or an error that says why it cannot be read."""
    if name == "-":
        return Source("<stdin>")
    path = Path(name)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as problem:
        raise MissingFileError(
            f"{str(path)!r} cannot be read: {_because(problem)}", hint="check the path"
        ) from None
    if stat.S_ISDIR(mode):
        raise MissingFileError(f"{path} is a folder", hint="name a file in it")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise MissingFileError(
            f"{path} is a device", hint="name a file, or - for what comes through a pipe"
        )
    if not os.access(path, os.R_OK):
        raise MissingFileError(
            f"{path} cannot be read: permission denied", hint="check who may read it"
        )
    return Source(str(path), path)


def _opened(path: Path) -> IO[bytes]:
    try:
        return _opened_pipe(path) if path.is_fifo() else path.open("rb")
    except OSError as problem:
        raise MissingFileError(f"{path} cannot be read: {_because(problem)}") from None


def _opened_pipe(path: Path) -> IO[bytes]:
    """A named pipe, once somebody writes to it: opening it waits for that, perhaps for ever."""
    late = threading.Event()

    def give_up() -> None:
        late.set()
        with suppress(OSError):  # whoever waits for a writer gets one
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))

    timer = threading.Timer(PIPE_WAIT_S, give_up)
    timer.start()
    try:
        stream = path.open("rb")
    finally:
        timer.cancel()
    if late.is_set():
        stream.close()
        raise MissingFileError(f"nobody writes to the pipe {path}", hint="name a file")
    return stream


def _spool(stream: IO[bytes], name: str) -> IO[bytes]:
    """The rest of a stream, in memory while it is small and on disk otherwise."""
    spool: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=limits.SMALL_FILE_BYTES)  # noqa: SIM115
    try:
        while block := stream.read(STEP):
            if spool.tell() + len(block) > limits.MAX_DECOMPRESSED_BYTES:
                raise LimitError(f"{name}: more than {limits.MAX_DECOMPRESSED_BYTES:,} bytes")
            spool.write(block)
    except OSError as problem:
        spool.close()
        raise InputError(
            f"{name} cannot be buffered while it is read: {_because(problem)}",
            hint=f"is there space in {tempfile.gettempdir()}?",
        ) from None
    except BaseException:
        spool.close()
        raise
    return spool


def _because(problem: Exception) -> str:
    return (problem.strerror or str(problem)) if isinstance(problem, OSError) else str(problem)


class Bytes:
    """A decompressing reader that knows its name and rejects compression bombs."""

    def __init__(self, raw: IO[bytes], name: str) -> None:
        self.name = name
        self._raw = raw
        self._count = 0
        magic = raw.read(4)
        raw.seek(0)
        self._stream: IO[bytes] = raw
        self.packed = True
        if magic.startswith(GZIP):
            self._stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw, mode="rb"))
        elif is_zstd(magic):
            self._stream = cast("IO[bytes]", ZstdReader(raw))
        else:
            self.packed = False

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""
        blocks: list[bytes] = []
        wanted, step = size, STEP if self.packed else 16 * STEP
        while wanted and (block := self._block(min(wanted, step))):
            blocks.append(block)
            wanted -= len(block)
        return blocks[0] if len(blocks) == 1 else b"".join(blocks)

    def consumed(self) -> int:
        """The number of stored bytes read so far."""
        return self._raw.tell()

    def _block(self, size: int) -> bytes:
        try:
            data = self._stream.read(size)
        except (EOFError, OSError, zlib.error) as problem:
            if not self.packed:
                raise MissingFileError(f"{self.name} cannot be read: {problem}") from None
            raise FormatError(
                f"the compressed data is damaged or truncated: {problem}",
                source=self.name,
                hint="create or download the file again",
            ) from None
        self._count += len(data)
        if self.packed:
            self._refuse_bomb()
        return data

    def _refuse_bomb(self) -> None:
        too_dense = self._count > max(
            limits.BOMB_FLOOR_BYTES, limits.MAX_DECOMPRESSED_RATIO * max(self._raw.tell(), 1)
        )
        if too_dense or self._count > limits.MAX_DECOMPRESSED_BYTES:
            raise LimitError(
                f"{self.name} unpacks to more than {self._count:,} bytes from {self._raw.tell():,}",
                hint="unpack it yourself if you trust it",
            )


def read_all(stream: Bytes) -> bytes:
    """A whole file, within the size limit."""
    data = stream.read(limits.MAX_JSON_BYTES + 1)
    if len(data) > limits.MAX_JSON_BYTES:
        raise LimitError(
            f"{stream.name}: more than {limits.MAX_JSON_BYTES:,} bytes, too many to hold at once",
            hint="use TREC or parquet for runs of this size, matched by chunk",
        )
    return data


HEAD_BYTES = 1 << 16


class Kind(Enum):
    """The kinds of file that hold runs and judgments."""

    TREC = "trec"
    JSON = "json"
    PARQUET = "parquet"


def sniff(stream: Bytes) -> tuple[Kind, bytes]:
    """The kind of file, and the bytes that were read to find out."""
    head = stream.read(HEAD_BYTES)
    if head.startswith(b"PAR1"):
        return Kind.PARQUET, head
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return (Kind.JSON if first in (b"{", b"[") else Kind.TREC), head
