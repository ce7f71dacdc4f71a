"""Which chunks share weighted terms with the query?

Impact postings by column: for each term of the vocabulary, the rows that have it and their weights,
as a sparse matrix in column order. A query adds up the columns of its terms, exactly. A large
segment keeps them in a quarter of the room (``index/impacts.py``). Arrays are memory-mapped, so
opening costs nothing and processes share memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay import compiled
from assay.errors import CorruptError, LimitError
from assay.index.impacts import VALUES, Impacts, write_impacts
from assay.index.postings import REBUILD
from assay.index.top import best_rows
from assay.model.arrays import BoolArray
from assay.model.vectors import SparseVector

MOST_POSTINGS = 2**31 - 1  # the range of a 32-bit number
STARTS, ROWS, WEIGHTS = "sparse_starts.npy", "sparse_rows.npy", "sparse_weights.npy"


Starts: TypeAlias = NDArray[np.int32]


def write_sparse(
    folder: Path, vectors: Sequence[SparseVector], vocabulary: int, *, large: bool = False
) -> None:
    """Write the postings of a segment's vectors: terms ascending, rows ascending within a term."""
    terms = np.concatenate([np.zeros(0, dtype=np.int32), *(v.terms for v in vectors)])
    weights = np.concatenate([np.zeros(0, dtype=np.float32), *(v.weights for v in vectors)])
    weights = weights.astype(np.float32, copy=False)
    sizes = np.array([len(v.terms) for v in vectors], dtype=np.int64)
    if len(terms) > MOST_POSTINGS:
        raise LimitError(f"{len(terms):,} weights in one segment", hint="use a sparser model")
    if large:
        write_impacts(folder, terms, weights, sizes, vocabulary)
        return
    rows = np.repeat(np.arange(len(vectors), dtype=np.int32), sizes)
    order = np.argsort(terms, kind="stable")
    starts = np.zeros(vocabulary + 1, dtype=np.int64)
    np.cumsum(np.bincount(terms, minlength=vocabulary), out=starts[1:])
    for name, array in ((STARTS, starts), (ROWS, rows[order]), (WEIGHTS, weights[order])):
        np.save(folder / name, array, allow_pickle=False)


def has_terms(files: Collection[str]) -> bool:
    """Whether a segment with these files has weighted terms."""
    return STARTS in files or VALUES in files


def open_terms(folder: Path, rows: int) -> Postings | Impacts:
    """The weighted terms of a segment with so many rows."""
    return Impacts(folder, rows) if (folder / VALUES).exists() else Postings(folder, rows)


class Postings:
    """The postings of one segment."""

    def __init__(self, folder: Path, rows: int) -> None:
        self._count = rows
        self._starts: Starts = np.load(folder / STARTS, allow_pickle=False).astype(np.int32)
        self._rows = np.load(folder / ROWS, mmap_mode="r", allow_pickle=False)
        self._weights = np.load(folder / WEIGHTS, mmap_mode="r", allow_pickle=False)
        self._folder = folder
        kinds = self._rows.dtype, self._weights.dtype
        self._plain = kinds == (np.int32, np.float32) and len(self._rows) == len(self._weights)

    @property
    def vocabulary(self) -> int:
        """The number of terms that there may be."""
        return len(self._starts) - 1

    def best(
        self, query: SparseVector, k: int, allowed: BoolArray | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k best of the allowed rows that share a term with the query, and their scores."""
        scores = self.scores(query)
        if allowed is not None:
            scores *= allowed  # as if they shared nothing with the query
        rows = best_rows(scores, k, floor=0.0)
        return rows, scores[rows]

    def scores(self, query: SparseVector) -> NDArray[np.float32]:
        """The dot product of the query with every row, summed in term order."""
        scores = np.zeros(self._count, dtype=np.float32)
        weights = np.ascontiguousarray(query.weights, dtype=np.float32)
        if (library := compiled.library()) is not None and self._plain:
            # one call: with several, each would wait for the GIL again
            terms = np.ascontiguousarray(query.terms, dtype=np.int32)
            outside = library.assay_add_columns(
                self._starts.ctypes.data, len(self._starts) - 1,
                self._rows.ctypes.data, self._weights.ctypes.data, len(self._rows),
                terms.ctypes.data, weights.ctypes.data, len(terms),
                scores.ctypes.data, len(scores),
            )  # fmt: skip
            if outside:
                raise CorruptError(f"{self._folder} has postings beyond its end", hint=REBUILD)
            return scores
        for at, term in enumerate(query.terms.tolist()):
            ends, factor = self._starts[term : term + 2], weights[at : at + 1]
            part = slice(ends[0], ends[1])  # a row has a term at most once: no addition is lost
            scores[self._rows[part]] += self._weights[part] * factor
        return scores

    def vectors(self) -> list[SparseVector]:
        """The vectors that these are the postings of."""
        order = np.argsort(self._rows, kind="stable")
        terms = np.repeat(np.arange(len(self._starts) - 1, dtype=np.int32), np.diff(self._starts))
        ends = np.cumsum(np.bincount(self._rows, minlength=self._count))[:-1]
        split = (np.split(one[order], ends) for one in (terms, np.asarray(self._weights)))
        return [SparseVector(*both) for both in zip(*split, strict=True)]

    def weight(self, term: int, row: int) -> float:
        """The weight of a term in a row; 0 where the row does not have it."""
        start, end = self._starts[term : term + 2]
        at = start + int(np.searchsorted(self._rows[start:end], row))
        return float(self._weights[at]) if at < end and self._rows[at] == row else 0.0
