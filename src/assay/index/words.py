"""Which words do the rows of a segment have, where, and how often?

Postings by term (``index/postings.py``). A term is a field and a word; the terms of a block are
sorted, so that those with a common beginning are neighbours, and a table of their hashes, made when
it is first needed, finds single ones. Each posting has a row and the number of a pair: how often
the word is there, and how long the field is. BM25 gives every such pair one value, so a query adds
up values that it looks up, exactly (``index/bm25.py``).

Lengths are rounded as Lucene rounds them, so that a cluster gives the same scores. Arrays are
memory-mapped: opening costs little, and processes share memory.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay import compiled
from assay.analysis.query import BODY, FIELDS, NAMES, TITLE
from assay.errors import CorruptError, LimitError
from assay.index.postings import BLOCK_ROWS, REBUILD, BlockPostings, Floats, Ordinals
from assay.model.arrays import BoolArray, IntArray

POSITIONED = (BODY, TITLE, NAMES)  # fields whose words may be asked for as phrases
NARROW_CODES = 1 << 16  # up to so many pairs of count and length take two bytes
MOST_BYTES = 2**32 - 1  # of the terms of a block
_NUMBERS = {field: number for number, field in enumerate(FIELDS)}
_MARKS = {field: bytes([number]) for field, number in _NUMBERS.items()}
_WALK = 5  # numbers with which the compiled code follows a term
_FLAGS = 1 << 24  # up to so many pairs of count and length are told apart by a table

Term: TypeAlias = tuple[str, str]
"""A field, and a word in it."""
Cut: TypeAlias = Mapping[str, Sequence[str]]
"""The words of a row, by field."""


def _rounded_lengths() -> IntArray:
    """The 256 lengths that are told apart: all up to 40, then eight for every doubling."""
    free = 24
    found = [*range(free)]
    for code in range(256 - free):
        bits, shift = code & 7, (code >> 3) - 1
        found.append(free + (bits if shift < 0 else (bits | 8) << shift))
    return np.array(found, dtype=np.int64)


LENGTHS = _rounded_lengths()


class Wanted:
    """Terms to look up in every block."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self.terms = tuple(terms)
        self.keys = [_key(field, word) for field, word in self.terms]
        self.fields = np.array([_NUMBERS[field] for field, _ in self.terms], dtype=np.int32)
        self.text = b"".join(self.keys)
        self.ends = np.cumsum([len(key) for key in self.keys], dtype=np.uint32)

    def __len__(self) -> int:
        return len(self.keys)


def write_words(folder: Path, rows: Iterable[Cut]) -> None:
    """Write the words of a segment's rows, in their order."""
    rest = iter(rows)
    number = 0
    while block := [*islice(rest, BLOCK_ROWS)]:
        for name, content in _arrays(block).items():
            np.save(_path(folder, number, name), content, allow_pickle=False)
        number += 1


def _arrays(rows: Sequence[Cut]) -> dict[str, NDArray[Any]]:
    """The arrays of a block; see ``Block``."""
    fields = [_Field(field, rows) for field in FIELDS]
    lengths = np.stack([one.lengths for one in fields])
    keys = [_key(one.name, word) for one in fields for word in one.words]
    ends = np.cumsum([0, *map(len, keys)], dtype=np.int64)
    if ends[-1] > MOST_BYTES:
        raise LimitError(f"{ends[-1]:,} bytes of words in one segment", hint="split long words")
    pairs, codes = _numbered(fields)
    positions = np.concatenate([one.positions for one in fields])
    narrow = np.uint16 if positions.max(initial=0) < 1 << 16 else np.uint32
    return {
        "terms": np.frombuffer(b"".join(keys), dtype=np.uint8),
        "ends": ends.astype(np.uint32),
        "starts": _starts([one.counts for one in fields]),
        "rows": np.concatenate([one.rows for one in fields]).astype(np.uint16),
        "codes": codes,
        "pairs": pairs,
        "lengths": lengths,
        "totals": lengths.sum(axis=1, dtype=np.int64),
        "position_starts": _starts([one.positioned for one in fields]),
        "positions": positions.astype(narrow),
    }


class _Field:
    """The postings of one field: by word, then by row."""

    def __init__(self, name: str, rows: Sequence[Cut]) -> None:
        self.name = name
        known: dict[str, int] = {}
        numbers = array("i")
        lengths = []
        for row in rows:
            words = row.get(name, ())
            lengths.append(len(words))
            numbers.extend([known.setdefault(word, len(known)) for word in words])
        self.lengths = np.array(lengths, dtype=np.int32)
        self.words = sorted(known)
        places = np.empty(len(known), dtype=np.int32)
        places[[known[word] for word in self.words]] = np.arange(len(known), dtype=np.int32)
        terms = places[np.frombuffer(numbers, dtype=np.int32)]
        order = np.argsort(terms, kind="stable")
        terms = terms[order]
        every = np.repeat(np.arange(len(rows), dtype=np.int32), self.lengths)[order]
        first = np.ones(len(terms), dtype=bool)
        first[1:] = (terms[1:] != terms[:-1]) | (every[1:] != every[:-1])
        at = np.flatnonzero(first)
        self.rows = every[at]
        self.times = np.diff(at, append=len(terms))
        self.counts = np.bincount(terms[at], minlength=len(known))
        if name in POSITIONED:
            begins = np.cumsum(self.lengths) - self.lengths
            here = np.arange(len(terms), dtype=np.int64) - np.repeat(begins, self.lengths)
            self.positions = here[order]
            self.positioned = np.bincount(terms, minlength=len(known))
        else:
            self.positions = np.zeros(0, dtype=np.int64)
            self.positioned = np.zeros(len(known), dtype=np.int64)

    @property
    def pairs(self) -> IntArray:
        """How often and how long, in one number, for every posting."""
        rounded = np.searchsorted(LENGTHS, self.lengths, side="right") - 1
        return self.times * len(LENGTHS) + rounded[self.rows]


def _numbered(fields: Sequence[_Field]) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """The different pairs, and the number of its pair for each posting."""
    pairs = np.concatenate([one.pairs for one in fields])
    most = int(pairs.max(initial=0)) + 1
    if most <= _FLAGS:  # faster than sorting
        seen = np.zeros(most, dtype=bool)
        seen[pairs] = True
        different = np.flatnonzero(seen)
        codes = (np.cumsum(seen) - 1)[pairs]
    else:
        different, codes = np.unique(pairs, return_inverse=True)
    both = np.stack(np.divmod(different, len(LENGTHS))).astype(np.int32)
    return both, codes.astype(np.uint16 if len(different) <= NARROW_CODES else np.uint32)


def _starts(counts: Sequence[NDArray[Any]]) -> IntArray:
    every = np.concatenate(counts)
    found = np.zeros(len(every) + 1, dtype=np.int64)
    np.cumsum(every, out=found[1:])
    return found


def _key(field: str, word: str) -> bytes:
    return _MARKS[field] + word.encode(errors="surrogatepass")


def _addresses(*arrays: NDArray[Any]) -> tuple[int, ...]:
    return tuple(one.ctypes.data for one in arrays)


def _bits(table: NDArray[Any]) -> int:
    return len(table).bit_length() - 1


def _path(folder: Path, number: int, name: str) -> Path:
    return folder / f"words-{number}.{name}.npy"


def open_words(folder: Path, rows: int) -> list[Block]:
    """The blocks of a segment with so many rows."""
    return [
        Block(folder, number, min(BLOCK_ROWS, rows - start))
        for number, start in enumerate(range(0, rows, BLOCK_ROWS))
    ]


class Block:
    """The words of up to 65,536 rows, as they lie on the disk."""

    def __init__(self, folder: Path, number: int, rows: int) -> None:
        def mapped(name: str) -> NDArray[Any]:
            path = _path(folder, number, name)
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))

        self.size = rows
        self.first = number * BLOCK_ROWS
        self._folder = folder
        self._terms, self._ends = mapped("terms"), mapped("ends")
        self._starts, self._rows, self._codes = mapped("starts"), mapped("rows"), mapped("codes")
        self._times, self._rounded = mapped("pairs")
        self._lengths, self._totals = mapped("lengths"), mapped("totals")
        self._position_starts, self._positions = mapped("position_starts"), mapped("positions")
        if self._lengths.shape != (len(FIELDS), rows) or len(self._codes) != len(self._rows):
            raise CorruptError(f"{folder} has words of other rows", hint=REBUILD)

    def find(self, wanted: Wanted) -> Ordinals:
        """The number of each term here; -1 for one that no row has."""
        found: Ordinals = self._alone.find(wanted)[0]
        return found

    @cached_property
    def _alone(self) -> Dictionary:
        return Dictionary([self])

    @cached_property
    def _places(self) -> NDArray[np.uint32]:
        """The places of terms by their hashes, at most half of them taken."""
        count = len(self._ends) - 1
        found = np.zeros(2 << count.bit_length(), dtype=np.uint32)
        compiled.library().assay_place_terms(
            *_addresses(self._terms, self._ends), count, found.ctypes.data, _bits(found)
        )
        return found

    @property
    def described(self) -> tuple[int, ...]:
        """The terms as the compiled code sees them."""
        text, ends, places = _addresses(self._terms, self._ends, self._places)
        return text, ends, len(self._ends) - 1, places, _bits(self._places)

    def find_by_halving(self, wanted: Wanted) -> list[int]:
        """The same as ``find``, without compiled code."""
        return [self._find(key) for key in wanted.keys]

    def _find(self, key: bytes) -> int:
        at = self._place(key)
        return at if at < len(self._ends) - 1 and self._term(at) == key else -1

    def _place(self, key: bytes) -> int:
        """The first term that does not come before this."""
        return bisect.bisect_left(range(len(self._ends) - 1), key, key=self._term)

    def _term(self, at: int) -> bytes:
        return self._terms[self._ends[at] : self._ends[at + 1]].tobytes()

    def beginning(
        self, field: str, start: str, alive: BoolArray | None
    ) -> Iterator[tuple[str, int]]:
        """Words with this beginning, and how many rows have each."""
        key = _key(field, start)
        first, last = self._place(key), self._place(key + b"\xff")
        for at, count in enumerate(self.frequency(np.arange(first, last), alive), first):
            if count:
                yield self._term(at)[1:].decode(errors="surrogatepass"), int(count)

    def frequency(self, ordinals: NDArray[Any], alive: BoolArray | None) -> IntArray:
        """The number of rows that have each term; 0 where it is not here."""
        if alive is None:
            return np.where(ordinals < 0, 0, self._starts[ordinals + 1] - self._starts[ordinals])
        counts = [np.count_nonzero(alive[self.rows(at)]) for at in ordinals.tolist()]
        return np.array(counts, dtype=np.int64)

    def rows(self, ordinal: int) -> NDArray[np.uint16]:
        """The rows that have a term, ascending; none for -1."""
        if ordinal < 0:
            return self._rows[:0]
        return self._rows[self._starts[ordinal] : self._starts[ordinal + 1]]

    def having(self, ordinals: Ordinals, rows: IntArray) -> BoolArray:
        """Which of these rows have each term, without compiled code: a line for each term."""
        found = np.zeros((len(ordinals), len(rows)), dtype=np.bool_)
        for line, ordinal in zip(found, ordinals.tolist(), strict=True):
            if len(posted := self.rows(ordinal)):
                line[:] = posted.take(np.searchsorted(posted, rows), mode="clip") == rows
        return found

    @property
    def posted(self) -> tuple[int, ...]:
        """The postings without their values, as the compiled code sees them."""
        starts, rows = _addresses(self._starts, self._rows)
        return starts, len(self._starts) - 1, rows, len(self._rows)

    def phrase(self, ordinals: Sequence[int], most: int = BLOCK_ROWS) -> NDArray[Any]:
        """The rows in which these terms follow each other, up to ``most`` of them."""
        if len(ordinals) == 1 or min(ordinals) < 0:
            return self.rows(min(ordinals))[:most]
        library = compiled.library()
        if library is None:
            return self.phrase_by_sorting(ordinals)[:most]
        room = min(most, *(len(self.rows(ordinal)) for ordinal in ordinals))
        found = np.empty(room, dtype=np.uint16)
        walks = np.empty((len(ordinals), _WALK), dtype=np.int64)
        terms = np.array(ordinals, dtype=np.int32)
        count = library.assay_phrase(
            *_addresses(self._placed, terms), len(terms), *_addresses(walks), room,
            *_addresses(found),
        )  # fmt: skip
        if count < 0:
            raise CorruptError(f"{self._folder} has words outside of its rows", hint=REBUILD)
        return found[:count]

    @cached_property
    def _placed(self) -> IntArray:
        """The postings with the places of words, as the compiled code sees them."""
        codes, positions = self._codes, self._positions
        starts, rows, numbers, times, place_starts, places = _addresses(
            self._starts, self._rows, codes, self._times, self._position_starts, positions
        )
        fields = (
            *(starts, len(self._starts) - 1, rows, numbers, codes.itemsize == 4, len(codes)),
            *(times, len(self._times), place_starts, places, positions.itemsize == 4),
            len(positions),
        )
        return np.array(fields, dtype=np.int64)

    def phrase_by_sorting(self, ordinals: Sequence[int]) -> NDArray[Any]:
        """The same as ``phrase`` of several terms that are here, without compiled code."""
        common = np.ones(self.size, dtype=bool)
        for ordinal in {*ordinals}:
            here = np.zeros(self.size, dtype=bool)
            here[self.rows(ordinal)] = True
            common &= here
        begins: NDArray[Any] | None = None
        for after, ordinal in enumerate(ordinals):
            rows, positions = self._positions_of(ordinal)
            kept = common[rows] & (positions >= after)
            places = (rows[kept].astype(np.int64) << 32) + positions[kept] - after
            begins = places if begins is None else np.intersect1d(begins, places)
        return np.unique(np.zeros(0) if begins is None else begins >> 32)

    def _positions_of(self, ordinal: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Row and position of each time that a term is there."""
        part = slice(self._starts[ordinal], self._starts[ordinal + 1])
        rows = np.repeat(self._rows[part], self._times[self._codes[part]])
        start, end = self._position_starts[ordinal : ordinal + 2]
        return rows, self._positions[start:end].astype(np.int64)

    def totals(self, alive: BoolArray | None) -> IntArray:
        """The number of words in each field, of rows that are alive."""
        if alive is None:
            return self._totals
        gone: IntArray = self._lengths[:, ~alive].sum(axis=1, dtype=np.int64)
        return self._totals - gone

    def values(self, averages: NDArray[np.float64], k1: float, b: float) -> Floats:
        """What BM25 gives each pair of count and length, by field, before the term's weight."""
        relative = LENGTHS[self._rounded] / averages[:, np.newaxis]
        found: Floats = np.asarray(
            self._times / (self._times + k1 * (1 - b + b * relative)), dtype=np.float32
        )
        return found

    def postings(self, values: Floats) -> BlockPostings:
        """The postings with a value for each pair, by field."""
        return BlockPostings(self._folder, self.size, self._starts, self._rows, self._codes, values)

    def share(self, ordinal: int, row: int, values: Floats) -> float:
        """The value that a term has in a row; 0 where the row does not have it."""
        rows = self.rows(ordinal)
        at = int(np.searchsorted(rows, row))
        if at == len(rows) or rows[at] != row:
            return 0.0
        return float(values[self._codes[self._starts[ordinal] + at]])


class Dictionary:
    """The terms of several blocks."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks

    @cached_property
    def _table(self) -> IntArray:
        return np.array([one.described for one in self._blocks], dtype=np.int64)

    def find(self, wanted: Wanted) -> Ordinals:
        """The number of each term in each block, a row for each; -1 where it is not there."""
        found = np.empty((len(self._blocks), len(wanted)), dtype=np.int32)
        library = compiled.library()
        if library is None:
            found[:] = [one.find_by_halving(wanted) for one in self._blocks]
        else:
            library.assay_find_terms(
                self._table.ctypes.data, len(self._blocks), wanted.text, wanted.ends.ctypes.data,
                len(wanted), found.ctypes.data,
            )  # fmt: skip
        return found
