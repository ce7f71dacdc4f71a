"""How precise is a measure of yes/no decisions?

AUROC and AUPRC resample (label, score) pairs. Sensitivity, specificity, PPV, NPV and the Brier
score are means over a part of the queries, so the bootstrap of means serves them. For the others
no interval is given, and the reason says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.stats.bootstrap import bootstrap_means
from assay.stats.bootstrap_auc import bootstrap_ranking_quality
from assay.stats.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.evaluation.sampling import Sampling
    from assay.measures.base import Measure
    from assay.model.arrays import BoolArray, FloatArray

    Parts: TypeAlias = tuple[FloatArray, BoolArray]  # a value per query, and which of them count


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
