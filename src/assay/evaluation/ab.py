"""Two configurations on one test set: which is better, for which queries, and at what cost?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.evaluation.chunker_match import Archive, no_archive
from assay.evaluation.compare import CompareReport, common_queries, compare_runs
from assay.evaluation.defaults import AB_MEASURES
from assay.evaluation.outcomes import Latency, latency_of, query_field, score_run
from assay.evaluation.scores import Scores
from assay.evaluation.significance import DEFAULT_MARGIN, Contrast, contrast_pairs
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Measure
from assay.model.arrays import FloatArray
from assay.model.sampling import Sampling
from assay.plural import counted
from assay.stats.bootstrap import bootstrap_mean
from assay.stats.clustering import cluster_shares
from assay.stats.defaults import DEFAULT_ALPHA
from assay.stats.interval import Interval
from assay.stats.verdict import Verdict
from assay.stats.wilcoxon import wilcoxon


@dataclass(frozen=True, slots=True)
class LatencyChange:
    """How much slower or faster queries became: both runs' times and b − a.

    ``interval`` is that of the mean difference. ``median_change`` and ``p`` (Wilcoxon) look at
    single queries, so that one that had to wait for a cold start does not decide. Where queries
    come in groups, those are the unit of ``interval`` and ``p``.
    """

    n: int
    a: Latency
    b: Latency
    difference: Latency
    interval: Interval
    median_change: float | None
    p: float | None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        ends = [_round(self.interval.low), _round(self.interval.high)]
        return {
            "unit": "ms",
            "n": self.n,
            "a": _times(self.a),
            "b": _times(self.b),
            "difference": _times(self.difference),
            "ci": ends if self.interval.defined else None,
            "median_change": _round(self.median_change),
            "p_wilcoxon": self.p,
        }


@dataclass(frozen=True, slots=True)
class ABResult:
    """B against a: one contrast per measure, per measure and query type, and the latency.

    P-values are corrected over the measures: those of the whole set, and those of each type.
    """

    compared: CompareReport
    a: Scores
    b: Scores
    contrasts: tuple[Contrast, ...]
    by_type: Mapping[str, tuple[Contrast, ...]]
    latency: LatencyChange
    alpha: float
    margin: float

    @property
    def primary(self) -> Contrast:
        """The measure that the verdict speaks of: the first."""
        return self.contrasts[0]

    @property
    def verdict(self) -> str:
        """The result in words."""
        lines = [_quality(self.primary)]
        others = [c for c in self.contrasts[1:] if c.ruling.verdict is not _word(self.primary)]
        decided = [c for c in others if c.ruling.verdict in (Verdict.BETTER, Verdict.WORSE)]
        if decided:
            lines.append(
                "Beside it: "
                + ", ".join(f"{c.measure} {c.ruling.verdict} ({_signed(c)})" for c in decided)
                + "."
            )
        lines += _types(self.by_type, self.primary.measure)
        if (cost := _cost(self.latency, self.alpha)) is not None:
            lines.append(cost)
        return " ".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "run_a": self.compared.run_a,
            "run_b": self.compared.run_b,
            "verdict": _word(self.primary).value,
            "verdict_text": self.verdict,
            "primary_measure": str(self.primary.measure),
            "alpha": self.alpha,
            "margin": self.margin,
            "correction": "holm",
            "contrasts": [contrast.to_dict() for contrast in self.contrasts],
            "by_query_type": {
                kind: [contrast.to_dict() for contrast in contrasts]
                for kind, contrasts in self.by_type.items()
            },
            "latency": self.latency.to_dict(),
            "sampling": self.a.drawing(),
            "comparison": self.compared.to_dict(),
        }


def ab(
    a: StoredRun,
    b: StoredRun,
    measures: str | Iterable[str | Measure] = AB_MEASURES,
    *,
    alpha: float = DEFAULT_ALPHA,
    margin: float = DEFAULT_MARGIN,
    sampling: Sampling | None = None,
    clustered: bool = False,
    archive: Archive = no_archive,
    strict_chunker_version: bool = False,
) -> ABResult:
    """Test b against a over the queries that both have."""
    compared = compare_runs(
        a, b, measures=measures, archive=archive, strict_chunker_version=strict_chunker_version
    )
    queries = common_queries(a, b).queries
    match = compared.matching
    assert match is not None
    one, other = (
        score_run(
            run,
            measures,
            queries=queries,
            match=match.rule,
            places=match.places,
            sampling=sampling,
            by_group=clustered,
        )
        for run in (a, b)
    )
    return ABResult(
        compared=compared,
        a=one,
        b=other,
        contrasts=contrast_pairs([(one, other)], alpha, margin),
        by_type=_by_type(one, other, query_field(queries, "query_type"), alpha, margin),
        latency=latency_change(a, b, [query.query_id for query in queries], sampling, _groups(one)),
        alpha=alpha,
        margin=margin,
    )


def _groups(scores: Scores) -> dict[str, str] | None:
    if scores.clusters is None:
        return None
    return dict(zip(scores.queries, scores.clusters, strict=True))


def _by_type(
    a: Scores, b: Scores, types: Mapping[str, str], alpha: float, margin: float
) -> dict[str, tuple[Contrast, ...]]:
    """The contrasts of each type, if the test set has any."""
    if not any(query in types for query in a.queries):
        return {}
    parts_a, parts_b = a.by(types), b.by(types)
    return {
        kind: contrast_pairs([(parts_a[kind], parts_b[kind])], alpha, margin) for kind in parts_a
    }


def _word(contrast: Contrast) -> Verdict:
    return contrast.ruling.verdict


def _quality(contrast: Contrast) -> str:
    head = {
        Verdict.BETTER: "B is better than A",
        Verdict.WORSE: "B is worse than A",
        Verdict.EQUIVALENT: "A and B are equivalent",
        Verdict.INCONCLUSIVE: "These queries cannot tell A and B apart",
    }[_word(contrast)]
    _, _, sentence = contrast.ruling.sentence.partition(": ")
    groups = "" if contrast.clusters is None else f" in {counted(contrast.clusters, 'group')}"
    return f"{head} on {contrast.measure} ({counted(contrast.n, 'query')}{groups}): {sentence}"


def _signed(contrast: Contrast) -> str:
    return "—" if contrast.difference is None else f"{contrast.difference:+.4f}"


def _types(by_type: Mapping[str, tuple[Contrast, ...]], measure: Measure) -> list[str]:
    decided = [
        f"{contrast.ruling.verdict} for {kind} "
        f"({_signed(contrast)}, {counted(contrast.n, 'query')})"
        for kind, contrasts in by_type.items()
        for contrast in contrasts
        if contrast.measure == measure
        and contrast.ruling.verdict in (Verdict.BETTER, Verdict.WORSE)
    ]
    return [f"By type: {', '.join(decided)}."] if decided else []


def _cost(latency: LatencyChange, alpha: float) -> str | None:
    change = latency.difference
    if change.mean is None or change.p50 is None or change.p95 is None:
        return None
    head = "Latency is about the same"
    if latency.p is not None and latency.p < alpha and latency.median_change:
        head = f"B is {'slower' if latency.median_change > 0 else 'faster'}"
    return (
        f"{head}: mean {change.mean:+.1f} ms, P50 {change.p50:+.1f} ms, P95 {change.p95:+.1f} ms "
        f"(A: mean {latency.a.mean:.1f} ms, P50 {latency.a.p50:.1f} ms)."
    )


def latency_change(
    a: StoredRun,
    b: StoredRun,
    queries: Iterable[str],
    sampling: Sampling | None = None,
    groups: Mapping[str, str] | None = None,
) -> LatencyChange:
    """The times of queries that succeeded and were timed in both runs, side by side.

    ``groups`` tells which queries belong together; one that is not in it stands alone.
    """
    sampling = sampling or Sampling()
    timed = [
        (query, one, other)
        for query in queries
        if (one := _time(a, query)) is not None and (other := _time(b, query)) is not None
    ]
    clusters = None if groups is None else [groups.get(query, query) for query, _, _ in timed]
    times = np.array([pair for _, *pair in timed], dtype=np.float64).reshape(-1, 2)
    before, after = latency_of(times[:, 0]), latency_of(times[:, 1])
    return LatencyChange(
        n=len(times),
        a=before,
        b=after,
        difference=Latency(
            len(times),
            _minus(after.mean, before.mean),
            _minus(after.p50, before.p50),
            _minus(after.p95, before.p95),
        ),
        interval=bootstrap_mean(
            times[:, 1] - times[:, 0],
            clusters=clusters,
            method=sampling.method,
            level=sampling.level,
            resamples=sampling.resamples,
            seed=sampling.seed,
        ),
        median_change=float(np.median(times[:, 1] - times[:, 0])) if len(times) else None,
        p=_p(times, clusters),
    )


def _p(times: FloatArray, clusters: list[str] | None) -> float | None:
    """Wilcoxon's p-value; where queries come in groups, the groups' shares are compared."""
    if clusters:
        times, _ = cluster_shares(times, np.ones(times.shape, dtype=np.bool_), clusters)
    return wilcoxon(times[:, 0], times[:, 1]).p


def _time(run: StoredRun, query: str) -> float | None:
    outcome = run.by_query.get(query)
    return None if outcome is None or outcome.error is not None else outcome.latency_ms


def _times(latency: Latency) -> dict[str, float | None]:
    """To a microsecond."""
    return {name: _round(getattr(latency, name)) for name in ("mean", "p50", "p95")}


def _minus(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3) + 0.0
