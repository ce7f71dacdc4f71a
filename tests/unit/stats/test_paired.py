"""Does the paired t-test equal scipy's, and explain what scipy cannot answer?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.errors import UsageError
from assay.stats.paired import paired_t


@pytest.mark.req("E8")
@pytest.mark.parametrize("n", [2, 3, 10, 200])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_equals_scipy(n: int, level: float) -> None:
    rng = np.random.default_rng(n)
    a = rng.random(n)
    b = a + rng.normal(0.05, 0.2, n)
    ours, theirs = paired_t(a, b, level=level), stats.ttest_rel(b, a)
    ends = theirs.confidence_interval(level)
    assert ours.t == pytest.approx(theirs.statistic, rel=1e-10)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-10)
    assert ours.df == theirs.df == n - 1
    assert ours.difference == pytest.approx((b - a).mean())
    assert ours.effect_size == pytest.approx((b - a).mean() / (b - a).std(ddof=1))
    assert (ours.interval.low, ours.interval.high) == pytest.approx((ends.low, ends.high))
    assert ours.significant == (theirs.pvalue < 0.05)
    assert ours.reason is None


def test_tiny_p_values_keep_their_digits() -> None:
    a = np.linspace(0, 1, 50)
    b = a + 1 + np.random.default_rng(0).normal(scale=1e-3, size=50)
    assert paired_t(a, b).p == pytest.approx(stats.ttest_rel(b, a).pvalue, rel=1e-6)


def test_alpha_decides_significance() -> None:
    a, b = [0.0] * 5, [0.1, 0.2, 0.3, -0.1, 0.2]
    p = paired_t(a, b).p
    assert p is not None
    assert paired_t(a, b, alpha=p * 1.01).significant is True
    assert paired_t(a, b, alpha=p * 0.99).significant is False


def test_no_pairs_and_one_pair_are_undefined() -> None:
    none = paired_t([], [])
    assert (none.n, none.difference, none.p, none.significant) == (0, None, None, None)
    assert none.reason == "there are no pairs"
    one = paired_t([0.2], [0.5])
    assert one.difference == pytest.approx(0.3)
    assert (one.t, one.df, one.p, one.sd, one.effect_size) == (None, None, None, None, None)
    assert (one.interval.low, one.reason) == (None, "one pair has no spread")


def test_identical_runs_do_not_differ() -> None:
    ours = paired_t([0.3, 0.7, 1.0], [0.1 + 0.2, 0.7, 1.0])
    assert (ours.difference, ours.p, ours.significant, ours.effect_size) == (0.0, 1.0, False, 0.0)
    assert (ours.interval.low, ours.interval.high) == (0.0, 0.0)
    assert ours.reason == "the runs are identical"


def test_a_constant_difference_has_no_t() -> None:
    a = np.array([0.1, 0.2, 0.3, 0.7])
    ours = paired_t(a, a + 0.1)
    assert ours.difference == pytest.approx(0.1)
    assert (ours.t, ours.p, ours.significant, ours.effect_size) == (None, None, None, None)
    assert ours.interval.low == ours.interval.high == ours.difference
    assert ours.reason is not None
    assert "same amount" in ours.reason


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(st.floats(-1e50, 1e50), st.floats(-1e50, 1e50)), min_size=0, max_size=8))
def test_never_nan_and_always_explained(rows: list[tuple[float, float]]) -> None:
    ours = paired_t([a for a, _ in rows], [b for _, b in rows])
    for value in (ours.difference, ours.t, ours.p, ours.effect_size, ours.interval.low):
        assert value is None or math.isfinite(value)
    assert (ours.t is None) == (ours.reason is not None)


def test_bad_options_are_refused() -> None:
    with pytest.raises(UsageError, match="alpha"):
        paired_t([1.0], [2.0], alpha=5)
    with pytest.raises(UsageError, match="level"):
        paired_t([1.0], [2.0], level=0.0)
