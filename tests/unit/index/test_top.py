"""Are the largest scores found, ties included, by looking at little?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.index.top import best_rows

pytestmark = pytest.mark.usefixtures("loops")


def by_sorting(scores: NDArray[np.float32], k: int, floor: float) -> list[int]:
    rows = [row for row, score in enumerate(scores.tolist()) if score > floor]
    best = sorted((scores[row] for row in rows), reverse=True)[:k]
    return [row for row in rows if best and scores[row] >= best[-1]]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    count=st.integers(0, 3_000),
    k=st.integers(1, 30),
    kinds=st.sampled_from([2, 7, 10_000]),
    floor=st.sampled_from([0.0, -np.inf]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_same_as_by_sorting(count: int, k: int, kinds: int, floor: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = (rng.integers(-1, kinds, size=count) / kinds).astype(np.float32)
    assert best_rows(scores, k, floor).tolist() == by_sorting(scores, k, floor)


@pytest.mark.parametrize("floor", [0.0, -np.inf])
def test_equal_scores_all_come_back(floor: float) -> None:
    scores = np.ones(10_000, dtype=np.float32)
    assert len(best_rows(scores, 5, floor)) == 10_000


@pytest.mark.parametrize("k", [1, 5, 100, 5_000])
def test_more_results_than_rows(k: int) -> None:
    scores = np.array([0.5, 0.25, 0.0, 0.25, 1.0], dtype=np.float32)
    assert best_rows(scores, k, 0.0).tolist() == by_sorting(scores, k, 0.0)
    assert best_rows(scores[:0], k, 0.0).tolist() == []


def test_columns_of_a_table_and_doubles_are_taken() -> None:
    table = np.arange(20, dtype=np.float32).reshape(10, 2)
    assert best_rows(table[:, 1], 2).tolist() == [8, 9]
    assert best_rows(table[:, 1].astype(np.float64), 2).tolist() == [8, 9]
