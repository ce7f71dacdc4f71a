"""How often does each unit occur in each bootstrap resample?

A resample of n units draws n of them with replacement (Efron 1979). Every statistic here depends on
a resample only through the counts, so a resample is a row of counts and a weighted mean is one
matrix product, shared by all columns. To resample whole clusters, draw cluster counts and give each
unit the count of its cluster.

Rows come one after another from one generator, so the counts depend on ``(n, resamples, seed)``
alone. They arrive in blocks that fit the processor's cache; how large a block is changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from assay import interrupt
from assay.stats.inputs import check_sampling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from assay.model.arrays import IntArray

BLOCK_CELLS: Final = 65_536
"""Counts per block: 0.5 MB, small enough for the second-level cache."""


def rows_per_block(n: int, block_cells: int = BLOCK_CELLS) -> int:
    """How many resamples of n units make one block."""
    return max(1, block_cells // max(n, 1))


def endless_counts(n: int, seed: int, rows: int) -> Iterator[IntArray]:
    """The counts of resamples of n units without end, ``rows`` of them at a time."""
    rng = np.random.default_rng(seed)
    scratch = np.empty((rows, n), dtype=np.int64)
    while True:
        interrupt.check()
        yield _counts(rng.integers(0, n, size=(rows, n), dtype=np.int32), n, scratch)


def count_blocks(
    n: int, resamples: int, seed: int, *, block_cells: int = BLOCK_CELLS
) -> Iterator[IntArray]:
    """All resamples' counts, block by block; each block has n columns."""
    check_sampling(resamples, seed)
    rows = rows_per_block(n, block_cells)
    starts = range(0, resamples, rows)
    for start, counts in zip(starts, endless_counts(n, seed, rows), strict=False):
        yield counts[: resamples - start]


def _counts(draws: NDArray[np.int32] | IntArray, n: int, scratch: IntArray) -> IntArray:
    """Count each row's draws, all rows in one pass: row r counts from r n."""
    rows = len(draws)
    shifted = np.add(draws, n * np.arange(rows)[:, None], out=scratch[:rows])
    return np.bincount(shifted.ravel(), minlength=rows * n).reshape(rows, n)
