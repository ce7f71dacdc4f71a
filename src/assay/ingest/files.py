"""What bytes does a corpus file hold, unpacked?

Compression (gzip, Zstandard) is detected from the content, not the name, and unpacked block by
block, so a bomb is noticed before it fills memory. An archive under another name is refused:
``archives.py`` reads those that say what they are. Text in UTF-16, as Excel and PowerShell write
it, is turned into UTF-8 where its byte-order mark says so.
"""

from __future__ import annotations

import codecs
import stat
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from assay import limits
from assay.errors import LimitError, MissingFileError
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Watch
from assay.zstd import ZstdFrames, is_zstd

STEP = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
ARCHIVES = (
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"PK\x05\x06", "a zip archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!\x1a\x07", "a rar archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xfd7zXZ\x00", "xz data"),
)


class Line(NamedTuple):
    """One line; ``ended`` is false for a last line without its newline."""

    number: int
    data: bytes
    ended: bool


class _Unpacker(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """What these further bytes unpack to, in pieces of bounded size."""
        ...

    def finish(self) -> None:
        """Raise ``EOFError`` if the data is truncated."""
        ...


def blocks(path: Path, watch: Watch) -> Iterator[bytes]:
    """The unpacked content of one file, block by block."""
    location = FileLocation(str(path))
    watch.opened(location.source)
    with _opened(path) as raw:
        data = raw.read(STEP)
        unpacker = _unpacker(data)
        first = True
        for piece in _pieces(raw, data, unpacker, location, watch):
            if first:
                _refuse_archive(piece, location)
                first = False
            yield piece


def whole(path: Path, watch: Watch, cap: int) -> bytes:
    """The unpacked content of one file, up to ``cap`` bytes."""
    pieces, size = [], 0
    for piece in blocks(path, watch):
        pieces.append(piece)
        size += len(piece)
        if size > cap:
            raise FileLocation(str(path)).limit_error(f"more than {cap:,} bytes", hint="split it")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def head(path: Path, size: int = 1 << 16) -> bytes:
    """The first unpacked bytes of one file."""
    found = b""
    for piece in blocks(path, Watch()):
        found += piece[:size]
        if len(found) >= size:
            break
    return found[:size]


def as_utf8(pieces: Iterable[bytes], location: FileLocation) -> Iterator[bytes]:
    """The same text in UTF-8, if it begins with the byte-order mark of UTF-16."""
    decoder: codecs.IncrementalDecoder | None = None
    for number, piece in enumerate(pieces):
        if not number and piece.startswith(UTF16):
            decoder = codecs.getincrementaldecoder("utf-16")()
        yield piece if decoder is None else _from_utf16(decoder, piece, location)
    if decoder is not None:
        yield _from_utf16(decoder, b"", location, final=True)


def _from_utf16(
    decoder: codecs.IncrementalDecoder, piece: bytes, location: FileLocation, *, final: bool = False
) -> bytes:
    try:
        return decoder.decode(piece, final).encode()
    except UnicodeError:
        raise location.format_error(
            "this starts as UTF-16 but does not continue as such", hint="save it as UTF-8"
        ) from None


def absent(path: Path) -> MissingFileError:
    """The error for a path that names neither a file nor a folder."""
    if str(path) == "-":
        return MissingFileError(
            "a corpus cannot be read from a pipe", hint="save it as a file first"
        )
    if path.exists():
        return MissingFileError(f"{path} is not a plain file", hint="save it as a file first")
    return MissingFileError(f"{str(path)!r} does not exist", hint="name a file or a folder")


def lines(path: Path, watch: Watch) -> Iterator[Line]:
    """The lines of one file. Only a newline ends a line: U+2028 and U+0085 are text."""
    rest: list[bytes] = []
    number = held = 0
    for block in as_utf8(blocks(path, watch), FileLocation(str(path))):
        *ended, tail = block.split(b"\n")
        for piece in ended:
            number += 1
            data = b"".join([*rest, piece]) if rest else piece
            rest.clear()
            _check_line(len(data), path, number)
            yield Line(number, data, True)
            held = 0
        if tail:
            rest.append(tail)
            held += len(tail)
            _check_line(held, path, number + 1)
    if rest:
        yield Line(number + 1, b"".join(rest), False)


def _check_line(size: int, path: Path, number: int) -> None:
    if size > limits.MAX_CORPUS_LINE_BYTES:
        raise FileLocation(str(path), number).limit_error(
            f"a line of more than {limits.MAX_CORPUS_LINE_BYTES:,} bytes",
            hint="one document per line; is this a file of lines?",
        )


def _opened(path: Path) -> IO[bytes]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a FIFO would block, a device would never end
            raise absent(path)
        return path.open("rb")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise MissingFileError(f"{str(path)!r} cannot be read: {reason}") from None


def _pieces(
    raw: IO[bytes], data: bytes, unpacker: _Unpacker | None, location: FileLocation, watch: Watch
) -> Iterator[bytes]:
    stored = unpacked = 0
    try:
        while data:
            stored += len(data)
            watch.consumed(len(data))
            if unpacker is None:
                yield data
            else:
                for piece in unpacker.feed(data):
                    unpacked += len(piece)
                    _refuse_bomb(stored, unpacked, location)
                    yield piece
            data = raw.read(STEP)
        if unpacker is not None:
            unpacker.finish()
    except (EOFError, OSError, zlib.error) as problem:
        if unpacker is None:
            raise MissingFileError(f"{location} cannot be read: {problem}") from None
        raise location.format_error(
            f"the compressed data is damaged or truncated: {problem}", hint="fetch the file again"
        ) from None


def _refuse_bomb(stored: int, unpacked: int, location: FileLocation) -> None:
    allowed = max(limits.BOMB_FLOOR_BYTES, limits.MAX_DECOMPRESSED_RATIO * stored)
    if unpacked > min(allowed, limits.MAX_DECOMPRESSED_BYTES):
        raise LimitError(
            f"{location} unpacks to more than {unpacked:,} bytes",
            hint="unpack it yourself if you trust it",
        )


def _refuse_archive(first: bytes, location: FileLocation) -> None:
    for offset, magic, name in ARCHIVES:
        if first.startswith(magic, offset):
            raise location.format_error(
                f"this is {name}", hint="unpack it into a folder and name that"
            )


def _unpacker(magic: bytes) -> _Unpacker | None:
    if magic.startswith(GZIP_MAGIC):
        return _Gzip()
    if is_zstd(magic):
        return ZstdFrames()
    return None


class _Gzip:
    """Members of a gzip file, one after the other."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(31)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._member.eof:
                data = data.lstrip(b"\0")  # padding after a member is allowed
                self._member, self._begun = zlib.decompressobj(31), False
                if not data:
                    return
            self._begun = True
            piece = self._member.decompress(data, STEP)
            if piece:
                yield piece
            data = self._member.unused_data if self._member.eof else self._member.unconsumed_tail

    def finish(self) -> None:
        if self._begun and not self._member.eof:
            raise EOFError("the last member is incomplete")
