"""What is the mean of what people would say, when they said it of a few and a judge of all?

Prediction-powered inference (Angelopoulos et al. 2023, "Prediction-powered inference", Science 382;
the tuning of Angelopoulos, Duchi and Zrnic 2023, "PPI++"). With labels y and predictions f of n
graded items, and predictions g of N further ones:

    mean = tuning · mean(g) + mean(y - tuning · f)
    error² = tuning² · var(g) / N + var(y - tuning · f) / n
    tuning = cov(y, f) / n / (var(g) / N + var(f) / n), cut to [0, 1]

The second term takes out what the judge gets wrong on average, so the mean is unbiased however bad
the judge is, as long as the graded items were drawn at random; a judge that is worth nothing gets a
tuning of 0, which leaves the mean of the labels.

Labels are few and mostly at one end, and judge and people seldom differ: a normal interval is then
too narrow, and leaves the values that there are. So items are added before the error is taken: z²/2
at either end, of which ``DIFFERENT`` each are items on which judge and people differ. The error
says how many labels the estimate is worth, and the interval is Wilson's of so many
(``stats/bounded.py``). With a tuning of 0 it is that of the labels; predictions are left
out where they widen it, and where labels of less than ``LEAST_APART`` items are at one of the ends,
since so few do not show what a judge is worth. Coverage by simulation:
``python -m bench.prediction_powered``.

``saved`` says how many labels more it would take for an interval as narrow without a judge. Claims
of one answer belong together: give their answers as ``clusters``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError, UsageError
from assay.model.sampling import DEFAULT_LEVEL
from assay.stats.bounded import (
    added_items,
    bounded_interval,
    grouped,
    scaled,
    sum_of_squares,
    unscaled,
    usual_size,
    worth,
)
from assay.stats.defaults import SAME
from assay.stats.inputs import check_share, number_vector
from assay.stats.interval import Interval
from assay.stats.shares import wilson

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike

    from assay.model.arrays import FloatArray

METHOD = "prediction-powered"
LEAST_LABELS = 2
LEAST_APART = 2.0
DIFFERENT = 0.5  # of an item, for either way in which a judge may differ


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
    clusters: Sequence[Hashable] | None = None,
    unlabelled_clusters: Sequence[Hashable] | None = None,
) -> PredictionPowered:
    """The mean with its interval; ``tuning`` fixes how far predictions count in both.

    ``labels`` and ``predictions`` are of the same items, drawn at random (with ``clusters``: whole
    clusters were drawn); ``unlabelled`` are the predictions of all others. ``bounds`` are the
    lowest and the highest value that they can have.
    """
    check_share(level, "level")
    if tuning is not None and not 0.0 <= tuning <= 1.0:
        raise UsageError(f"tuning is {tuning}", hint="give a number from 0 to 1, or none")
    y, f = number_vector(labels, "labels"), number_vector(predictions, "predictions")
    g = number_vector(unlabelled, "unlabelled")
    if len(y) != len(f):
        raise InputError(f"{len(y)} labels and {len(f)} predictions of the same items")
    sample = _Sample(
        scaled(y, bounds, "labels"),
        scaled(f, bounds, "predictions"),
        scaled(g, bounds, "predictions"),
        grouped(clusters, len(y)),
        grouped(unlabelled_clusters, len(g)),
        level,
    )
    n, more = len(y), len(g)
    every = np.concatenate([f, g])
    found = PredictionPowered(
        mean=None,
        interval=_nothing(n, level),
        labelled=float(y.mean()) if n else None,
        labelled_interval=_nothing(n, level)
        if n < LEAST_LABELS
        else bounded_interval(y, level=level, bounds=bounds, clusters=clusters),
        predicted=float(every.mean()) if len(every) else None,
        bias=float((f - y).mean()) if n else None,
        n=n,
        unlabelled=more,
        tuning=None,
        saved=None,
    )
    if n < LEAST_LABELS or more < LEAST_LABELS:
        return _undefined(found, n)
    chosen = sample.tuning() if tuning is None else tuning
    plain = sample.mean(chosen)
    mean = min(max(plain, 0.0), 1.0)
    alone, joint = worth(sample.y, sample.groups, level), sample.worth(chosen)
    low, high = wilson(mean, joint, level)
    outside = f"the estimate is {unscaled(plain, bounds):.4f}, outside of what is possible"
    return replace(
        found,
        mean=unscaled(mean, bounds),
        interval=Interval(
            low=unscaled(low, bounds),
            high=unscaled(high, bounds),
            level=level,
            method=METHOD,
            n=n,
            clusters=found.labelled_interval.clusters,
        ),
        tuning=chosen,
        saved=max(0, int(joint - alone)),
        reason=None if abs(mean - plain) <= SAME else outside,
    )


@dataclass(frozen=True, slots=True)
class _Sample:
    """Labels, their predictions and further ones, each from 0 to 1."""

    y: FloatArray
    f: FloatArray
    g: FloatArray
    groups: FloatArray | None
    more_groups: FloatArray | None
    level: float

    def mean(self, tuning: float) -> float:
        """The estimate, wherever it lies."""
        return float(tuning * self.g.mean() + (self.y - tuning * self.f).mean())

    def worth(self, tuning: float) -> float:
        """How many labels the estimate is worth."""
        n, (middle, squared) = len(self.y), self._error(tuning)
        size = usual_size(self.groups, n)
        added = size * added_items(self.level)
        least = size / (n + added)
        middle = min(max(middle, least), 1.0 - least)
        return middle * (1.0 - middle) / squared * n / (n + added)

    def tuning(self) -> float:
        """How far predictions count: as far as they make the error smaller."""
        n, more = len(self.y), len(self.g)
        spread = float(self.g.var()) / more + float(self.f.var()) / n
        apart = min(float(self.y.sum()), float((1.0 - self.y).sum()))
        if spread <= SAME or apart < LEAST_APART:
            return 0.0
        together = float(((self.y - self.y.mean()) * (self.f - self.f.mean())).mean()) / n
        chosen = min(1.0, max(0.0, together / spread))
        return chosen if self._error(chosen)[1] < self._error(0.0)[1] else 0.0

    def _error(self, tuning: float) -> tuple[float, float]:
        """The mean and its squared error, with the items that are added."""
        size = usual_size(self.groups, len(self.y))
        alike = size * (added_items(self.level) / 2.0 - DIFFERENT)
        weights = np.array([alike, alike, size * DIFFERENT, size * DIFFERENT])
        residual = self.y - tuning * self.f
        added = np.array([1.0 - tuning, 0.0, 1.0, -tuning])
        whole = len(residual) + float(weights.sum())
        centre = (float(residual.sum()) + float((weights * added).sum())) / whole
        squares = sum_of_squares(residual - centre, self.groups)
        squares += size * float((weights * (added - centre) ** 2).sum())
        mean, more = float(self.g.mean()), len(self.g)
        by_judge = sum_of_squares(self.g - mean, self.more_groups) / more / (more - 1)
        fitted = 2.0 if tuning else 0.0  # mean and tuning come from the same items
        squared = tuning**2 * by_judge + squares / whole / (whole - fitted)
        return tuning * mean + centre, squared


def _nothing(n: int, level: float) -> Interval:
    reason = "fewer than two items were graded by people"
    return Interval(low=None, high=None, level=level, method=METHOD, n=n, reason=reason)


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
