"""Does the signed-rank test equal scipy's, and full enumeration where scipy approximates?"""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.errors import UsageError
from assay.stats.wilcoxon import EXACT_LIMIT, wilcoxon

MODES: list[Literal["auto", "exact", "normal"]] = ["auto", "exact", "normal"]


def _enumerated(differences: np.ndarray, zeros: str) -> float:
    if zeros == "wilcoxon":
        differences = differences[differences != 0]
    ranks = stats.rankdata(np.abs(differences))[differences != 0]
    signs = differences[differences != 0] > 0
    plus = ranks[signs].sum()
    sums = np.array([np.dot(s, ranks) for s in itertools.product((0, 1), repeat=len(ranks))])
    return float(min(1.0, 2 * min(np.mean(sums <= plus), np.mean(sums >= plus))))


@pytest.mark.req("E8")
@pytest.mark.parametrize("n", [1, 2, 5, 12, 30, 50])
def test_equals_scipy_where_scipy_is_exact(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.random(n), rng.random(n)
    ours = wilcoxon(a, b)
    theirs = stats.wilcoxon(b - a, method="exact")
    assert ours.exact
    assert ours.p == pytest.approx(float(theirs.pvalue), rel=1e-10)
    assert ours.statistic == theirs.statistic


@pytest.mark.parametrize("zeros", ["wilcoxon", "pratt"])
@pytest.mark.parametrize("continuity", [False, True])
@pytest.mark.parametrize("kind", ["plain", "ties", "ties and zeros"])
def test_equals_scipy_in_the_normal_approximation(
    zeros: Literal["wilcoxon", "pratt"], continuity: bool, kind: str
) -> None:
    rng = np.random.default_rng(8)
    differences = {
        "plain": rng.normal(0.1, 1, 150),
        "ties": rng.choice([-3, -2, -1, 1, 2, 3, 4], 150),
        "ties and zeros": rng.integers(-2, 4, 150),
    }[kind].astype(float)
    ours = wilcoxon(np.zeros(150), differences, zeros=zeros, continuity=continuity)
    theirs = stats.wilcoxon(
        differences,
        zero_method="wilcox" if zeros == "wilcoxon" else "pratt",
        correction=continuity,
        method="approx",
    )
    assert not ours.exact
    assert ours.p == pytest.approx(float(theirs.pvalue), rel=1e-10)
    assert ours.statistic == theirs.statistic
    assert ours.z is not None
    assert 2 * stats.norm.sf(abs(ours.z)) == pytest.approx(float(theirs.pvalue), rel=1e-10)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.sampled_from(["wilcoxon", "pratt"]))
def test_ties_and_zeros_equal_full_enumeration(
    grades: list[int], zeros: Literal["wilcoxon", "pratt"]
) -> None:
    differences = np.array(grades, dtype=float)
    ours = wilcoxon(np.zeros(len(grades)), differences, zeros=zeros)
    assert ours.exact
    assert ours.p == pytest.approx(_enumerated(differences, zeros), abs=1e-12)


def test_exact_and_normal_meet_at_the_limit() -> None:
    rng = np.random.default_rng(1)
    a = rng.random(EXACT_LIMIT)
    b = a + rng.normal(0.05, 0.2, EXACT_LIMIT)
    exact, normal = wilcoxon(a, b), wilcoxon(a, b, mode="normal", continuity=True)
    assert exact.exact
    assert not normal.exact
    assert normal.p == pytest.approx(exact.p, abs=0.003)
    assert not wilcoxon(np.append(a, 0.0), np.append(b, 1.0)).exact
    assert wilcoxon(np.append(a, 0.0), np.append(b, 1.0), mode="exact").exact


def test_rounding_does_not_break_ties() -> None:
    a = np.array([0.1, 0.2, 0.3, 0.7, 0.4, 0.5])
    b = a + np.array([0.1, 0.1, 0.1, -0.1, 0.2, 0.1])
    ours = wilcoxon(a, b)
    assert (ours.w_plus, ours.w_minus) == (18.0, 3.0)


def test_degenerate_inputs_are_explained() -> None:
    none = wilcoxon([], [])
    assert (none.p, none.statistic, none.reason) == (None, None, "there are no pairs")
    for mode in MODES:
        same = wilcoxon([0.3, 0.5], [0.1 + 0.2, 0.5], mode=mode)
        assert (same.p, same.nonzero, same.reason) == (1.0, 0, "the runs are identical")
    one = wilcoxon([0.0], [1.0])
    assert (one.p, one.statistic) == (1.0, 0.0)
    constant = wilcoxon([0.0] * 6, [0.1] * 6)
    assert constant.p == pytest.approx(2 / 64)


def test_bad_options_are_refused() -> None:
    with pytest.raises(UsageError, match="zeros"):
        wilcoxon([1.0], [2.0], zeros="zsplit")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="mode"):
        wilcoxon([1.0], [2.0], mode="fast")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="out of reach"):
        wilcoxon(np.zeros(1_000), np.ones(1_000), mode="exact")
