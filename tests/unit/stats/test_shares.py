"""Intervals of shares, beside scipy's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from assay.stats.shares import wilson


@given(st.integers(1, 400), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_is_the_score_interval(n: int, data: st.DataObject, level: float) -> None:
    counted = data.draw(st.integers(0, n))
    low, high = wilson(counted / n, n, level)
    expected = binomtest(counted, n).proportion_ci(level, method="wilson")
    assert low == pytest.approx(expected.low, abs=1e-12)
    assert high == pytest.approx(expected.high, abs=1e-12)
    assert 0.0 <= low <= counted / n <= high <= 1.0


def test_a_perfect_share_of_few_is_not_certain() -> None:
    low, high = wilson(1.0, 12, 0.95)
    assert high == 1.0
    assert low == pytest.approx(0.7575, abs=5e-5)
