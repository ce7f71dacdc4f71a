"""Which rows have the largest scores?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

GROUPS = 64


def best_rows(scores: NDArray[Any], k: int, floor: float = -np.inf) -> NDArray[np.int64]:
    """The rows of the k largest scores above ``floor``, with all that tie with the last of them.

    Rows are dealt out into columns of 64. The k-th largest of the columns' maxima is no larger than
    the k-th largest score, so that two quick passes leave little to look at more closely.
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
