"""How is Zstandard data read so that a cut-off file is noticed and a bomb stays small?

``zstandard``'s own stream reader ends in silence where a frame is cut off, so frames are fed to
the decompressor by hand: it says whether it came to the frame's end. Input goes in by the
kilobyte, since one kilobyte can unpack to 32 megabytes.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from assay.zstd import zstd_library

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Reads(Protocol):
        """Anything that gives bytes."""

        def read(self, size: int, /) -> bytes:
            """Up to ``size`` bytes."""
            ...


FRAME = b"\x28\xb5\x2f\xfd"
SKIPPABLE = b"\x2a\x4d\x18"  # after a first byte of 0x50 to 0x5f
FEED = 1 << 10


def is_zstd(head: bytes) -> bool:
    """Do these four bytes begin a frame?"""
    return head == FRAME or (head[1:] == SKIPPABLE and head[0] >> 4 == 5)


def zstd_stream(raw: IO[bytes]) -> Reads:
    """The unpacked content; what is damaged or cut off raises ``EOFError`` or ``OSError``."""
    return _Frames(raw, *zstd_library())


class _Frames:
    """One frame after the other."""

    def __init__(self, raw: IO[bytes], begin: Callable[[], Any], refusal: type[Exception]) -> None:
        self._raw = raw
        self._begin = begin
        self._refusal = refusal
        self._frame = begin()
        self._begun = False
        self._input = b""
        self._ready = bytearray()

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""
        while len(self._ready) < size and self._feed():
            pass
        data = bytes(self._ready[:size])
        del self._ready[:size]
        return data

    def _feed(self) -> bool:
        """Unpack a little more; False at the end of the data."""
        if self._begun and self._frame.eof:
            self._input = self._frame.unused_data
            self._frame, self._begun = self._begin(), False
        data = self._input or self._raw.read(FEED)
        self._input = b""
        if not data:
            if self._begun:
                raise EOFError("the last frame has no end")
            return False
        self._begun = True
        try:
            self._ready += self._frame.decompress(data)
        except self._refusal as problem:
            raise OSError(str(problem)) from None
        return True
