"""Into which windows is a stretch cut that is longer than a chunk?

As few as the size allows and about equally long: each cut is at the sentence end nearest to the
equal share, else at the last blank that fits, and within a word only where the word alone is longer
than half a window. Windows overlap by whole sentences, else by whole words, never by more than
allowed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from assay.ingest import tokens
from assay.model.judgments import Span


@dataclass(frozen=True, slots=True)
class Stretch:
    """``text`` up to ``end``: where its tokens begin, and which of them begin a sentence or row."""

    text: str
    end: int
    at: list[int]
    breaks: list[int]


def windows(stretch: Stretch, size: int, overlap: int) -> Iterator[Span]:
    """Spans of up to ``size`` tokens that cover the stretch; ``2 * overlap < size``."""
    first, total = 0, len(stretch.at)
    while total - first > size:
        last = _last(stretch, first, size, overlap)
        yield trimmed(stretch.text, stretch.at[first], stretch.at[last])
        first = _next_first(stretch, last, overlap)
    if first < total:
        yield trimmed(stretch.text, stretch.at[first], stretch.end)


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without the blanks at its ends."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _last(stretch: Stretch, first: int, size: int, overlap: int) -> int:
    """The token before which a window that begins at ``first`` ends.

    It lies beyond half of the size, so that every window brings something that the last one, and
    what overlaps, did not have.
    """
    left = len(stretch.at) - first
    parts = -(-(left - overlap) // (size - overlap))
    share = first + -(-(left + (parts - 1) * overlap) // parts)
    low, high = first + size // 2 + 1, first + size
    breaks = stretch.breaks
    near = breaks[bisect_left(breaks, low) : bisect_right(breaks, high)]
    if near:
        return min(near, key=lambda index: (abs(index - share), index))
    for index in range(high, low - 1, -1):
        if tokens.begins_word(stretch.text, stretch.at[index]):
            return index
    return high


def _next_first(stretch: Stretch, last: int, overlap: int) -> int:
    """The token that the next window begins with: ``last``, or one up to ``overlap`` before it."""
    if not overlap:
        return last
    place = bisect_left(stretch.breaks, last - overlap)
    if place < len(stretch.breaks) and stretch.breaks[place] < last:
        return stretch.breaks[place]
    for index in range(last - overlap, last):
        if tokens.begins_word(stretch.text, stretch.at[index]):
            return index
    return last
