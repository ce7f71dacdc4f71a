"""Which chunks share weighted terms with the query?

Impact postings in columns: for each term of the vocabulary the rows that have it and their
weights, which is a sparse matrix by columns. A query takes the columns of its terms and adds them
up per row, exactly. Arrays are mapped from the disk, so opening costs nothing and processes share
memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.errors import LimitError
from assay.model.vectors import SparseVector

MOST_POSTINGS = 2**31 - 1  # what a 32-bit number counts
STARTS, ROWS, WEIGHTS = "sparse_starts.npy", "sparse_rows.npy", "sparse_weights.npy"


def write_sparse(folder: Path, vectors: Sequence[SparseVector], vocabulary: int) -> None:
    """The postings of a segment's vectors, terms ascending, rows ascending within a term."""
    terms = np.concatenate([np.zeros(0, dtype=np.int32), *(v.terms for v in vectors)])
    weights = np.concatenate([np.zeros(0, dtype=np.float32), *(v.weights for v in vectors)])
    rows = np.repeat(np.arange(len(vectors), dtype=np.int32), [len(v.terms) for v in vectors])
    if len(terms) > MOST_POSTINGS:
        raise LimitError(f"{len(terms):,} weights in one segment", hint="use a sparser model")
    order = np.argsort(terms, kind="stable")
    starts = np.zeros(vocabulary + 1, dtype=np.int64)
    np.cumsum(np.bincount(terms, minlength=vocabulary), out=starts[1:])
    for name, array in ((STARTS, starts), (ROWS, rows[order]), (WEIGHTS, weights[order])):
        np.save(folder / name, array, allow_pickle=False)


class Postings:
    """The postings of one segment."""

    def __init__(self, folder: Path, rows: int) -> None:
        from scipy.sparse import csc_array

        # All numbers of one width: otherwise the matrix would be a copy in memory.
        starts = np.load(folder / STARTS, allow_pickle=False).astype(np.int32)
        at = np.load(folder / ROWS, mmap_mode="r", allow_pickle=False)
        weights = np.load(folder / WEIGHTS, mmap_mode="r", allow_pickle=False)
        self._columns = csc_array((weights, at, starts), shape=(rows, len(starts) - 1))

    def scores(self, query: SparseVector) -> NDArray[np.float32]:
        """The dot product of the query with every row, summed in the order of terms."""
        found: NDArray[np.float32] = self._columns[:, query.terms] @ query.weights
        return found
