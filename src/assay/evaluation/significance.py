"""Is one run better than another, and can these queries tell?

Every other run is compared with the first, measure by measure, over the queries where both are
defined. There are two answers, and each is shown by its name:

    significant   seed 000's: the paired t-test of this measure alone, p_t < alpha
    verdict       the paired randomization test, Holm-corrected over all comparisons made, and the
                  margin of equivalence

They may differ, and ``Contrast.significance`` then says why.

Where the scores are clustered (by interview, by post), clusters are the unit of everything that
says what chance can do: signs are flipped per cluster, and the t-test, Wilcoxon's test, the effect
size and the detectable difference look at the clusters' shares (``stats/clustering.py``). Means,
wins and losses still count queries.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import UsageError
from assay.evaluation.scores import Scores, ci_method, ends, rounded, shown
from assay.model.tabular import Records, Tabular
from assay.plural import counted, share_of
from assay.stats.bootstrap import bootstrap_means
from assay.stats.clustering import cluster_shares
from assay.stats.defaults import DEFAULT_ALPHA
from assay.stats.multiple import holm
from assay.stats.paired import paired_t
from assay.stats.power import minimum_detectable_effect
from assay.stats.randomization import randomization_tests
from assay.stats.verdict import Ruling, Verdict, verdict
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
TESTS = {
    "significant": "paired t-test of each measure alone: p_t < alpha",
    "verdict": "paired randomization test, Holm-corrected over all comparisons, and the margin",
}
"""Which test each of the two answers rests on."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """One measure of one run against the baseline; differences are run − baseline.

    ``clusters`` counts what was tested instead of the ``n`` queries; None where that is queries.
    ``comparisons`` is how many p-values were corrected together.
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
    comparisons: int
    clusters: int | None = None

    @property
    def significant(self) -> bool | None:
        """Whether the paired t-test has p < alpha; None where it is undefined."""
        return self.t_test.significant

    @property
    def unit(self) -> str:
        """What is tested: queries, or the clusters they come in."""
        return "query" if self.clusters is None else "cluster"

    @property
    def decided(self) -> bool:
        """Whether the verdict is better or worse."""
        return self.ruling.verdict in (Verdict.BETTER, Verdict.WORSE)

    @property
    def leaves_out_zero(self) -> bool:
        """Whether the interval of the difference leaves out zero."""
        low, high = self.interval.low, self.interval.high
        return low is not None and high is not None and (low > 0.0 or high < 0.0)

    @property
    def disagrees(self) -> bool:
        """Whether t-test, interval and verdict do not point the same way."""
        return self.significant is not self.decided or (
            self.interval.defined and self.leaves_out_zero is not self.decided
        )

    @property
    def significance(self) -> str:
        """What the paired t-test says, and why the verdict says something else where it does."""
        return _account(self)

    def record(self) -> dict[str, object]:
        """Its row of a data frame, unrounded."""
        return {
            "run": self.run,
            "measure": str(self.measure),
            "baseline": self.baseline,
            "value": self.value,
            "difference": self.difference,
            "ci_low": self.interval.low,
            "ci_high": self.interval.high,
            "p_randomization": self.randomization.p,
            "p_holm": self.holm_p,
            "p_t": self.t_test.p,
            "effect_size": self.effect_size,
            "n": self.n,
            "wins": self.wins,
            "losses": self.losses,
            "verdict": self.ruling.verdict.value,
        }

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
            "ci_method": ci_method(self.interval),
            "ci_reason": self.interval.reason,
            "p_randomization": self.randomization.p,
            "p_holm": self.holm_p,
            "comparisons": self.comparisons,
            "p_t": self.t_test.p,
            "t": rounded(self.t_test.t),
            "p_wilcoxon": self.wilcoxon.p,
            "effect_size": rounded(self.effect_size),
            "minimum_detectable_difference": rounded(self.detectable),
            "wins": self.wins,
            "losses": self.losses,
            "significant": self.significant,
            "significance": self.significance,
            "verdict": self.ruling.verdict.value,
            "explanation": self.ruling.sentence,
            "reason": self.t_test.reason,
        }


@dataclass(frozen=True, slots=True)
class Comparison(Tabular):
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
            "tests": TESTS,
            "contrasts": [contrast.to_dict() for contrast in self.contrasts],
        }

    def records(self) -> Records:
        """A row for each run and measure."""
        rows = [contrast.record() for contrast in self.contrasts]
        said = [f"{one.run}, {one.measure}: {one.ruling.sentence}" for one in self.contrasts]
        return Records.of(rows, f"against {self.baseline}", said)

    def __str__(self) -> str:
        """A line for each contrast: its figures, then the verdict in words."""
        return "\n".join(
            f"{one.run} against {self.baseline}, {one.measure}: {shown(one.baseline)} → "
            f"{shown(one.value)} ({counted(one.n, 'query')}). {one.ruling.sentence} "
            f"{one.significance}"
            for one in self.contrasts
        )


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
    Runs of one name are numbered.
    """
    _refuse_different_rules(baseline, *others)
    first, *rest = _named_apart([_scores_of(one) for one in (baseline, *others)])
    if not rest:
        raise UsageError("there is nothing to compare with", hint="name two runs or more")
    pairs = [(first, other) for other in rest]
    return Comparison(first.name, contrast_pairs(pairs, alpha, margin), alpha, margin)


def _named_apart(compared: Sequence[Scores]) -> list[Scores]:
    """The same scores; those that share a name get their place beside it."""
    names = Counter(one.name for one in compared)
    return [
        replace(one, name=f"{one.name} {at}") if names[one.name] > 1 else one
        for at, one in enumerate(compared, 1)
    ]


def _refuse_different_rules(*compared: Scores | EvaluationResult) -> None:
    """Figures by different rules say nothing about each other."""
    scored = [(one.name, rule) for one in compared if (rule := getattr(one, "scoring", None))]
    for name, rule in scored[1:]:
        if not scored[0][1].same_rule(rule):
            raise UsageError(
                f"{scored[0][0]} and {name} were scored by different rules",
                hint="evaluate both with the same match and protocol",
            )
    judged = [(one.name, found) for one in compared if (found := getattr(one, "test_set", None))]
    for name, test_set in judged[1:]:
        if judged[0][1].checksum != test_set.checksum:
            raise UsageError(
                f"{judged[0][0]} and {name} were scored by different test sets",
                hint="evaluate both with the same queries and judgments",
            )


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
    for ids, what in (
        (compared.scope.unasked, "were not asked"),
        (compared.failed, "failed"),
        (compared.degraded, "were degraded"),
    ):
        if ids:
            share = share_of(len(ids), len(compared.scope.queries), "query")
            log.warning("%s: %s %s; compared as they are", compared.name, share, what)
    return compared.scores


def contrast_pairs(
    pairs: Sequence[tuple[Scores, Scores]],
    alpha: float = DEFAULT_ALPHA,
    margin: float = DEFAULT_MARGIN,
) -> tuple[Contrast, ...]:
    """The second of each pair against the first, all of them corrected together."""
    tested = [_pair(one, other, alpha) for one, other in pairs]
    adjusted = holm([test.p for pair in tested for test in pair.tests])
    family = sum(p is not None for p in adjusted)
    ahead = iter(adjusted)
    return tuple(
        _contrast(pair, at, (next(ahead), family), alpha, margin)
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


def _contrast(
    pair: _Pair, at: int, corrected: tuple[float | None, int], alpha: float, margin: float
) -> Contrast:
    """One measure; ``corrected`` is its p-value, and how many were corrected together."""
    holm_p, comparisons = corrected
    a, b = pair.queries.column(at)
    tested = pair.units.column(at)
    test = paired_t(*tested, alpha=alpha, level=pair.intervals[at].level)
    if pair.clustered:
        test = replace(test, reason=_cluster_reason(test))
    # differences without spread say nothing of what could have been shown
    spread = test.sd or None
    detectable = minimum_detectable_effect(test.n, sd=spread, alpha=alpha).difference
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
        detectable=detectable,
        wins=int((b > a).sum()),
        losses=int((b < a).sum()),
        ruling=verdict(
            test.difference,
            holm_p,
            pair.narrower[at],
            margin=margin,
            alpha=alpha,
            detectable=detectable,
            p_name="randomization p" if comparisons < 2 else "corrected randomization p",
        ),
        comparisons=comparisons,
        clusters=test.n if pair.clustered else None,
    )


def _account(contrast: Contrast) -> str:
    """What the t-test says, what the interval says, and why the verdict does not follow them."""
    test = contrast.t_test
    if test.p is None:
        said = f"No paired t-test: {test.reason}"
    else:
        word = "Significant" if test.significant else "Not significant"
        said = f"{word} by the paired t-test ({_shown(test.p)})"
    if not contrast.disagrees:
        return f"{said}."
    if contrast.interval.defined and contrast.leaves_out_zero is not contrast.decided:
        zero = "leaves out" if contrast.leaves_out_zero else "holds"
        joint = "and" if contrast.leaves_out_zero is bool(contrast.significant) else "but"
        said += f", {joint} the {contrast.interval.level:.0%} interval {zero} 0"
    why = _why(contrast)
    return f"{said}; the verdict {why}." if why else f"{said}."


def _why(contrast: Contrast) -> str:
    """Why the verdict is not what t-test and interval suggest; empty where they suggest nothing."""
    test = contrast.randomization
    if contrast.ruling.verdict is Verdict.EQUIVALENT:
        return "asks whether the difference is large enough to matter"
    if contrast.decided:
        return "rests on the randomization test, which assumes no distribution"
    if test.p is None or not (contrast.significant or contrast.leaves_out_zero):
        return ""
    if test.p < contrast.t_test.alpha:
        return (
            f"is corrected for {counted(contrast.comparisons, 'comparison')}, "
            f"which takes the randomization test from {_shown(test.p)} to {contrast.holm_p:.4f}"
        )
    least = 2.0 / test.flips
    if test.exact and least >= contrast.t_test.alpha:
        units = counted(test.flips.bit_length() - 1, contrast.unit, "differs")
        return (
            f"rests on the randomization test: only {units}, "
            f"and with so few it cannot go below p = {least:.4f}"
        )
    return (
        "rests on the randomization test, which assumes no distribution "
        f"and has {_shown(test.p)} before any correction"
    )


def _shown(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


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
