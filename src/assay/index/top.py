"""Which rows have the largest scores?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import compiled

GROUPS = 64
TIES = 1_000  # with more ties than this, array operations do it


def best_rows(scores: NDArray[Any], k: int, floor: float = -np.inf) -> NDArray[np.int64]:
    """The rows of the k largest scores above ``floor``, and all rows that tie with the last."""
    found = _compiled(scores, k, floor)
    return _by_arrays(scores, k, floor) if found is None else found


def _compiled(scores: NDArray[Any], k: int, floor: float) -> NDArray[np.int64] | None:
    """The same in one compiled call without the GIL; None if not compiled or too many rows tie."""
    library = compiled.library()
    if library is None or scores.dtype != np.float32 or not scores.flags.c_contiguous or k < 1:
        return None
    heap = np.empty(min(k, len(scores) + 1), dtype=np.float32)
    rows = np.empty(min(len(scores), 2 * k + TIES), dtype=np.int64)
    kept = np.empty(len(rows), dtype=np.float32)
    count = library.assay_best(
        scores.ctypes.data, len(scores), len(heap), floor,
        heap.ctypes.data, rows.ctypes.data, kept.ctypes.data, len(rows),
    )  # fmt: skip
    return None if count < 0 else rows[:count]


def _by_arrays(scores: NDArray[Any], k: int, floor: float) -> NDArray[np.int64]:
    """The same by array operations.

    Rows are arranged in columns of 64. The k-th largest of the columns' maxima is no larger than
    the k-th largest score, so two quick passes leave few candidates.
    """
    whole = len(scores) - len(scores) % GROUPS
    bound = floor
    if whole > k * GROUPS:
        maxima = scores[:whole].reshape(GROUPS, -1).max(axis=0)
        bound = _kth_largest(maxima, k)
    rows = np.flatnonzero(scores >= bound if bound > floor else scores > floor)
    if len(rows) <= k:
        return rows
    values = scores[rows]
    best: NDArray[np.int64] = rows[values >= _kth_largest(values, k)]
    return best


def _kth_largest(values: NDArray[Any], k: int) -> float:
    return float(np.partition(values, len(values) - k)[len(values) - k])
