"""How good are yes/no decisions, given labels and scores?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import UsageError
from assay.evaluation.decision_intervals import decision_interval
from assay.evaluation.sampling import Sampling
from assay.evaluation.scores import ends, rounded
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from assay.measures.classification import Outcome
    from assay.stats.delong import AurocEstimate
    from assay.stats.interval import Interval

DEFAULT_DECISION_MEASURES = (
    "AUROC AUPRC Sensitivity Specificity PPV NPV F1 TPR(fpr={0.01,0.03,0.05,0.1})"
)


@dataclass(frozen=True, slots=True)
class Decisions:
    """The measures of labelled scores, with their intervals."""

    n: int
    positives: int
    outcomes: dict[Measure, Outcome]
    intervals: dict[Measure, Interval]
    delong: AurocEstimate
    sampling: Sampling = field(default_factory=Sampling)

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
                    "ci_reason": self.intervals[m].reason,
                }
                for m, o in self.outcomes.items()
            },
            "delong": {
                "standard_error": rounded(self.delong.standard_error),
                "ci": ends(self.delong.interval),
                "reason": self.delong.reason,
            },
            "sampling": {
                "method": self.sampling.method,
                "level": self.sampling.level,
                "resamples": self.sampling.resamples,
                "seed": self.sampling.seed,
            },
        }


def classify(
    labels: ArrayLike,
    scores: ArrayLike,
    measures: str | Iterable[str | Measure] = DEFAULT_DECISION_MEASURES,
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
