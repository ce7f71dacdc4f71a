"""How is Zstandard data unpacked so that a truncated file is noticed and a bomb stays small?

``zstandard``'s own stream reader stops silently where a frame is cut off, so frames are fed to the
decompressor by hand: it says whether it reached the end of the frame. Input goes in by the
kilobyte, since one kilobyte can unpack to 32 megabytes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import IO, Any

from assay.errors import MissingDependencyError

MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = b"\x2a\x4d\x18"  # after a first byte of 0x50 to 0x5f
FEED = 1 << 10


def is_zstd(data: bytes) -> bool:
    """Whether the data starts with a frame."""
    return data.startswith(MAGIC) or (data[1:4] == SKIPPABLE and data[0] >> 4 == 5)


class ZstdFrames:
    """Unpacks one frame after the other, as data comes in."""

    def __init__(self) -> None:
        self._begin, self._error = _library()
        self._frame: Any = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What these further bytes unpack to; damaged data raises ``OSError``."""
        for start in range(0, len(data), FEED):
            rest = data[start : start + FEED]
            while rest:
                if self._frame is None:
                    self._frame = self._begin()
                try:
                    piece = self._frame.decompress(rest)
                except self._error as problem:
                    raise OSError(str(problem)) from None
                if piece:
                    yield piece
                rest = self._frame.unused_data if self._frame.eof else b""
                if self._frame.eof:
                    self._frame = None

    def finish(self) -> None:
        """Raise ``EOFError`` if the last frame is incomplete."""
        if self._frame is not None:
            raise EOFError("the last frame is incomplete")


class ZstdReader:
    """The unpacked content of a file, to be read like one."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._frames = ZstdFrames()
        self._ready = bytearray()

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""
        while len(self._ready) < size and (data := self._raw.read(FEED)):
            for piece in self._frames.feed(data):
                self._ready += piece
        if len(self._ready) < size:
            self._frames.finish()
        data = bytes(self._ready[:size])
        del self._ready[:size]
        return data


def _library() -> tuple[Callable[[], Any], type[Exception]]:
    """What begins a frame, and what it raises; both libraries share the rest of the interface."""
    try:
        standard: Any = importlib.import_module("compression.zstd")  # Python 3.14 and later
        return standard.ZstdDecompressor, standard.ZstdError
    except ImportError:
        pass
    try:
        library: Any = importlib.import_module("zstandard")
    except ImportError:
        raise MissingDependencyError(
            "reading Zstandard data needs the package zstandard", hint="pip install zstandard"
        ) from None
    return (lambda: library.ZstdDecompressor().decompressobj()), library.ZstdError
