"""How are the weighted terms of a large segment kept in two bytes a posting?

Weights are rounded to 511 values that are chosen so that the squared error is small: closer where
there are more weights (Panter and Dite 1951), each the mean of what is rounded to it. Rows lie in
blocks of 65,536. Most postings belong to terms that one row in a hundred or more has: they are kept
as the distance from the row before in seven bits and the number of the weight in nine. Terms that
are rarer than that keep their rows. A query adds up what its terms weigh and keeps the best rows,
in one compiled call for all blocks (``index/postings.py`` does the same for words).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay import compiled
from assay.errors import CorruptError
from assay.index.postings import BLOCK_ROWS, REBUILD, Floats, room_for_scores
from assay.index.top import TIES, best_rows
from assay.model.arrays import BoolArray, IntArray
from assay.model.vectors import SparseVector

VALUES = "impact_values.npy"
GAP_BITS = 7
FARTHEST = (1 << GAP_BITS) - 1
LEVELS = (1 << (16 - GAP_BITS)) - 1  # and 0, for a step to a row that is further away
_BINS = 1 << 14
_EVEN = 0.25  # of the values are evenly spread, so that no weight is far from the next
_SOME = 1 << 16
_ARRAYS = ("starts", "pairs", "rare_rows", "rare_codes")


def write_impacts(
    folder: Path, terms: NDArray[Any], weights: Floats, sizes: IntArray, vocabulary: int
) -> None:
    """Write the terms and weights of rows, one row after the other, which have so many each."""
    rounding = _Rounding(weights)
    np.save(folder / VALUES, rounding.values, allow_pickle=False)
    ends = np.cumsum([0, *sizes.tolist()])
    for number, first in enumerate(range(0, len(sizes), BLOCK_ROWS)):
        here = sizes[first : first + BLOCK_ROWS]
        part = slice(ends[first], ends[first + len(here)])
        rows = np.repeat(np.arange(len(here), dtype=np.uint16), here)
        arrays = _arrays(terms[part], rows, rounding.codes(weights[part]), vocabulary)
        for name, content in zip(_ARRAYS, arrays, strict=True):
            np.save(_path(folder, number, name), content, allow_pickle=False)


class _Rounding:
    """To which values weights are rounded: ``values``, ascending from 0 on."""

    def __init__(self, weights: Floats) -> None:
        some = np.unique(weights[:_SOME])
        self._different = np.unique(weights) if len(some) <= LEVELS else some
        self._least = float(weights.min(initial=np.inf))
        self._width = (float(weights.max(initial=0)) - self._least) / _BINS
        if len(self._different) <= LEVELS:
            values = self._different.astype(np.float64)
        else:
            bins = self._bins(weights)
            counts = np.bincount(bins, minlength=_BINS)
            density = np.cbrt(counts)
            share = (1 - _EVEN) * density / density.sum() + _EVEN / _BINS
            cells = np.minimum(np.cumsum(share) * LEVELS, LEVELS - 1).astype(np.int64)
            totals = np.bincount(bins, weights=weights, minlength=_BINS)
            count, total = (np.bincount(cells, weights=each) for each in (counts, totals))
            taken = count > 0
            self._codes: NDArray[np.uint16] = np.cumsum(taken)[cells].astype(np.uint16)
            values = total[taken] / count[taken]
        self.values: Floats = np.concatenate([[0.0], values]).astype(np.float32)

    def _bins(self, weights: Floats) -> NDArray[np.int32]:
        found = ((weights - np.float32(self._least)) / np.float32(self._width)).astype(np.int32)
        return np.minimum(found, _BINS - 1)

    def codes(self, weights: Floats) -> NDArray[np.uint16]:
        """The number of the value of each weight."""
        if len(self._different) <= LEVELS:
            return (np.searchsorted(self._different, weights) + 1).astype(np.uint16)
        found: NDArray[np.uint16] = self._codes[self._bins(weights)]
        return found


def _arrays(
    terms: NDArray[Any], rows: NDArray[np.uint16], codes: NDArray[np.uint16], vocabulary: int
) -> tuple[NDArray[Any], ...]:
    """The arrays of a block; see ``Block``."""
    narrow = terms.astype(np.uint16) if vocabulary <= 1 << 16 else terms  # sorted much faster
    order = np.argsort(narrow, kind="stable")
    terms, rows, codes = terms[order], rows[order], codes[order]
    counts = np.bincount(terms, minlength=vocabulary)
    gaps = np.diff(rows.astype(np.int32), prepend=np.int32(0))
    starts = np.cumsum(counts) - counts
    begins = starts[counts > 0]
    gaps[begins] = rows[begins].astype(np.int32) + 1
    steps = (gaps - 1) // FARTHEST  # pairs that only lead to a row further away
    wanted = np.bincount(terms, weights=steps + 1, minlength=vocabulary)
    rare = wanted > 2 * counts
    is_rare = rare[terms]
    often = ~is_rare
    slots = steps[often] + 1
    places = np.cumsum(slots) - 1
    pairs = np.full(int(slots.sum()), FARTHEST, dtype=np.uint16)
    pairs[places] = (gaps[often] - FARTHEST * steps[often]) | codes[often] << GAP_BITS
    both = np.zeros((2, vocabulary + 1), dtype=np.uint32)
    both[:, 1:] = np.cumsum([np.where(rare, 0, wanted), np.where(rare, counts, 0)], axis=1)
    return both, pairs, rows[is_rare], codes[is_rare]


def _path(folder: Path, number: int, name: str) -> Path:
    return folder / f"impacts-{number}.{name}.npy"


class Block(NamedTuple):
    """The terms of up to 65,536 rows: the pairs of a frequent term, the rows of a rare one."""

    size: int
    starts: NDArray[np.uint32]
    pairs: NDArray[np.uint16]
    rare_rows: NDArray[np.uint16]
    rare_codes: NDArray[np.uint16]

    def postings(self, term: int) -> tuple[NDArray[Any], NDArray[np.uint16]]:
        """The rows of a term, ascending, and the numbers of their weights."""
        (start, end), (rare, rare_end) = self.starts[:, term : term + 2].tolist()
        if start == end:
            return self.rare_rows[rare:rare_end], self.rare_codes[rare:rare_end]
        pairs = self.pairs[start:end]
        return np.cumsum(pairs & FARTHEST, dtype=np.int64) - 1, pairs >> GAP_BITS

    @property
    def described(self) -> tuple[int, ...]:
        """Where it lies in memory, as the compiled code sees it."""
        starts, rare_starts, pairs, rows, codes = (
            one.ctypes.data for one in (*self.starts, self.pairs, self.rare_rows, self.rare_codes)
        )
        columns, many = self.starts.shape[1] - 1, len(self.rare_rows)
        return starts, rare_starts, columns, pairs, len(self.pairs), rows, codes, many, self.size


class Impacts:
    """The weighted terms of one segment."""

    def __init__(self, folder: Path, rows: int) -> None:
        self._folder, self._size = folder, rows
        self._values: Floats = np.load(folder / VALUES, allow_pickle=False)
        self._blocks = [
            Block(min(BLOCK_ROWS, rows - first), *_opened(folder, number))
            for number, first in enumerate(range(0, rows, BLOCK_ROWS))
        ]
        # the compiled code may look for any number that nine bits can have
        self._padded = np.zeros(LEVELS + 1, dtype=np.float32)
        self._padded[: len(self._values)] = self._values
        self._table = np.array([one.described for one in self._blocks], dtype=np.int64)

    def best(
        self, query: SparseVector, k: int, allowed: BoolArray | None
    ) -> tuple[IntArray, Floats]:
        """The k best of the allowed rows that share a term with the query, and their scores.

        Rows that tie with the last come too.
        """
        terms = np.ascontiguousarray(query.terms, dtype=np.int32)
        factors = np.ascontiguousarray(query.weights, dtype=np.float32)
        found = self._compiled(terms, factors, k, allowed)
        if found is None:
            scores = self._scores(terms, factors)
            if allowed is not None:
                scores *= allowed
            rows = best_rows(scores, k, floor=0.0)
            found = rows, scores[rows]
        return found

    def _compiled(
        self, terms: NDArray[np.int32], factors: Floats, k: int, allowed: BoolArray | None
    ) -> tuple[IntArray, Floats] | None:
        """The same in one call; None if not compiled or too many rows tie."""
        library = compiled.library()
        if library is None:
            return None
        heap = np.empty(min(k, self._size + 1), dtype=np.float32)
        rows = np.empty(min(self._size, 2 * k + TIES), dtype=np.int64)
        scores = np.empty(len(rows), dtype=np.float32)
        mask = None if allowed is None else np.ascontiguousarray(allowed)
        count = library.assay_best_by_impacts(
            self._table.ctypes.data, len(self._blocks), self._padded.ctypes.data,
            terms.ctypes.data, factors.ctypes.data, len(terms),
            None if mask is None else mask.ctypes.data, len(heap),
            room_for_scores().ctypes.data, heap.ctypes.data, rows.ctypes.data,
            scores.ctypes.data, len(rows),
        )  # fmt: skip
        if count == -2:
            raise CorruptError(f"{self._folder} has postings beyond its end", hint=REBUILD)
        return None if count < 0 else (rows[:count], scores[:count])

    def _scores(self, terms: NDArray[np.int32], factors: Floats) -> Floats:
        scores = np.zeros(self._size, dtype=np.float32)
        for number, block in enumerate(self._blocks):
            first = number * BLOCK_ROWS
            here = scores[first : first + block.size]
            for term, factor in zip(terms.tolist(), factors, strict=True):
                rows, codes = block.postings(term)
                here[rows] += self._values[codes] * factor
        return scores

    def weight(self, term: int, row: int) -> float:
        """The weight of a term in a row; 0 where the row does not have it."""
        number, here = divmod(row, BLOCK_ROWS)
        rows, codes = self._blocks[number].postings(term)
        at = int(np.searchsorted(rows, here))
        return float(self._values[codes[at]]) if at < len(rows) and rows[at] == here else 0.0


def _opened(folder: Path, number: int) -> list[NDArray[Any]]:
    return [
        np.asarray(np.load(_path(folder, number, name), mmap_mode="r", allow_pickle=False))
        for name in _ARRAYS
    ]
