"""Are DeLong's errors those of the definition?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from assay.errors import InputError
from assay.stats.delong import delong


def _kernel(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """1, one half or 0 for each (positive, negative) pair, by the definition."""
    hits, misses = scores[labels], scores[~labels]
    above = (hits[:, None] > misses[None, :]).astype(float)
    return np.asarray(above + 0.5 * (hits[:, None] == misses[None, :]))


def _data(n: int, decimals: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.4
    return labels, np.round(rng.normal(size=n) + labels, decimals)


@pytest.mark.parametrize("decimals", [8, 1, 0])
def test_error_and_interval_follow_the_definition(decimals: int) -> None:
    labels, scores = _data(80, decimals, 1)
    pairs = _kernel(labels, scores)
    error = math.sqrt(
        pairs.mean(axis=1).var(ddof=1) / len(pairs)
        + pairs.mean(axis=0).var(ddof=1) / pairs.shape[1]
    )
    ours = delong(labels, scores)
    assert ours.auroc == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert ours.standard_error == pytest.approx(error, rel=1e-10)
    assert (ours.interval.low, ours.interval.high) == pytest.approx(
        stats.norm.interval(0.95, pairs.mean(), error), abs=1e-12
    )
    assert (ours.positives, ours.negatives) == (labels.sum(), (~labels).sum())


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=0, max_size=25))
def test_never_nan_and_always_explained(rows: list[tuple[bool, int]]) -> None:
    labels, a = [label for label, _ in rows], [float(x) for _, x in rows]
    one = delong(labels, a)
    numbers = [one.auroc, one.standard_error, one.interval.low, one.interval.high]
    assert all(x is None or math.isfinite(x) for x in numbers)
    assert one.auroc is not None or one.reason
    if one.auroc is not None:
        assert one.auroc == pytest.approx(roc_auc_score(labels, a), abs=1e-12)


def test_ends_stay_between_zero_and_one() -> None:
    labels = [1, 1, 1, 0, 0, 0]
    ours = delong(labels, [5.0, 4.0, 2.0, 3.0, 1.0, 0.0])
    assert ours.interval.high == 1.0
    assert ours.interval.low is not None
    assert ours.interval.low >= 0.0


@pytest.mark.parametrize("labels", [[], [1], [1, 1], [0, 0, 0]])
def test_one_class_is_undefined_with_the_reason(labels: list[int]) -> None:
    scores = [0.5] * len(labels)
    reason = "there is one class only" if labels else "there are no pairs"
    ours = delong(labels, scores)
    assert (ours.auroc, ours.standard_error, ours.interval.low, ours.reason) == (
        None,
        None,
        None,
        reason,
    )


def test_one_positive_has_an_estimate_but_no_error() -> None:
    ours = delong([1, 0, 0], [2.0, 1.0, 3.0])
    assert (ours.auroc, ours.standard_error) == (0.5, None)
    assert ours.reason == ours.interval.reason == "it takes two of each class to estimate the error"


def test_perfect_separation_is_degenerate_and_says_so() -> None:
    ours = delong([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0])
    assert (ours.auroc, ours.standard_error) == (1.0, 0.0)
    assert (ours.interval.low, ours.interval.high) == (1.0, 1.0)
    assert ours.reason is not None


def test_no_result_ranks_below_everything() -> None:
    labels, a = _data(40, 1, 4)
    low = np.where(np.arange(40) < 9, -np.inf, a)
    finite = np.where(np.arange(40) < 9, -99.0, a)
    assert delong(labels, low) == delong(labels, finite)


def test_bad_scores_are_named() -> None:
    with pytest.raises(InputError, match=r"scores\[1\] is nan"):
        delong([0, 1], [0.1, math.nan])
