"""Which rows have the largest sums of what their terms are worth?

Postings lie in blocks of at most 65,536 rows, so that a row takes two bytes and the scores of a
block stay in the processor's cache. A posting is a row and the number of a value; a query adds up
the values of its terms, each times the factor of the term, and keeps the best rows. All blocks are
searched in one compiled call: what comes later is held against the best of what came before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay import compiled
from assay.errors import CorruptError
from assay.index.top import TIES, best_rows
from assay.model.arrays import BoolArray, IntArray

BLOCK_ROWS = 1 << 16
REBUILD = "assay index check names what is wrong, assay index rebuild builds it again"

Ordinals: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float32]

_room = threading.local()


class BlockPostings(NamedTuple):
    """The postings of some rows: those of term t stand between two of the ``starts``.

    ``values`` has a row for each field, from which ``codes`` choose.
    """

    folder: Path
    size: int
    starts: NDArray[np.int64]
    rows: NDArray[np.uint16]
    codes: NDArray[Any]
    values: Floats

    def scores(self, fields: Ordinals, terms: Ordinals, factors: Floats) -> Floats:
        """What the terms add to the score of every row, in their order; -1 is not there."""
        scores = np.zeros(self.size, dtype=np.float32)
        for field, term, factor in zip(fields.tolist(), terms.tolist(), factors, strict=True):
            if term >= 0:
                part = slice(self.starts[term], self.starts[term + 1])
                # a row has a term at most once: no addition is lost
                scores[self.rows[part]] += self.values[field][self.codes[part]] * factor
        return scores


class Found(NamedTuple):
    """The best rows of one block, ascending, and their scores."""

    block: int
    rows: IntArray
    scores: Floats


class Postings:
    """The postings of several blocks, searched as one."""

    def __init__(self, blocks: Sequence[BlockPostings]) -> None:
        self._blocks = blocks
        self._firsts = np.cumsum([0, *(one.size for one in blocks)])
        self._plain = all(one.codes.dtype == np.uint16 for one in blocks)
        # where they lie in memory: asking an array for it takes longer than a short search
        self._table = np.array([_described(one) for one in blocks], dtype=np.int64)

    def best(
        self,
        fields: Ordinals,
        terms: Ordinals,
        factors: Floats,
        masks: Sequence[BoolArray | None],
        k: int,
    ) -> Iterator[Found]:
        """The k best of the rows that have a term, with all that tie with the last.

        ``terms`` has a row for each block. A block with a mask gives only rows that it allows.
        """
        found = self._compiled(fields, terms, factors, masks, k)
        if found is None:
            yield from self._by_arrays(fields, terms, factors, masks, k)
            return
        rows, scores = found
        ends = np.searchsorted(rows, self._firsts).tolist()
        for block, (start, end) in enumerate(pairwise(ends)):
            if start < end:
                yield Found(block, rows[start:end] - self._firsts[block], scores[start:end])

    def _compiled(
        self,
        fields: Ordinals,
        terms: Ordinals,
        factors: Floats,
        masks: Sequence[BoolArray | None],
        k: int,
    ) -> tuple[IntArray, Floats] | None:
        """The rows of all blocks in one call; None if not compiled or too many rows tie."""
        library = compiled.library()
        if library is None or not self._plain:
            return None
        size = int(self._firsts[-1])
        heap = np.empty(min(k, size + 1), dtype=np.float32)
        rows = np.empty(min(size, 2 * k + TIES), dtype=np.int64)
        scores = np.empty(len(rows), dtype=np.float32)
        sound = [None if one is None else np.ascontiguousarray(one) for one in masks]
        places = np.array([0 if one is None else one.ctypes.data for one in sound], dtype=np.int64)
        count = library.assay_best_by_terms(
            self._table.ctypes.data, len(self._blocks), fields.ctypes.data, terms.ctypes.data,
            factors.ctypes.data, len(factors), places.ctypes.data, len(heap),
            room_for_scores().ctypes.data, heap.ctypes.data, rows.ctypes.data, scores.ctypes.data,
            len(rows),
        )  # fmt: skip
        if count == -2:
            folders = ", ".join(dict.fromkeys(str(one.folder) for one in self._blocks))
            raise CorruptError(f"{folders} has postings beyond its end", hint=REBUILD)
        return None if count < 0 else (rows[:count], scores[:count])

    def _by_arrays(
        self,
        fields: Ordinals,
        terms: Ordinals,
        factors: Floats,
        masks: Sequence[BoolArray | None],
        k: int,
    ) -> Iterator[Found]:
        for number, (block, here, mask) in enumerate(zip(self._blocks, terms, masks, strict=True)):
            scores = block.scores(fields, here, factors)
            if mask is not None:
                scores *= mask
            rows = best_rows(scores, k, floor=0.0)
            yield Found(number, rows, scores[rows])


def _described(block: BlockPostings) -> tuple[int, ...]:
    """A block as the compiled code sees it."""
    starts, rows, codes, values = (
        one.ctypes.data for one in (block.starts, block.rows, block.codes, block.values)
    )
    counts = len(block.starts) - 1, len(block.rows), block.values.shape[1]
    return starts, counts[0], rows, codes, counts[1], values, counts[2], block.size


def room_for_scores() -> Floats:
    """Room for the scores of a block, one for each thread."""
    found: Floats | None = getattr(_room, "scores", None)
    if found is None:
        found = _room.scores = np.empty(BLOCK_ROWS, dtype=np.float32)
    return found
