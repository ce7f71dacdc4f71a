"""Two configurations on one test set: which is better, for which queries, and at what cost?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.evaluation.chunker_match import Archive, no_archive
from assay.evaluation.compare_runs import CompareReport, common_queries, compare_runs
from assay.evaluation.comparison import DEFAULT_MARGIN, Contrast, contrast_pairs
from assay.evaluation.latency_change import LatencyChange, latency_change
from assay.evaluation.run_scores import AB_MEASURES, query_field, run_scores
from assay.evaluation.sampling import Sampling
from assay.evaluation.scores import Scores
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Measure
from assay.plural import counted
from assay.stats.defaults import DEFAULT_ALPHA
from assay.stats.verdict import Verdict

NO_TYPE = "(none)"


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
        """What it comes to, in words."""
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
            "sampling": {
                "method": self.a.sampling.method,
                "level": self.a.sampling.level,
                "resamples": self.a.sampling.resamples,
                "seed": self.a.sampling.seed,
                "clustered": self.a.clusters is not None,
            },
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
        run_scores(
            run,
            queries,
            measures,
            rule=match.rule,
            places=match.places,
            sampling=sampling,
            clustered=clustered,
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
