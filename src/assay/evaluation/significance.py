"""Is one run better than another, and can these queries tell?

Every other run is compared with the first, measure by measure, over the queries where both are
defined. The p-value is that of the paired randomization test, Holm-corrected over all comparisons
made; the paired t-test stands beside it. The verdict weighs it against the margin of equivalence.

Where the scores are clustered (by interview, by post), clusters are the unit of everything that
says what chance can do: signs are flipped per cluster, and the t-test, Wilcoxon's test, the effect
size and the detectable difference look at the clusters' shares (``stats/clustering.py``). Means,
wins and losses still count queries.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import UsageError
from assay.evaluation.scores import Scores, ends, rounded
from assay.plural import share_of
from assay.stats.bootstrap import bootstrap_means
from assay.stats.clustering import cluster_shares
from assay.stats.defaults import DEFAULT_ALPHA
from assay.stats.multiple import holm
from assay.stats.paired import paired_t
from assay.stats.power import minimum_detectable_effect
from assay.stats.randomization import randomization_tests
from assay.stats.verdict import Ruling, verdict
from assay.stats.wilcoxon import wilcoxon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.evaluation.result import EvaluationResult
    from assay.measures.base import Measure
    from assay.model.arrays import BoolArray, FloatArray
    from assay.stats.interval import Interval
    from assay.stats.paired import PairedT
    from assay.stats.randomization import Randomization
    from assay.stats.wilcoxon import Wilcoxon

DEFAULT_MARGIN = 0.01
log = logging.getLogger("assay.evaluation")


@dataclass(frozen=True, slots=True)
class Contrast:
    """One measure of one run against the baseline; differences are run − baseline.

    ``clusters`` counts what was tested instead of the ``n`` queries; None where that is queries.
    """

    run: str
    measure: Measure
    baseline: float | None
    value: float | None
    n: int
    difference: float | None
    interval: Interval
    randomization: Randomization
    t_test: PairedT
    wilcoxon: Wilcoxon
    holm_p: float | None
    effect_size: float | None
    detectable: float | None
    wins: int
    losses: int
    ruling: Ruling
    clusters: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, rounded to 4 decimals."""
        return {
            "run": self.run,
            "measure": str(self.measure),
            "baseline": rounded(self.baseline),
            "value": rounded(self.value),
            "n": self.n,
            "clusters": self.clusters,
            "difference": rounded(self.difference),
            "ci": ends(self.interval),
            "p_randomization": self.randomization.p,
            "p_holm": self.holm_p,
            "p_t": self.t_test.p,
            "t": rounded(self.t_test.t),
            "p_wilcoxon": self.wilcoxon.p,
            "effect_size": rounded(self.effect_size),
            "minimum_detectable_difference": rounded(self.detectable),
            "wins": self.wins,
            "losses": self.losses,
            "verdict": self.ruling.verdict.value,
            "explanation": self.ruling.sentence,
            "reason": self.t_test.reason,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every run against the first."""

    baseline: str
    contrasts: tuple[Contrast, ...]
    alpha: float
    margin: float

    def of(self, run: str) -> tuple[Contrast, ...]:
        """The contrasts of one run."""
        return tuple(contrast for contrast in self.contrasts if contrast.run == run)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "baseline": self.baseline,
            "alpha": self.alpha,
            "margin": self.margin,
            "correction": "holm",
            "contrasts": [contrast.to_dict() for contrast in self.contrasts],
        }


@dataclass(frozen=True, slots=True)
class _Table:
    """Both runs' values: a row for each query or cluster, a column for each measure."""

    a: FloatArray
    b: FloatArray
    defined: BoolArray

    def column(self, at: int) -> tuple[FloatArray, FloatArray]:
        """The pairs of one measure that are defined."""
        chosen = self.defined[:, at]
        return self.a[chosen, at], self.b[chosen, at]

    def by_cluster(self, clusters: Sequence[str] | None) -> _Table:
        """The clusters' shares; the queries themselves where there are no clusters."""
        if clusters is None:
            return self
        a, present = cluster_shares(self.a, self.defined, clusters)
        b, _ = cluster_shares(self.b, self.defined, clusters)
        return _Table(a, b, present)


@dataclass(frozen=True, slots=True)
class _Pair:
    """One run beside the baseline, ranking measures only; ``units`` are what is tested."""

    scores: Scores
    measures: tuple[Measure, ...]
    queries: _Table
    units: _Table
    clustered: bool
    intervals: tuple[Interval, ...]
    narrower: tuple[Interval, ...]
    tests: tuple[Randomization, ...]


def compare(
    baseline: Scores | EvaluationResult,
    *others: Scores | EvaluationResult,
    alpha: float = DEFAULT_ALPHA,
    margin: float = DEFAULT_MARGIN,
) -> Comparison:
    """Each of ``others`` against ``baseline``: what ``score`` or ``evaluate`` returned.

    All must cover the same queries and measures. Queries that failed or were degraded are logged.
    """
    first, *rest = (_scores_of(one) for one in (baseline, *others))
    if not rest:
        raise UsageError("there is nothing to compare with", hint="name two runs or more")
    pairs = [(first, other) for other in rest]
    return Comparison(first.name, contrast_pairs(pairs, alpha, margin), alpha, margin)


def _scores_of(compared: Scores | EvaluationResult) -> Scores:
    """What to compare; a run that is not whole is never compared without a word."""
    if isinstance(compared, Scores):
        return compared
    from assay.evaluation.result import EvaluationResult  # whoever scores files does not need it

    if not isinstance(compared, EvaluationResult):
        raise UsageError(
            f"a {type(compared).__name__} cannot be compared",
            hint="give what assay.score or assay.evaluate returned",
        )
    for ids, what in ((compared.failed, "failed"), (compared.degraded, "were degraded")):
        if ids:
            share = share_of(len(ids), len(compared.outcomes), "query")
            log.warning("%s: %s %s; compared as they are", compared.name, share, what)
    return compared.scores


def contrast_pairs(
    pairs: Sequence[tuple[Scores, Scores]],
    alpha: float = DEFAULT_ALPHA,
    margin: float = DEFAULT_MARGIN,
) -> tuple[Contrast, ...]:
    """The second of each pair against the first, all of them corrected together."""
    tested = [_pair(one, other, alpha) for one, other in pairs]
    adjusted = iter(holm([test.p for pair in tested for test in pair.tests]))
    return tuple(
        _contrast(pair, at, next(adjusted), alpha, margin)
        for pair in tested
        for at in range(len(pair.measures))
    )


def _pair(baseline: Scores, other: Scores, alpha: float) -> _Pair:
    if baseline.queries != other.queries:
        raise UsageError(
            f"{baseline.name} and {other.name} were scored over different queries",
            hint="score both against the same qrels",
        )
    measures = tuple(m for m in baseline.columns if m in other.columns)
    if not measures:
        raise UsageError(
            "there is no ranking measure to compare", hint="ask for one, such as nDCG@10"
        )
    queries = _Table(
        np.column_stack([baseline.columns[m].values for m in measures]),
        np.column_stack([other.columns[m].values for m in measures]),
        np.column_stack([baseline.columns[m].defined & other.columns[m].defined for m in measures]),
    )
    units = queries.by_cluster(baseline.clusters)
    sampling = baseline.sampling
    difference = np.where(queries.defined, queries.b - queries.a, 0.0)

    def intervals(level: float) -> tuple[Interval, ...]:
        return bootstrap_means(
            difference,
            defined=queries.defined,
            clusters=baseline.clusters,
            method=sampling.method,
            level=level,
            resamples=sampling.resamples,
            seed=sampling.seed,
        )

    return _Pair(
        scores=other,
        measures=measures,
        queries=queries,
        units=units,
        clustered=baseline.clusters is not None,
        intervals=intervals(sampling.level),
        # two one-sided tests at alpha ask for the interval of level 1 − 2 alpha
        narrower=intervals(1 - 2 * alpha),
        tests=randomization_tests(
            units.a,
            units.b,
            defined=units.defined,
            flips=sampling.resamples,
            seed=sampling.seed,
        ),
    )


def _contrast(pair: _Pair, at: int, holm_p: float | None, alpha: float, margin: float) -> Contrast:
    a, b = pair.queries.column(at)
    tested = pair.units.column(at)
    test = paired_t(*tested, alpha=alpha, level=pair.intervals[at].level)
    if pair.clustered:
        test = replace(test, reason=_cluster_reason(test))
    effect = minimum_detectable_effect(test.n, sd=test.sd, alpha=alpha)
    return Contrast(
        run=pair.scores.name,
        measure=pair.measures[at],
        baseline=_mean(a),
        value=_mean(b),
        n=len(a),
        difference=test.difference,
        interval=pair.intervals[at],
        randomization=pair.tests[at],
        t_test=test,
        wilcoxon=wilcoxon(*tested),
        holm_p=holm_p,
        effect_size=test.effect_size,
        detectable=effect.difference,
        wins=int((b > a).sum()),
        losses=int((b < a).sum()),
        ruling=verdict(
            test.difference,
            holm_p,
            pair.narrower[at],
            margin=margin,
            alpha=alpha,
            detectable=effect.difference,
        ),
        clusters=test.n if pair.clustered else None,
    )


def _cluster_reason(test: PairedT) -> str | None:
    """Why there is no t, where clusters are tested."""
    if test.n < 2:
        return "one cluster has no spread" if test.n else "there are no pairs"
    if test.sd != 0.0:
        return None
    if test.difference == 0.0:
        return "no cluster differs on the whole"
    return "every cluster differs by the same amount, so t is undefined"


def _mean(values: Sequence[float] | FloatArray) -> float | None:
    return float(np.mean(values)) if len(values) else None
