"""How good are yes/no decisions, given labels and scores, and how precisely is that known?

AUROC and AUPRC resample (label, score) pairs. Sensitivity, specificity, PPV, NPV and the Brier
score are means over a part of the queries, so the bootstrap of means serves them. Both draw
percentile or BCa intervals, as asked. For the others no interval is given, and the reason says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from assay.errors import UsageError
from assay.evaluation.defaults import DECISION_MEASURES
from assay.evaluation.scores import ci_method, ends, rounded
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.model.sampling import Sampling
from assay.model.tabular import Records, Tabular
from assay.stats.bootstrap import bootstrap_means
from assay.stats.bootstrap_auc import bootstrap_ranking_quality
from assay.stats.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from assay.measures.classification import MeasureValue
    from assay.model.arrays import BoolArray, FloatArray
    from assay.stats.delong import AurocEstimate

    Parts: TypeAlias = tuple[FloatArray, BoolArray]  # a value per query, and which of them count


@dataclass(frozen=True, slots=True)
class Decisions(Tabular):
    """The measures of labelled scores, with their intervals."""

    n: int
    positives: int
    outcomes: dict[Measure, MeasureValue]
    intervals: dict[Measure, Interval]
    delong: AurocEstimate
    sampling: Sampling = field(default_factory=Sampling)

    def records(self) -> Records:
        """A row for each measure."""
        return Records.of(
            {
                "measure": str(measure),
                "value": found.value,
                "ci_low": self.intervals[measure].low,
                "ci_high": self.intervals[measure].high,
                "reason": found.reason or self.intervals[measure].reason,
            }
            for measure, found in self.outcomes.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, rounded to 4 decimals."""
        return {
            "n": self.n,
            "positives": self.positives,
            "negatives": self.n - self.positives,
            "metrics": {m.key: rounded(o.value) for m, o in self.outcomes.items()},
            "aggregates": {
                m.key: {
                    "measure": str(m),
                    "value": rounded(o.value),
                    "reason": o.reason,
                    "ci": ends(self.intervals[m]),
                    "ci_method": ci_method(self.intervals[m]),
                    "ci_reason": self.intervals[m].reason,
                }
                for m, o in self.outcomes.items()
            },
            "delong": {
                "standard_error": rounded(self.delong.standard_error),
                "ci": ends(self.delong.interval),
                "reason": self.delong.reason,
            },
            "sampling": self.sampling.to_dict(),
        }


def classify(
    labels: ArrayLike,
    scores: ArrayLike,
    measures: str | Iterable[str | Measure] = DECISION_MEASURES,
    *,
    sampling: Sampling | None = None,
    clusters: Sequence[str] | None = None,
) -> Decisions:
    """Measure decisions: ``assay.classify(labels, scores, "AUROC AUPRC Sensitivity(t=0.3)")``."""
    from assay.stats.delong import delong

    asked = parse_measures(measures)
    for measure in asked:
        if measure.definition.family is not Family.DECISION:
            raise UsageError(f"{measure} is not a measure of decisions", hint="see: assay measures")
    truth, points = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    sampling = sampling or Sampling()
    groups = None if clusters is None else tuple(clusters)
    outcomes = {measure: measure.decide(truth, points) for measure in asked}
    truth = truth.astype(np.bool_)
    return Decisions(
        n=len(truth),
        positives=int(truth.sum()),
        outcomes=outcomes,
        intervals={m: decision_interval(m, truth, points, sampling, groups) for m in asked},
        delong=delong(truth, points, level=sampling.level),
        sampling=sampling,
    )


def _share(chosen: BoolArray) -> FloatArray:
    return chosen.astype(np.float64)


_AS_MEANS: dict[str, Callable[[BoolArray, FloatArray, Measure], Parts]] = {
    "Sensitivity": lambda labels, scores, m: (_share(scores >= m.number("t")), labels),
    "Specificity": lambda labels, scores, m: (_share(scores < m.number("t")), ~labels),
    "PPV": lambda labels, scores, m: (_share(labels), scores >= m.number("t")),
    "NPV": lambda labels, scores, m: (_share(~labels), scores < m.number("t")),
    "Brier": lambda labels, scores, _: (
        (np.where(np.isneginf(scores), 0.0, scores) - labels) ** 2,
        np.ones(len(labels), dtype=np.bool_),
    ),
}


def decision_interval(
    measure: Measure,
    labels: BoolArray,
    scores: FloatArray,
    sampling: Sampling,
    clusters: tuple[str, ...] | None = None,
) -> Interval:
    """The confidence interval of a decision measure, or the reason why there is none."""
    outcome = measure.decide(labels, scores)
    if outcome.value is None:
        return _none(len(labels), sampling, outcome.reason)
    if measure.name in ("AUROC", "AUPRC"):
        quality = bootstrap_ranking_quality(
            labels,
            scores,
            clusters=clusters,
            method=sampling.method,
            level=sampling.level,
            resamples=sampling.resamples,
            seed=sampling.seed,
        )
        return quality.auroc_interval if measure.name == "AUROC" else quality.auprc_interval
    if measure.name not in _AS_MEANS:
        return _none(len(labels), sampling, f"no interval is computed for {measure.name}")
    values, counted = _AS_MEANS[measure.name](labels, scores, measure)
    (interval,) = bootstrap_means(
        values[:, None],
        defined=counted[:, None],
        clusters=clusters,
        method=sampling.method,
        level=sampling.level,
        resamples=sampling.resamples,
        seed=sampling.seed,
    )
    return interval


def _none(n: int, sampling: Sampling, reason: str | None) -> Interval:
    return Interval(
        low=None, high=None, level=sampling.level, method=sampling.method, n=n, reason=reason
    )
