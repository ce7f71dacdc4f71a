"""Are the counts of a resample right, seeded, and independent of the block size?"""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import UsageError
from assay.stats.resample import BLOCK_CELLS, count_blocks, rows_per_block


def _all(n: int, resamples: int, seed: int, block_cells: int = BLOCK_CELLS) -> np.ndarray:
    return np.concatenate(list(count_blocks(n, resamples, seed, block_cells=block_cells)))


def test_each_resample_draws_n_units() -> None:
    counts = _all(17, 200, 1)
    assert counts.shape == (200, 17)
    assert (counts.sum(axis=1) == 17).all()
    assert counts.min() == 0


@pytest.mark.slow
@pytest.mark.parametrize("block_cells", [1, 17, 18, 101, 1_000, 10**7])
def test_the_block_size_changes_nothing(block_cells: int) -> None:
    assert np.array_equal(_all(17, 200, 1, block_cells), _all(17, 200, 1))


def test_counts_are_those_of_the_drawn_indices() -> None:
    drawn = np.random.default_rng(7).integers(0, 5, size=(3, 5))
    expected = [np.bincount(row, minlength=5).tolist() for row in drawn]
    assert _all(5, 3, 7).tolist() == expected


def test_seeds_reproduce_and_differ() -> None:
    assert np.array_equal(_all(9, 50, 3), _all(9, 50, 3))
    assert not np.array_equal(_all(9, 50, 3), _all(9, 50, 4))


def test_more_resamples_begin_with_the_same_ones() -> None:
    assert np.array_equal(_all(9, 50, 3), _all(9, 80, 3)[:50])


def test_units_are_drawn_equally_often() -> None:
    share = _all(10, 20_000, 5).mean(axis=0)
    assert share == pytest.approx(np.ones(10), abs=0.03)


def test_blocks_are_bounded() -> None:
    assert rows_per_block(6_980) * 6_980 <= BLOCK_CELLS
    assert rows_per_block(10**9) == 1
    assert rows_per_block(0) == BLOCK_CELLS


@pytest.mark.parametrize(("resamples", "seed"), [(0, 1), (-1, 1), (10**12, 1), (10, -1)])
def test_impossible_options_are_refused(resamples: int, seed: int) -> None:
    with pytest.raises(UsageError):
        list(count_blocks(3, resamples, seed))
