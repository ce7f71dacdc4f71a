"""Do the decision measures equal scikit-learn's, and explain what it cannot answer?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from assay.errors import InputError, UsageError
from assay.measures import classification
from assay.measures.classification import Confusion, MeasureValue

if TYPE_CHECKING:
    from collections.abc import Callable

AT_THRESHOLD = [
    classification.sensitivity,
    classification.specificity,
    classification.precision,
    classification.npv,
    classification.f1,
]
RANKED = [classification.auroc, classification.auprc]
CALIBRATED = [classification.brier, classification.ece]


@st.composite
def _judged(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Both classes, with few distinct scores, so that ties are heavy."""
    rows = draw(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=0, max_size=40))
    labels = [True, False] + [label for label, _ in rows]
    scores = [draw(st.integers(0, 8)), draw(st.integers(0, 8))] + [score for _, score in rows]
    return np.array(labels), np.array(scores) / 8


@pytest.mark.slow
@pytest.mark.req("M1")
@settings(deadline=None, max_examples=60)
@given(_judged())
def test_rankings_equal_scikit_learn(data: tuple[np.ndarray, np.ndarray]) -> None:
    labels, scores = data
    assert classification.auroc(labels, scores).value == pytest.approx(
        metrics.roc_auc_score(labels, scores), abs=1e-12
    )
    assert classification.auprc(labels, scores).value == pytest.approx(
        metrics.average_precision_score(labels, scores), abs=1e-12
    )


@pytest.mark.slow
@pytest.mark.req("M1")
@settings(deadline=None, max_examples=60)
@given(_judged(), st.integers(0, 9))
def test_thresholds_equal_scikit_learn(data: tuple[np.ndarray, np.ndarray], step: int) -> None:
    labels, scores = data
    called = scores >= step / 8
    (tn, fp), (fn, tp) = metrics.confusion_matrix(labels, called, labels=[False, True]).tolist()
    assert classification.confusion_at(labels, scores, step / 8) == Confusion(tp, fp, tn, fn)
    expected = {
        classification.sensitivity: metrics.recall_score(labels, called),
        classification.specificity: metrics.recall_score(~labels, ~called),
        classification.precision: metrics.precision_score(labels, called) if tp + fp else None,
        classification.npv: metrics.precision_score(~labels, ~called) if tn + fn else None,
        classification.f1: metrics.f1_score(labels, called),
    }
    for measure, value in expected.items():
        ours = measure(labels, scores, step / 8)
        assert ours.value == (None if value is None else pytest.approx(value, abs=1e-12))
        assert (ours.reason is None) == (value is not None)


@settings(deadline=None, max_examples=60)
@given(_judged(), st.sampled_from([0.0, 0.01, 0.03, 0.05, 0.1, 0.5, 1.0]))
def test_tpr_at_fpr_is_the_best_point_of_the_curve(
    data: tuple[np.ndarray, np.ndarray], limit: float
) -> None:
    labels, scores = data
    fpr, tpr, _ = metrics.roc_curve(labels, scores, drop_intermediate=False)
    ours = classification.tpr_at_fpr(labels, scores, limit)
    assert ours.value == pytest.approx(tpr[fpr <= limit + 1e-12].max(), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(_judged())
def test_brier_equals_scikit_learn(data: tuple[np.ndarray, np.ndarray]) -> None:
    labels, scores = data
    ours = classification.brier(labels, scores)
    assert ours.value == pytest.approx(metrics.brier_score_loss(labels, scores), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(_judged(), st.integers(1, 12))
def test_ece_follows_its_definition(data: tuple[np.ndarray, np.ndarray], bins: int) -> None:
    labels, scores = data
    expected = 0.0
    for k in range(bins):
        last = k == bins - 1
        inside = (scores >= k / bins) & ((scores < (k + 1) / bins) | last)
        if inside.any():
            expected += inside.mean() * abs(scores[inside].mean() - labels[inside].mean())
    assert classification.ece(labels, scores, bins).value == pytest.approx(expected, abs=1e-12)


def test_ece_bins_hold_their_lower_edge() -> None:
    """0.3 lies in [0.3, 0.4): with 0.25 in another bin, the two errors do not cancel."""
    ours = classification.ece([False, True], [0.3, 0.25])
    assert ours.value == pytest.approx((0.3 + 0.75) / 2)
    assert classification.ece([True, True], [1.0, 0.95]).value == pytest.approx(0.025)


def test_tpr_at_fpr_allows_exactly_the_limit() -> None:
    labels = np.array([False] * 100 + [True] * 10)
    scores = np.concatenate((np.arange(100.0), np.full(10, 92.5)))
    assert classification.tpr_at_fpr(labels, scores, 0.07).value == 1.0
    assert classification.tpr_at_fpr(labels, scores, 0.069).value == 0.0


def test_large_random_data_equal_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    labels = rng.random(5_000) < 0.2
    scores = np.round(rng.normal(size=5_000) + labels, 2)
    assert classification.auroc(labels, scores).value == pytest.approx(
        metrics.roc_auc_score(labels, scores), abs=1e-12
    )
    assert classification.auprc(labels, scores).value == pytest.approx(
        metrics.average_precision_score(labels, scores), abs=1e-12
    )


def test_no_result_ranks_below_everything_and_is_never_called() -> None:
    labels = [True, False, True, False]
    scores = [0.9, 0.4, -math.inf, -math.inf]
    finite = [0.9, 0.4, -5.0, -5.0]
    for measure in RANKED:
        assert measure(labels, scores) == measure(labels, finite)
    assert classification.confusion_at(labels, scores, -1e300) == Confusion(1, 1, 1, 1)
    assert classification.tpr_at_fpr(labels, scores, 1.0).value == 0.5
    for calibrated in CALIBRATED:
        assert calibrated(labels, scores) == calibrated(labels, [0.9, 0.4, 0.0, 0.0])


@pytest.mark.parametrize("measure", RANKED)
@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ([], "there are no queries"),
        ([1, 1], "there is one class only: no query is negative"),
        ([0], "there is one class only: no query is positive"),
    ],
)
def test_one_class_is_undefined_with_the_reason(
    measure: Callable[[list[int], list[float]], MeasureValue], labels: list[int], reason: str
) -> None:
    scores = [0.5] * len(labels)
    assert measure(labels, scores) == MeasureValue(None, reason)
    assert classification.tpr_at_fpr(labels, scores, 0.1) == MeasureValue(None, reason)


def test_empty_denominators_are_explained() -> None:
    assert classification.sensitivity([0], [1.0], 0.5) == MeasureValue(None, "no query is positive")
    assert classification.specificity([1], [1.0], 0.5) == MeasureValue(None, "no query is negative")
    assert classification.precision([1], [0.1], 0.5).reason is not None
    assert classification.npv([1], [0.9], 0.5).reason is not None
    assert classification.f1([0], [0.1], 0.5).value is None
    assert classification.f1([1], [0.1], 0.5).value == 0.0
    for measure in AT_THRESHOLD:
        assert measure([], [], 0.5).value is None
    for calibrated in CALIBRATED:
        assert calibrated([], []) == MeasureValue(None, "there are no queries")


def test_scores_that_are_no_probabilities_are_explained() -> None:
    for calibrated in CALIBRATED:
        ours = calibrated([1, 0], [0.5, 12.5])
        assert ours == MeasureValue(None, "scores are not probabilities: scores[1] is 12.5")
        assert calibrated([1, 0], [-0.1, 0.5]).value is None
        assert calibrated([1], [0.5]).value is not None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_bad_scores_are_named(bad: float) -> None:
    for measure in RANKED + CALIBRATED:
        with pytest.raises(InputError, match=rf"scores\[1\] is {bad}"):
            measure([0, 1], [0.5, bad])
    with pytest.raises(InputError, match=r"scores\[0\]"):
        classification.f1([0, 1], [bad, 0.1], 0.5)


def test_bad_labels_and_options_are_refused() -> None:
    with pytest.raises(InputError, match=r"labels\[1\] is 2"):
        classification.auroc([0, 2], [0.1, 0.2])
    with pytest.raises(InputError, match=r"labels\[0\] is a"):
        classification.auroc(["a", "b"], [0.1, 0.2])
    with pytest.raises(InputError, match="do not pair"):
        classification.auroc([0, 1], [0.1])
    with pytest.raises(InputError, match="numbers"):
        classification.auroc([0, 1], ["x", "y"])
    with pytest.raises(UsageError, match="threshold"):
        classification.f1([0, 1], [0.1, 0.2], math.nan)
    with pytest.raises(UsageError, match="false positive rate"):
        classification.tpr_at_fpr([0, 1], [0.1, 0.2], 5)
    with pytest.raises(UsageError, match="bins"):
        classification.ece([0, 1], [0.1, 0.2], 0)


def test_the_input_is_left_alone() -> None:
    labels, scores = np.array([True, False]), np.array([-math.inf, 0.5])
    classification.brier(labels, scores)
    classification.auroc(labels, scores)
    assert labels.tolist() == [True, False]
    assert scores.tolist() == [-math.inf, 0.5]
