"""How well do scores tell queries that have evidence from queries that have none?

Kernels of the ``all_queries`` protocol over one label and one score per query. With TP, FP, TN and
FN the counts at ``score >= t``, P the positives and N the negatives:

    AUROC        share of (positive, negative) pairs in the right order, ties one half
                 (Hanley and McNeil 1982)
    AUPRC        Σ (recall step) · precision over the distinct scores: step-wise average precision,
                 tied scores are one threshold, nothing is interpolated
    sensitivity  TP / P             specificity  TN / N
    precision    TP / (TP + FP)     NPV          TN / (TN + FN)
    F1           2 TP / (2 TP + FP + FN)
    TPR at FPR   the largest TP / P among thresholds with FP / N <= limit, not interpolated; calling
                 no query positive is always allowed, so it is at least 0
    Brier        mean (score - label)² (Brier 1950)
    ECE          Σ over equal-width bins of (bin's share) · |mean score - share of positives|
                 (Naeini et al. 2015); a bin holds its lower edge, the last bin also holds 1

A score of −inf means that no result came back: it ranks below every other, is never at or above a
threshold, and is the probability 0. An empty denominator gives ``None`` and the reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.model.arrays import BoolArray, FloatArray, IntArray

NO_QUERIES = "there are no queries"
NO_POSITIVES = "no query is positive"
NO_NEGATIVES = "no query is negative"
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class MeasureValue:
    """A measured value, or ``None`` and the reason why there is none.

    ``n`` counts what a share is of, for measures that say so, and ``values`` are those it is the
    mean of.
    """

    value: float | None
    reason: str | None = None
    n: int | None = None
    values: tuple[float, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Confusion:
    """How many queries fall on each side of a threshold, by label."""

    tp: int
    fp: int
    tn: int
    fn: int


def auroc(labels: ArrayLike, scores: ArrayLike) -> MeasureValue:
    """The chance that a positive query scores above a negative one, ties one half."""
    truth, points = _read(labels, scores)
    missing = _missing_class(truth)
    if missing:
        return MeasureValue(None, missing)
    caught, wrong = _running_counts(truth, points)
    steps = np.diff(wrong, prepend=0)
    twice_right = int(np.sum(steps * (2 * caught - np.diff(caught, prepend=0))))
    return MeasureValue(twice_right / (2 * int(caught[-1]) * int(wrong[-1])))


def auprc(labels: ArrayLike, scores: ArrayLike) -> MeasureValue:
    """Average precision over the score thresholds, step-wise."""
    truth, points = _read(labels, scores)
    missing = _missing_class(truth)
    if missing:
        return MeasureValue(None, missing)
    caught, wrong = _running_counts(truth, points)
    steps = np.diff(caught, prepend=0)
    return MeasureValue(float(np.sum(steps * (caught / (caught + wrong)))) / int(caught[-1]))


def confusion_at(labels: ArrayLike, scores: ArrayLike, threshold: float) -> Confusion:
    """Counts by label and by ``score >= threshold``."""
    truth, points = _read(labels, scores)
    if not math.isfinite(threshold):
        raise UsageError(f"threshold is {threshold}", hint="give a finite number")
    called = points >= threshold
    tp, positives = int(np.count_nonzero(truth & called)), int(np.count_nonzero(truth))
    fp = int(np.count_nonzero(called)) - tp
    return Confusion(tp=tp, fp=fp, tn=truth.size - positives - fp, fn=positives - tp)


def sensitivity(labels: ArrayLike, scores: ArrayLike, threshold: float) -> MeasureValue:
    """The share of positive queries at or above the threshold."""
    counts = confusion_at(labels, scores, threshold)
    return _ratio(counts.tp, counts.tp + counts.fn, NO_POSITIVES)


def specificity(labels: ArrayLike, scores: ArrayLike, threshold: float) -> MeasureValue:
    """The share of negative queries below the threshold."""
    counts = confusion_at(labels, scores, threshold)
    return _ratio(counts.tn, counts.tn + counts.fp, NO_NEGATIVES)


def precision(labels: ArrayLike, scores: ArrayLike, threshold: float) -> MeasureValue:
    """The share of queries at or above the threshold that are positive."""
    counts = confusion_at(labels, scores, threshold)
    return _ratio(counts.tp, counts.tp + counts.fp, "no query scores at or above the threshold")


def npv(labels: ArrayLike, scores: ArrayLike, threshold: float) -> MeasureValue:
    """The share of queries below the threshold that are negative."""
    counts = confusion_at(labels, scores, threshold)
    return _ratio(counts.tn, counts.tn + counts.fn, "no query scores below the threshold")


def f1(labels: ArrayLike, scores: ArrayLike, threshold: float) -> MeasureValue:
    """The harmonic mean of precision and sensitivity at the threshold."""
    counts = confusion_at(labels, scores, threshold)
    below = 2 * counts.tp + counts.fp + counts.fn
    return _ratio(2 * counts.tp, below, "no query is positive or scores at or above the threshold")


def tpr_at_fpr(labels: ArrayLike, scores: ArrayLike, limit: float) -> MeasureValue:
    """The largest sensitivity whose false positive rate is at most ``limit``."""
    truth, points = _read(labels, scores)
    if not 0.0 <= limit <= 1.0:
        raise UsageError(f"the false positive rate is {limit}", hint="give a number from 0 to 1")
    missing = _missing_class(truth)
    if missing:
        return MeasureValue(None, missing)
    returned = points > -np.inf
    caught, wrong = _running_counts(truth[returned], points[returned])
    allowed = limit * np.count_nonzero(~truth) * (1.0 + ROUNDING)
    best = caught[wrong <= allowed].max(initial=0)
    return MeasureValue(int(best) / int(np.count_nonzero(truth)))


def brier(labels: ArrayLike, scores: ArrayLike) -> MeasureValue:
    """The mean squared distance of the scores, as probabilities, from the labels."""
    truth, points = _read(labels, scores)
    chances, reason = _probabilities(points)
    return MeasureValue(None if reason else float(np.mean((chances - truth) ** 2)), reason)


def ece(labels: ArrayLike, scores: ArrayLike, bins: int = 10) -> MeasureValue:
    """The mean gap between predicted and observed frequency over equal-width bins."""
    truth, points = _read(labels, scores)
    if bins < 1:
        raise UsageError(f"bins is {bins}", hint="give at least 1")
    chances, reason = _probabilities(points)
    if reason:
        return MeasureValue(None, reason)
    # Edges are k / bins and not a running sum, so that 0.3 lies in the bin that starts at 0.3.
    place = np.searchsorted(np.arange(1, bins) / bins, chances, side="right")
    predicted = np.bincount(place, weights=chances, minlength=bins)
    observed = np.bincount(place, weights=truth, minlength=bins)
    return MeasureValue(float(np.sum(np.abs(predicted - observed))) / truth.size)


def _read(labels: ArrayLike, scores: ArrayLike) -> tuple[BoolArray, FloatArray]:
    """Labels as booleans and scores as floats; refuses what is neither."""
    try:
        truth, points = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"labels or scores cannot be read as numbers: {error}") from error
    if truth.ndim != 1 or truth.shape != points.shape:
        raise InputError(
            f"labels of shape {truth.shape} do not pair with scores of shape {points.shape}",
            hint="give one label and one score per query",
        )
    _refuse(np.isnan(points) | (points == np.inf), points, "scores", "no result is −inf")
    if truth.dtype != np.bool_:
        _refuse(~np.isin(truth, (0, 1)), truth, "labels", "use true/false or 0/1")
    return truth.astype(np.bool_), points


def _refuse(bad: BoolArray, values: np.ndarray, name: str, hint: str) -> None:
    if bad.any():
        place = int(np.argmax(bad))
        raise InputError(f"{name}[{place}] is {values[place]}", hint=hint)


def _missing_class(truth: BoolArray) -> str | None:
    if truth.size == 0:
        return NO_QUERIES
    if truth.all():
        return f"there is one class only: {NO_NEGATIVES}"
    return None if truth.any() else f"there is one class only: {NO_POSITIVES}"


def _running_counts(truth: BoolArray, points: FloatArray) -> tuple[IntArray, IntArray]:
    """Positives and negatives at or above each distinct score, from the best score down."""
    order = np.argsort(-points, kind="stable")
    ordered = points[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)[: points.size])
    caught = np.cumsum(truth[order], dtype=np.int64)[ends]
    return caught, ends + 1 - caught


def _probabilities(points: FloatArray) -> tuple[FloatArray, str | None]:
    """The scores as probabilities, and why they cannot be."""
    if points.size == 0:
        return points, NO_QUERIES
    chances = np.where(points == -np.inf, 0.0, points)
    outside = (chances < 0.0) | (chances > 1.0)
    if not outside.any():
        return chances, None
    place = int(np.argmax(outside))
    return chances, f"scores are not probabilities: scores[{place}] is {points[place]:g}"


def _ratio(above: int, below: int, reason: str) -> MeasureValue:
    return MeasureValue(above / below) if below else MeasureValue(None, reason)
