"""Which numbers does a column of text hold, and are they in descending order?

Most runs are written with a fixed number of decimals. Then the digits alone give the order: the
last sixteen characters, read as one big number, compare as the scores do, and no score has to
become a float. Otherwise the numbers are parsed, nearly all of them at once.
"""

from __future__ import annotations

import math

import numpy as np

from assay.hits.fields import WORD, Field, PlaceArray, Text, WordArray
from assay.hits.floats import read_plain
from assay.model.arrays import BoolArray, FloatArray

MOST_CHARS = 16  # 15 digits and a point: longer texts could differ and be equal as doubles

_POINT, _ZERO = ord("."), ord("0")
_DIGITS = np.uint64(0x3030303030303030)
_NIBBLES = np.uint64(0xF0F0F0F0F0F0F0F0)
_SIXES = np.uint64(0x0606060606060606)
_LAST = np.array(
    [0] + [(1 << 8 * n) - 1 for n in range(1, WORD)] + [(1 << 64) - 1], dtype=np.uint64
)


def steps_down(text: Text, field: Field) -> tuple[BoolArray, BoolArray] | None:
    """For each line but the first: is its score above the previous one, and is it below?

    None if the text alone does not show it.
    """
    length = field.length
    longest = int(length.max())
    decimals = _decimals(field, text)
    if decimals is None or longest > MOST_CHARS or field.end[0] < MOST_CHARS:
        return None
    point = field.end - (decimals + 1)
    if (point <= field.start).any() or not (text.content[point] == _POINT).all():
        return None
    if _leading_zero(text, field, point):
        return None
    low = _last_characters(text, field.end, np.minimum(length, WORD))
    equal, above = low[1:] == low[:-1], low[1:] > low[:-1]
    sound = _are_digits(low, decimals, 0)
    if longest > WORD:
        high = _last_characters(
            text, field.end - WORD, np.maximum(np.minimum(length, 2 * WORD) - WORD, 0)
        )
        sound = sound and _are_digits(high, decimals, WORD)
        same = high[1:] == high[:-1]
        above = (high[1:] > high[:-1]) | (same & above)
        equal &= same
    return (above, ~(above | equal)) if sound else None


def _decimals(field: Field, text: Text) -> int | None:
    """How many digits follow the point of the first score?"""
    first = text.data[int(field.start[0]) : int(field.end[0])]
    whole, point, part = first.partition(b".")
    return len(part) if point and whole and part and len(part) < WORD else None


def _leading_zero(text: Text, field: Field, point: PlaceArray) -> bool:
    """Does a score have a leading zero in front of further digits?"""
    zero = text.content[field.start] == _ZERO
    return bool((zero & (point - field.start > 1)).any())


def _last_characters(text: Text, end: PlaceArray, count: PlaceArray) -> WordArray:
    """The last ``count`` bytes before each end as a number, padded with zero digits."""
    keep = _LAST[count]
    word = text.words(end - WORD).byteswap()  # now the last character is the lowest byte
    word &= keep
    word |= _DIGITS & ~keep
    return word


def _are_digits(word: WordArray, decimals: int, above: int) -> bool:
    """Is every character but the point a digit?"""
    place = decimals - above
    if 0 <= place < WORD:
        shift = np.uint64(8 * place)
        word = word ^ (np.uint64(_POINT ^ _ZERO) << shift)
    high = (word & _NIBBLES) == _DIGITS
    low = ((word + _SIXES) & _NIBBLES) == _DIGITS
    return bool(high.all()) and bool(low.all())


def read_decimals(text: Text, field: Field) -> FloatArray | None:
    """The numbers; None if any of them is not a finite decimal number."""
    values, plain = read_plain(text, field)
    return read_others(text, field, values, ~plain)


def read_others(
    text: Text, field: Field, values: FloatArray, missing: BoolArray
) -> FloatArray | None:
    """The same values, with the missing ones parsed by ``float``."""
    others = np.flatnonzero(missing)
    if not len(others):
        return values
    fields = field.at(others).bytes(text)
    try:
        numbers = list(map(float, fields))
    except ValueError:
        return None
    if not all(map(math.isfinite, numbers)) or b"_" in b" ".join(fields):
        return None
    values[others] = numbers
    return values
