"""Which number is written in each field?

Plain decimals (a sign, digits, a point, digits) are read eight digits at a time for all fields at
once, with the same result as ``float`` to the last bit: the digits make a whole number, which is
divided by a power of ten. Up to 53 bits that is one correctly rounded division (Clinger, How to
read floating point numbers accurately, PLDI 1990). Beyond, the quotient is computed with twice the
precision, and where even that does not settle the rounding, ``float`` does.
"""

from __future__ import annotations

import numpy as np

from assay.hits.fields import WORD, Field, PlaceArray, Text, WordArray
from assay.model.arrays import BoolArray, FloatArray, IntArray

MOST_DIGITS = 18  # what a 64-bit whole number holds
MOST_CHARS = 3 * WORD  # of a fraction, with its leading zeros
_POINT, _MINUS, _PLUS = (ord(char) for char in ".-+")
_ZEROS = np.uint64(0x3030303030303030)
_HIGH = np.uint64(0xF0F0F0F0F0F0F0F0)
_SIXES = np.uint64(0x0606060606060606)
_PAIRS = np.uint64(0x000000FF000000FF)
_KEEP = np.array([(1 << 64) - (1 << 8 * (WORD - n)) for n in range(WORD + 1)], dtype=np.uint64)
_TENS = np.array([10.0**n for n in range(23)])  # exact as doubles
_WHOLE_TENS = np.array([10**n for n in range(MOST_DIGITS + 1)], dtype=np.int64)
_SPLIT = 134217729.0  # 2^27 + 1, which halves a double (Dekker 1971)


def read_plain(text: Text, field: Field) -> tuple[FloatArray, BoolArray]:
    """The numbers, and which of the fields were plain enough to be parsed here."""
    first = text.content[field.start]
    minus = first == _MINUS
    start = field.start + (minus | (first == _PLUS))
    point, plain = _points(text, start, field.end)
    whole = point - start
    part = np.maximum(field.end - point - 1, 0)
    plain &= (whole + part > 0) & (whole <= 2 * WORD) & (part <= MOST_CHARS) & (start >= 2 * WORD)
    whole, part = np.where(plain, whole, 0), np.where(plain, part, 0)
    high, sound = _digits(text, point, whole, 2)
    low, also_sound = _digits(text, field.end, part, 3)
    plain &= sound & also_sound
    shift = np.where(high > 0, part, 0)
    plain &= (shift <= MOST_DIGITS) & (high < _WHOLE_TENS[np.maximum(MOST_DIGITS - shift, 0)])
    plain &= part < len(_TENS)
    mantissa = np.where(plain, high * _WHOLE_TENS[np.minimum(shift, MOST_DIGITS)] + low, 0)
    values, exact = _quotients(mantissa, np.minimum(part, len(_TENS) - 1))
    return np.where(minus, -values, values), plain & exact


def _points(text: Text, start: PlaceArray, end: PlaceArray) -> tuple[PlaceArray, BoolArray]:
    """The position of each point, and whether it is known; the end of a field without one."""
    padded = np.frombuffer(text.data, dtype=np.uint8)
    point = end.copy()
    for offset in range(min(int((end - start).max(initial=0)), 2 * WORD)):
        here = start + offset
        point = np.where((padded[here] == _POINT) & (here < point), here, point)
        if (point < end).all():
            break
    return point, (point < end) | (end - start <= 2 * WORD)


def _digits(
    text: Text, end: PlaceArray, count: PlaceArray, words: int
) -> tuple[IntArray, BoolArray]:
    """The last ``count`` characters before each end as a number, and whether all are digits.

    Numbers of more than eighteen digits, not counting leading zeros, are marked as unreadable, too.
    """
    value = np.zeros(len(end), dtype=np.int64)
    sound = np.ones(len(end), dtype=np.bool_)
    most = int(count.max(initial=0))
    for at in range(words):
        if most <= at * WORD:
            break
        keep = _KEEP[np.minimum(np.maximum(count - at * WORD, 0), WORD)]
        word = text.words(np.maximum(end - (at + 1) * WORD, 0)) & keep
        word |= _ZEROS & ~keep
        sound &= (word & (word + _SIXES) & _HIGH) == _ZEROS
        eight = _eight_digits(word)
        if at == 2:
            sound &= eight < 100
            eight = np.where(sound, eight, 0)
        value += eight * _WHOLE_TENS[at * WORD]
    return value, sound


def _eight_digits(word: WordArray) -> IntArray:
    """The value of eight digits: pairs, then fours, then all (Lemire 2022)."""
    word = word - _ZEROS
    word = word * np.uint64(10) + (word >> np.uint64(8))
    low = (word & _PAIRS) * np.uint64(0x000F424000000064)
    high = ((word >> np.uint64(16)) & _PAIRS) * np.uint64(0x0000271000000001)
    return ((low + high) >> np.uint64(32)).view(np.int64)


def _quotients(mantissa: IntArray, places: PlaceArray) -> tuple[FloatArray, BoolArray]:
    """Each number with its point moved to the left, and whether its rounding is certain."""
    tens = _TENS[places]
    values = mantissa.astype(np.float64) / tens
    certain = np.ones(len(values), dtype=np.bool_)
    large = np.flatnonzero(mantissa >= 1 << 53)
    if len(large):
        values[large], certain[large] = _large_quotients(mantissa[large], tens[large])
    return values, certain


def _large_quotients(mantissa: IntArray, tens: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The same for more than 53 bits: the quotient, and what a second division adds to it."""
    top = mantissa.astype(np.float64)
    rest = (mantissa - top.astype(np.int64)).astype(np.float64)
    quotient = top / tens
    product = quotient * tens
    missing = (top - product) - _product_error(quotient, tens, product)
    more = (missing + rest) / tens
    values = quotient + more
    beyond = np.abs(more - (values - quotient))
    half = np.spacing(values) / 2
    return values, np.abs(beyond - half) > half * 1e-6


def _product_error(one: FloatArray, other: FloatArray, product: FloatArray) -> FloatArray:
    """The exact rounding error of a product (Dekker 1971)."""
    one_high, one_low = _halves(one)
    other_high, other_low = _halves(other)
    error = one_high * other_high - product
    error += one_high * other_low
    error += one_low * other_high
    error += one_low * other_low
    return error


def _halves(value: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaled = value * _SPLIT
    high = scaled - (scaled - value)
    return high, value - high
