"""Intervals of shares, beside scipy's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from assay.errors import UsageError
from assay.stats.shares import share_interval


@given(st.integers(1, 400), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_is_the_score_interval(n: int, data: st.DataObject, level: float) -> None:
    counted = data.draw(st.integers(0, n))
    found = share_interval(counted / n, n, level)
    expected = binomtest(counted, n).proportion_ci(level, method="wilson")
    assert found.low == pytest.approx(expected.low, abs=1e-12)
    assert found.high == pytest.approx(expected.high, abs=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert 0.0 <= found.low <= counted / n <= found.high <= 1.0
    assert (found.n, found.method) == (n, "wilson")


def test_a_perfect_share_of_few_is_not_certain() -> None:
    found = share_interval(1.0, 12)
    assert found.high == 1.0
    assert found.low == pytest.approx(0.7575, abs=5e-5)


def test_of_nothing_there_is_no_interval() -> None:
    found = share_interval(None, 0)
    assert not found.defined
    assert found.reason == "there is nothing to count"


def test_a_level_outside_0_and_1_is_refused() -> None:
    with pytest.raises(UsageError, match="level is 1"):
        share_interval(0.5, 10, 1.0)
