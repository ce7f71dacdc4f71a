"""Which chunks share weighted terms with the query?

Impact postings in columns: for each term of the vocabulary the rows that have it and their
weights. A query gathers the postings of its terms and adds them up per row, exactly, in one
bincount. Arrays are mapped from the disk, so opening costs nothing and processes share memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.model.arrays import BoolArray, FloatArray
from assay.model.vectors import SparseVector

STARTS, ROWS, WEIGHTS = "sparse_starts.npy", "sparse_rows.npy", "sparse_weights.npy"


def write_sparse(folder: Path, vectors: Sequence[SparseVector], vocabulary: int) -> None:
    """The postings of a segment's vectors, terms ascending, rows ascending within a term."""
    terms = np.concatenate([np.zeros(0, dtype=np.int32), *(v.terms for v in vectors)])
    weights = np.concatenate([np.zeros(0, dtype=np.float32), *(v.weights for v in vectors)])
    rows = np.repeat(np.arange(len(vectors), dtype=np.int32), [len(v.terms) for v in vectors])
    order = np.argsort(terms, kind="stable")
    starts = np.zeros(vocabulary + 1, dtype=np.int64)
    np.cumsum(np.bincount(terms, minlength=vocabulary), out=starts[1:])
    for name, array in ((STARTS, starts), (ROWS, rows[order]), (WEIGHTS, weights[order])):
        np.save(folder / name, array, allow_pickle=False)


class Postings:
    """The postings of one segment."""

    def __init__(self, folder: Path, rows: int) -> None:
        self._starts: NDArray[np.int64] = np.load(folder / STARTS, allow_pickle=False)
        self._rows = np.load(folder / ROWS, mmap_mode="r", allow_pickle=False)
        self._weights = np.load(folder / WEIGHTS, mmap_mode="r", allow_pickle=False)
        self._count = rows

    def scores(self, query: SparseVector) -> FloatArray:
        """The dot product of the query with every row, summed in the order of terms."""
        slices = [
            (slice(self._starts[term], self._starts[term + 1]), weight)
            for term, weight in zip(query.terms.tolist(), query.weights.tolist(), strict=True)
        ]
        if not slices:
            return np.zeros(self._count)
        rows = np.concatenate([self._rows[part] for part, _ in slices])
        impacts = np.concatenate([self._weights[part] * weight for part, weight in slices])
        return np.bincount(rows, weights=impacts, minlength=self._count).astype(np.float64)


def best_rows(
    scores: FloatArray, k: int, allowed: BoolArray | None, floor: float
) -> NDArray[np.int64]:
    """The rows of the k largest scores above ``floor``, with all that tie with the last of them."""
    rows = np.flatnonzero(scores > floor if allowed is None else (scores > floor) & allowed)
    if len(rows) <= k:
        return rows
    values = scores[rows]
    last = np.partition(values, len(values) - k)[len(values) - k]
    best: NDArray[np.int64] = rows[values >= last]
    return best
