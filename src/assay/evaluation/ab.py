"""Two configurations on one test set: which is better, for which queries, and at what cost?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.evaluation.chunker_match import Archive, no_archive
from assay.evaluation.compare import CompareReport, common_queries, compare_runs
from assay.evaluation.defaults import AB_MEASURES
from assay.evaluation.latency import LatencyChange, Speed, latency_apart, latency_together
from assay.evaluation.outcomes import query_field, score_answers_of_run, score_run
from assay.evaluation.scores import Scores
from assay.evaluation.significance import DEFAULT_MARGIN, TESTS, Contrast, contrast_pairs
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.model.runs import Timings
from assay.model.sampling import Sampling
from assay.model.tabular import Records, Tabular
from assay.plural import counted, share_of
from assay.stats.defaults import DEFAULT_ALPHA
from assay.stats.verdict import Verdict


@dataclass(frozen=True, slots=True)
class ABResult(Tabular):
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
        lines = [*_unsound(self.compared), _quality(self.primary), self.primary.significance]
        others = [c for c in self.contrasts[1:] if c.ruling.verdict is not _word(self.primary)]
        decided = [c for c in others if c.decided]
        if decided:
            lines.append(
                "Beside it: "
                + ", ".join(f"{c.measure} {c.ruling.verdict} ({_signed(c)})" for c in decided)
                + "."
            )
        if len(self.by_type) > 1:
            lines += _types(self.by_type, self.primary.measure)
        lines += _cost(self.latency)
        return " ".join(lines)

    def records(self) -> Records:
        """A row for each measure, over all queries and of each type; ``query_type`` says which."""
        rows = [{"query_type": "all", **one.record()} for one in self.contrasts]
        rows += [
            {"query_type": kind, **one.record()}
            for kind, contrasts in self.by_type.items()
            for one in contrasts
        ]
        return Records.of(rows, self.title, [self.verdict, *self.compared.warnings])

    def overview(self) -> Records:
        """The measures over all queries, and the verdict."""
        found = Records.of([one.record() for one in self.contrasts])
        return replace(found, title=self.title, notes=(self.verdict, *self.compared.warnings))

    @property
    def title(self) -> str:
        """What is tested against what."""
        return f"{self.compared.run_b} against {self.compared.run_a}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "run_a": self.compared.run_a,
            "run_b": self.compared.run_b,
            "verdict": _word(self.primary).value,
            "verdict_text": self.verdict,
            "significant": self.primary.significant,
            "degraded": self.compared.degraded,
            "incomplete": self.compared.incomplete,
            "primary_measure": str(self.primary.measure),
            "alpha": self.alpha,
            "margin": self.margin,
            "correction": "holm",
            "tests": TESTS,
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
    timings: Timings | None = None,
) -> ABResult:
    """Test b against a over the queries that both have.

    ``timings`` are those of both sides, asked in turn; without them the runs' own times are shown,
    from which nothing follows.
    """
    compared = compare_runs(
        a, b, measures=measures, archive=archive, strict_chunker_version=strict_chunker_version
    )
    common = common_queries(a, b)
    queries = common.queries
    match = compared.matching
    assert match is not None
    asked = parse_measures(measures)
    of_answers = [m for m in asked if m.definition.family is Family.ANSWER]
    ranking = [m for m in asked if m not in of_answers]
    sides = ((a, common.of_a), (b, queries))
    pairs: list[tuple[Scores, Scores]] = []
    if ranking:
        one, other = (
            score_run(
                run,
                ranking,
                queries=own,
                match=match.rule,
                places=match.places,
                by_level=match.by_level,
                documents=match.documents,
                sampling=sampling,
                by_group=clustered,
            )
            for run, own in sides
        )
        pairs.append((one, other))
    if of_answers:
        one, other = (
            score_answers_of_run(run, of_answers, own, sampling=sampling, by_group=clustered)
            for run, own in sides
        )
        pairs.append((one, other))
    one, other = pairs[0]
    types = query_field(queries, "query_type")
    return ABResult(
        compared=compared,
        a=one,
        b=other,
        contrasts=contrast_pairs(pairs, alpha, margin),
        by_type=_by_type(pairs, types, alpha, margin),
        latency=_latency(a, b, [query.query_id for query in queries], timings, one),
        alpha=alpha,
        margin=margin,
    )


def _by_type(
    pairs: Sequence[tuple[Scores, Scores]],
    types: Mapping[str, str],
    alpha: float,
    margin: float,
) -> dict[str, tuple[Contrast, ...]]:
    """The contrasts of each type, if the test set has any."""
    first = pairs[0][0]
    if not any(query in types for query in first.queries):
        return {}
    parts = [(one.by(types), other.by(types)) for one, other in pairs]
    return {
        kind: contrast_pairs(
            [(one[kind], other[kind]) for one, other in parts if kind in one], alpha, margin
        )
        for kind in parts[0][0]
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
        if contrast.measure == measure and contrast.decided
    ]
    return [f"By type: {', '.join(decided)}."] if decided else []


def _unsound(compared: CompareReport) -> list[str]:
    """Which side did not ask every query, or answered with less than it should have."""
    sides = (("A", compared.aggregate_a), ("B", compared.aggregate_b))
    unasked = [
        f"{name} did not ask {share_of(side.unasked_queries, side.scored_over, 'query')}"
        for name, side in sides
        if side.unasked_queries
    ]
    degraded = [
        f"{name} was degraded for {share_of(side.degraded_queries, side.scored_over, 'query')}"
        for name, side in sides
        if side.degraded_queries
    ]
    found = (("INCOMPLETE", unasked), ("DEGRADED", degraded))
    return [f"{what}: {' and '.join(told)}." for what, told in found if told]


def _in_seconds(milliseconds: float | None) -> str:
    return "undefined" if milliseconds is None else f"{milliseconds / 1000:.3f} s"


def _cost(latency: LatencyChange) -> list[str]:
    """The latency in words."""
    change, interval = latency.difference, latency.interval
    if change.mean is None or change.p50 is None or change.p95 is None:
        return []
    mean, p50, p95 = change.mean / 1000, change.p50 / 1000, change.p95 / 1000
    sizes = f"mean {mean:+.3f} s, P50 {p50:+.3f} s, P95 {p95:+.3f} s"
    if latency.verdict is None:
        return [f"Latency differs by {sizes}, but {latency.remark}."]
    head = {
        Speed.SLOWER: "B is slower",
        Speed.FASTER: "B is faster",
        Speed.INCONCLUSIVE: "No difference in latency was shown",
    }[latency.verdict]
    ends = "undefined"
    if interval.low is not None and interval.high is not None:
        ends = f"[{interval.low / 1000:+.3f}, {interval.high / 1000:+.3f}] s"
    return [
        f"{head}: {sizes} ({interval.level:.0%} CI of the mean {ends}; "
        f"A: mean {_in_seconds(latency.a.mean)}; {latency.remark})."
    ]


def _latency(
    a: StoredRun, b: StoredRun, queries: Sequence[str], timings: Timings | None, scores: Scores
) -> LatencyChange:
    if timings is None:
        return latency_apart(a, b, queries)
    groups = None
    if scores.clusters is not None:
        groups = dict(zip(scores.queries, scores.clusters, strict=True))
    return latency_together(timings, scores.sampling, groups)
