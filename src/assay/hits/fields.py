"""Where does each column of each line begin and end?

Regular text has no comments, the same number of columns on every line and single blanks between
them, and is split by array operations alone: find the blanks, and every so many of them make a row.
Any other text is left to the careful reader (``trec_lines.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

WordArray: TypeAlias = NDArray[np.uint64]
PlaceArray: TypeAlias = NDArray[np.int32] | NDArray[np.int64]

WORD = 8
_TAB, _LINE_END, _BLANK, _COMMENT = (ord(char) for char in "\t\n #")
_COMMENT_BYTE = b"#"
_MASK = np.array([(1 << 8 * n) - 1 for n in range(WORD)] + [(1 << 64) - 1], dtype=np.uint64)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplication is reversible
_HALF = np.uint64(32)


class Text:
    """Bytes that can be read eight at a time from any position."""

    def __init__(self, *parts: bytes | memoryview) -> None:
        self.size = sum(map(len, parts))
        self.data = b"".join((*parts, bytes(2 * WORD)))  # a word may begin at the last byte
        self.content = np.frombuffer(self.data, dtype=np.uint8, count=self.size)
        self._words: WordArray = np.ndarray(
            (self.size + WORD,), dtype="<u8", buffer=self.data, strides=(1,)
        )

    def words(self, places: PlaceArray) -> WordArray:
        """The eight bytes at each position, as little-endian words."""
        found: WordArray = self._words[places]
        return found

    def part(self, start: int, end: int) -> memoryview:
        """The bytes from ``start`` to ``end``, not copied."""
        return memoryview(self.data)[start:end]


@dataclass(frozen=True, slots=True)
class Field:
    """One column: where it begins on each line, and where it ends."""

    start: PlaceArray
    end: PlaceArray

    @property
    def length(self) -> PlaceArray:
        """The number of bytes on each line."""
        return self.end - self.start

    def at(self, rows: PlaceArray | slice) -> Field:
        """The same column, for some of the lines."""
        return Field(self.start[rows], self.end[rows])

    def bytes(self, text: Text) -> list[bytes]:
        """The contents of the column."""
        data, pairs = text.data, zip(self.start.tolist(), self.end.tolist(), strict=True)
        return [data[start:end] for start, end in pairs]


class Lines:
    """The lines of a regular text, split into columns."""

    def __init__(self, ends: PlaceArray) -> None:
        self._ends = ends  # the end of each column of each line

    def __len__(self) -> int:
        return len(self._ends)

    def longest(self) -> int:
        """The length of the longest line in bytes, without its newline."""
        last = self._ends[:, -1]
        return max(int(last[0]), int((last[1:] - last[:-1]).max(initial=1)) - 1)

    def column(self, at: int) -> Field:
        """One column, counted from 0."""
        if at:
            return Field(self._ends[:, at - 1] + 1, self._ends[:, at])
        start = np.zeros(len(self), dtype=self._ends.dtype)
        start[1:] = self._ends[:-1, -1] + 1
        return Field(start, self._ends[:, 0])


def cut(text: Text, columns: int) -> Lines | None:
    """The columns of a regular text; None if it is not regular."""
    content = text.content
    places = np.flatnonzero(content <= _BLANK)
    if text.size < 1 << 31:
        places = places.astype(np.int32)  # half the memory, and faster
    lines = len(places) // columns
    if not lines or len(places) != columns * lines or places[0] == 0:
        return None
    if int((places[1:] - places[:-1]).min(initial=2)) < 2:
        return None
    ends = places.reshape(lines, columns)
    last = np.ascontiguousarray(ends[:, -1])
    # newlines and tabs are the only control characters, and there is one newline per line
    controls = np.count_nonzero(content < _BLANK)
    if controls != lines:
        controls -= np.count_nonzero(content == _TAB)
    regular = (
        controls == lines
        and int(last[-1]) == text.size - 1
        and bool((content[last] == _LINE_END).all())
    )
    if regular and _COMMENT_BYTE in text.data:
        begins = np.append(0, last[:-1] + 1)
        # a column of one character, since blanks stand one by one
        regular = not ((content[begins] == _COMMENT) & (ends[:, 0] == begins + 1)).any()
    return Lines(ends) if regular else None


def is_utf8(data: bytes) -> bool:
    """Whether these bytes are UTF-8."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


_BLANKS = bytes.maketrans(b"\t\v\f\r", b"    ")


def evened_out(data: bytes) -> bytes:
    """One blank between columns, none around lines, no empty lines."""
    data = b"\n" + data.translate(_BLANKS)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    while b"\n\n" in data:
        data = data.replace(b"\n\n", b"\n")
    return data[1:]


def hash_field(text: Text, field: Field) -> WordArray:
    """A 64-bit hash of every field; fields of up to eight bytes never share one."""
    length = field.length
    hashed = text.words(field.start) & _MASK[np.minimum(length, WORD)]
    for offset in range(WORD, int(length.max(initial=0)), WORD):
        # only longer fields, so that a hash does not depend on the length of its neighbours
        longer = np.flatnonzero(length > offset)
        word = text.words(field.start[longer] + offset)
        word &= _MASK[np.minimum(length[longer] - offset, WORD)]
        hashed[longer] = _mixed(hashed[longer]) ^ word
    return hashed


def _mixed(word: WordArray) -> WordArray:
    """Mix the bits of each word; different words stay different."""
    word *= _SPREAD
    word ^= word >> _HALF
    word *= _SPREAD
    return word


def texts_joined(texts: Sequence[str]) -> tuple[Text, Field]:
    """The texts one after the other, and where each of them is."""
    joined = "\n".join(texts).encode()
    text = Text(joined, b"\n" if texts else b"")
    end = np.flatnonzero(text.content == _LINE_END)
    if len(end) > len(texts):  # one of them has several lines
        length = np.array([len(item.encode()) for item in texts], dtype=np.int64)
        end = np.cumsum(length + 1) - 1
    start = np.zeros(len(texts), dtype=np.int64)
    start[1:] = end[:-1] + 1
    return text, Field(start, end)


def hash_texts(texts: Sequence[str]) -> WordArray:
    """The hash of each text, equal to that of a field with the same content."""
    return hash_field(*texts_joined(texts))
