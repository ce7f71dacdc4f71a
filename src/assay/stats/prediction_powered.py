"""What is the mean of what people would say, when they said it of a few and a judge of all?

Prediction-powered inference (Angelopoulos et al. 2023, "Prediction-powered inference", Science 382;
the tuning of Angelopoulos, Duchi and Zrnic 2023, "PPI++"). With labels y and predictions f of n
graded items, and predictions g of N further ones:

    mean = tuning · mean(g) + mean(y - tuning · f)
    error² = tuning² · var(g) / N + var(y - tuning · f) / n
    tuning = cov(y, f) / ((1 + n/N) · var(f, g)), cut to [0, 1]

The second term takes out what the judge gets wrong on average, so the mean is unbiased however bad
the judge is, as long as the graded items were drawn at random; a judge that is worth nothing gets a
tuning of 0, which leaves the mean of the labels.

Where judge and people hardly ever differ, few labels show no spread, and the paper's interval is
too narrow. So half an item of each kind is added to the labelled ones before the interval is drawn:
lowest and highest label with lowest and highest prediction (Agresti and Min 2005, for differences
of paired shares). In simulation it then covers what it should from 30 labels on
(``python -m bench.prediction_powered``).

``saved`` says how many labels more it would take for an interval as narrow without a judge:
var(y) / error² - n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError, UsageError
from assay.model.sampling import DEFAULT_LEVEL
from assay.stats.defaults import SAME
from assay.stats.distributions import normal_quantile, t_quantile
from assay.stats.inputs import check_share, number_vector
from assay.stats.interval import Interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.model.arrays import FloatArray

METHOD = "prediction-powered"
LEAST_LABELS = 2
HALF = 0.5  # of an item


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPowered:
    """The mean by labels and predictions, beside those by either alone.

    ``predicted`` is the mean that the judge alone gives, which may be biased; ``bias`` is what the
    labels say that it is off by. ``labelled`` is the mean of the labels with its own interval.
    """

    mean: float | None
    interval: Interval
    labelled: float | None
    labelled_interval: Interval
    predicted: float | None
    bias: float | None
    n: int
    unlabelled: int
    tuning: float | None
    saved: int | None
    reason: str | None = None


def prediction_powered_mean(
    labels: ArrayLike,
    predictions: ArrayLike,
    unlabelled: ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    tuning: float | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> PredictionPowered:
    """The mean with its interval; ``tuning`` fixes how far predictions count (1: as in the paper).

    ``labels`` and ``predictions`` are of the same items, drawn at random; ``unlabelled`` are the
    predictions of all others. ``bounds`` are the lowest and the highest value that they can have.
    """
    check_share(level, "level")
    if tuning is not None and not 0.0 <= tuning <= 1.0:
        raise UsageError(f"tuning is {tuning}", hint="give a number from 0 to 1, or none")
    y, f = number_vector(labels, "labels"), number_vector(predictions, "predictions")
    g = number_vector(unlabelled, "unlabelled")
    if len(y) != len(f):
        raise InputError(f"{len(y)} labels and {len(f)} predictions of the same items")
    n, more = len(y), len(g)
    every = np.concatenate([f, g])
    by_labels = _t_interval(y, level)
    found = PredictionPowered(
        mean=None,
        interval=Interval(low=None, high=None, level=level, method=METHOD, n=n),
        labelled=float(y.mean()) if n else None,
        labelled_interval=by_labels,
        predicted=float(every.mean()) if len(every) else None,
        bias=float((f - y).mean()) if n else None,
        n=n,
        unlabelled=more,
        tuning=None,
        saved=None,
    )
    if n < LEAST_LABELS or more < LEAST_LABELS:
        return _undefined(found, n)
    chosen = _tuning(y, f, every, n, more) if tuning is None else tuning
    residual = y - chosen * f
    mean = float(chosen * g.mean() + residual.mean())
    squared = float(chosen**2 * g.var(ddof=1) / more + residual.var(ddof=1) / n)
    ends = np.array(bounds)
    added_y, added_f = (each.ravel() for each in np.meshgrid(ends, ends))
    centre, wide = _with_added(residual, added_y - chosen * added_f)
    centre = float(chosen * g.mean()) + centre
    spread = math.sqrt(float(chosen**2 * g.var(ddof=1) / more) + wide)
    reach = normal_quantile((1.0 + level) / 2.0) * spread
    reason = None
    if float(residual.var(ddof=1)) <= SAME:
        reason = (
            f"judge and people differ by the same on all {n} graded items: the interval does not "
            "know how few these are"
        )
    saved = None if squared <= SAME else max(0, math.floor(float(y.var(ddof=1)) / squared) - n)
    return PredictionPowered(
        mean=mean,
        interval=Interval(
            low=min(centre - reach, mean),
            high=max(centre + reach, mean),
            level=level,
            method=METHOD,
            n=n,
            reason=reason,
        ),
        labelled=found.labelled,
        labelled_interval=by_labels,
        predicted=found.predicted,
        bias=found.bias,
        n=n,
        unlabelled=more,
        tuning=chosen,
        saved=saved,
        reason=None,
    )


def _with_added(values: FloatArray, added: FloatArray) -> tuple[float, float]:
    """The mean and its squared error, with half an item of each added kind."""
    n = len(values) + HALF * len(added)
    mean = (float(values.sum()) + HALF * float(added.sum())) / n
    spread = float(((values - mean) ** 2).sum() + HALF * ((added - mean) ** 2).sum())
    return mean, spread / (n - 1.0) / n


def _tuning(y: FloatArray, f: FloatArray, every: FloatArray, n: int, more: int) -> float:
    spread = float(every.var(ddof=1))
    if spread <= SAME:
        return 0.0
    together = float(((y - y.mean()) * (f - f.mean())).sum()) / (n - 1)
    return min(1.0, max(0.0, together / ((1.0 + n / more) * spread)))


def _t_interval(values: FloatArray, level: float) -> Interval:
    n = len(values)
    if n < LEAST_LABELS:
        reason = "fewer than two items have labels"
        return Interval(low=None, high=None, level=level, method="t", n=n, reason=reason)
    reach = t_quantile(n - 1, (1.0 + level) / 2.0) * float(values.std(ddof=1)) / math.sqrt(n)
    mean = float(values.mean())
    return Interval(low=mean - reach, high=mean + reach, level=level, method="t", n=n)


def _undefined(found: PredictionPowered, n: int) -> PredictionPowered:
    """Without labels there is no mean; without more predictions it is that of the labels."""
    if n < LEAST_LABELS:
        return replace(found, reason="fewer than two items were graded by people")
    return replace(
        found,
        mean=found.labelled,
        interval=found.labelled_interval,
        reason="a judge has hardly seen anything that people have not: the labels say it alone",
    )
