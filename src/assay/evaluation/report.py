"""What does a report on one stored run say, in numbers and in sentences?

A report is made of ``Figure`` values, each of which says what it is of: measure, group, queries and
protocol. The text of a report shows nothing else (``ReportContent``), so that it can be written
again from wherever the figures are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.evaluation.answers import answer_interval
from assay.evaluation.compare import state_warnings
from assay.evaluation.defaults import (
    EVIDENCE_MEASURES,
    REPORT_MEASURES,
)
from assay.evaluation.insights import GroupMeans, Insight, MeasureTarget, insights
from assay.evaluation.outcomes import no_relevant, tells_evidence
from assay.evaluation.result import EvaluationResult, group_means, result_of
from assay.evaluation.scope import Scope
from assay.evaluation.score import Protocol, measures_by, protocol_named
from assay.evaluation.scores import Scores, ends, rounded
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Family, Measure
from assay.measures.classification import MeasureValue
from assay.measures.parse import measures_text, parse_measures
from assay.model.sampling import Sampling
from assay.model.scoring import Scoring

WORST = 10
ALL = "all"
OF_ANSWERS = "answers"
FIELDS = {
    "query_type": "query type",
    "speaker_filter": "speaker",
    "ingestion_mode": "ingestion mode",
    "origin": "asked by",
}
PROTOCOLS = {
    Family.RANKING: Protocol.POSITIVES_ONLY.value,
    Family.DECISION: Protocol.ALL_QUERIES.value,
    Family.ANSWER: OF_ANSWERS,
}
"""Over which queries a measure runs, by what it looks at."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a report, rounded as it is read; ``n`` is how many queries it is over.

    ``breakdown`` is the field by whose values queries are grouped, None for all of them. ``reason``
    says why the value or its interval is undefined.
    """

    measure: str
    value: float | None
    n: int
    protocol: str
    ci: tuple[float, float] | None = None
    reason: str | None = None
    breakdown: str | None = None
    group: str = ALL
    queries: int = 0


@dataclass(frozen=True, slots=True)
class ReportContent:
    """Everything that the text of a report says."""

    run_id: str
    name: str
    dataset: str
    part: str
    date: str
    scored: tuple[str, ...]
    total_queries: int
    skipped_queries: int
    level: float
    figures: tuple[Figure, ...]
    insights: tuple[Insight, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def overall(self) -> tuple[Figure, ...]:
        """The figures over all queries."""
        return tuple(one for one in self.figures if one.breakdown is None)

    def by(self, breakdown: str) -> dict[str, dict[str, Figure]]:
        """The figures of each group of queries, by measure."""
        found: dict[str, dict[str, Figure]] = {}
        for one in self.figures:
            if one.breakdown == breakdown:
                found.setdefault(one.group, {})[one.measure] = one
        return found


def scored_by(scoring: Scoring) -> tuple[str, ...]:
    """What a report says of the rule beside the protocol, which stands with every figure."""
    return replace(scoring, protocol=None).notes


def figure_insights(
    figures: Sequence[Figure], targets: Sequence[MeasureTarget] = ()
) -> tuple[Insight, ...]:
    """What follows from the figures."""
    groups: dict[str, dict[str, list[Figure]]] = {}
    for one in figures:
        if one.breakdown is not None:
            groups.setdefault(FIELDS[one.breakdown], {}).setdefault(one.group, []).append(one)
    return insights(
        {one.measure: one.value for one in figures if one.breakdown is None},
        {
            kind: [
                GroupMeans(name, {one.measure: one.value for one in members}, members[0].queries)
                for name, members in named.items()
            ]
            for kind, named in groups.items()
        },
        targets,
    )


@dataclass(frozen=True, eq=False)
class RunReport:
    """A run, what it scored, the breakdowns, and what follows from them.

    The scores also say how well they tell questions with an answer from those without one, where
    the test set has both.
    """

    run: StoredRun
    result: EvaluationResult
    groups: Mapping[str, Mapping[str, Scores]]
    insights: tuple[Insight, ...]
    warnings: tuple[str, ...]
    worst: tuple[tuple[str, float], ...]

    @property
    def scores(self) -> Scores:
        """What the run scored."""
        return self.result.scores

    @property
    def answers(self) -> Mapping[Measure, MeasureValue]:
        """What its answers scored."""
        return self.result.answers

    @property
    def primary(self) -> Measure:
        """The measure by which queries are called worst: the first."""
        return self.scores.measures[0]

    @property
    def content(self) -> ReportContent:
        """What its text says."""
        info = self.run.info
        return ReportContent(
            run_id=self.run.name,
            name=info.name,
            dataset=f"{self.run.test_set.name} {self.run.test_set.version}",
            part=info.part,
            date=info.created_at,
            scored=scored_by(self.result.scoring),
            total_queries=self.run.scope.total,
            skipped_queries=len(self.run.scope.skipped),
            level=self.scores.sampling.level,
            figures=figures(self.result, self.groups),
            insights=self.insights,
            warnings=self.warnings,
        )

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """JSON-ready; also a baseline that ``assay eval gate`` reads."""
        result = self.result.to_dict(per_query=per_query)
        info = self.run.info
        protocols = {m.key: PROTOCOLS[m.definition.family] for m in self.scores.measures}
        return {
            "run_id": info.run_id,
            "name": info.name,
            "part": info.part,
            "test_set": {
                "name": self.run.test_set.name,
                "version": self.run.test_set.version,
                "checksum": info.test_set_checksum,
                "part": info.part,
            },
            "metrics": result["metrics"],
            "aggregates": {
                key: {**entry, "protocol": protocols[key]}
                for key, entry in result["aggregates"].items()
            },
            "answers": result["answers"],
            **{
                f"per_{name}": group_means(parts, count=True) for name, parts in self.groups.items()
            },
            "latency_ms": result["latency_ms"],
            "usage": result["usage"],
            "insights": [insight.text for insight in self.insights],
            "warnings": list(self.warnings),
            "status": info.status.value,
            **self.run.scope.counts,
            "failed_queries": len(self.run.failed),
            "failed_answers": len(self.run.unanswered),
            "degraded_queries": len(self.run.degraded),
            "sampling": result["sampling"],
            "scoring": result["scoring"],
            "judged_chunker_versions": result["judged_chunker_versions"],
            "provenance": provenance(self.run),
            **({"per_query": result["per_query"]} if per_query else {}),
        }


def run_report(
    run: StoredRun,
    measures: str | Iterable[str | Measure] | None = None,
    *,
    targets: Sequence[MeasureTarget] = (),
    sampling: Sampling | None = None,
) -> RunReport:
    """The report on a run; None stands for the usual measures."""
    asked = report_measures(run) if measures is None else parse_measures(measures)
    result = result_of(
        run.test_set,
        run.outcomes,
        run.info.scoring.changed(measures=measures_text(asked), sampling=sampling),
        name=run.name,
        run_id=run.name,
    )
    if not result.scores.measures:
        raise no_relevant(run.test_set)
    groups: dict[str, Mapping[str, Scores]] = {}
    if result.scores.columns:  # decisions are about all queries together
        groups = {name: parts for name in FIELDS if len(parts := result.by(name)) > 1}
    return RunReport(
        run=run,
        result=result,
        groups=groups,
        insights=figure_insights(figures(result, groups, intervals=False), targets),
        warnings=report_warnings(run),
        worst=_worst(result.scores, run.scope),
    )


def report_warnings(run: StoredRun) -> tuple[str, ...]:
    """What a reader must know before believing the report on a run."""
    skipped = filter(None, [run.scope.skip_note])
    return (*state_warnings(run), *skipped, *run.test_set.cautions)


def report_measures(run: StoredRun, usual: str = REPORT_MEASURES) -> tuple[Measure, ...]:
    """The measures of a report that names none: those that the protocol of the run allows.

    Where the test set has questions without an answer, that includes how well scores tell them
    apart.
    """
    protocol = protocol_named(run.info.scoring.protocol)
    if protocol is None and tells_evidence(run.test_set, run.outcomes):
        return parse_measures(f"{usual} {EVIDENCE_MEASURES}")
    return parse_measures(measures_by(protocol, usual))


def figures(
    result: EvaluationResult,
    groups: Mapping[str, Mapping[str, Scores]],
    *,
    intervals: bool = True,
    group_intervals: bool = False,
) -> tuple[Figure, ...]:
    """Every number of a result: overall, of its answers, and of each group of queries."""
    found = [_figure(result.scores, measure, intervals) for measure in result.scores.measures]
    for measure, outcome in result.answers.items():
        between = answer_interval(outcome, result.scores.sampling.level)
        found.append(
            Figure(
                str(measure),
                rounded(outcome.value),
                outcome.n or 0,
                PROTOCOLS[Family.ANSWER],
                _ends(ends(between)),
                outcome.reason or (None if between.defined else between.reason),
                queries=len(result.scope.queries),
            )
        )
    for name, parts in groups.items():
        found += [
            replace(_figure(part, measure, group_intervals), breakdown=name, group=group)
            for group, part in parts.items()
            for measure in part.measures
        ]
    return tuple(found)


def _figure(scores: Scores, measure: Measure, intervals: bool) -> Figure:
    found = scores.aggregate(measure)
    between = scores.interval(measure) if intervals else None
    unsure = None if between is None or between.defined else between.reason
    return Figure(
        str(measure),
        rounded(found.mean),
        found.n,
        PROTOCOLS[measure.definition.family],
        _ends(ends(between)),
        found.reason or unsure,
        queries=scores.decided if measure in scores.decisions else len(scores.queries),
    )


def _ends(found: list[float | None] | None) -> tuple[float, float] | None:
    if found is None or found[0] is None or found[1] is None:
        return None
    return found[0], found[1]


def _worst(scores: Scores, scope: Scope) -> tuple[tuple[str, float], ...]:
    """The queries asked that the first measure calls worst; none where it looks at all of them."""
    first = scores.measures[0]
    if first not in scores.columns:
        return ()
    found = [
        (query, value)
        for query, value in scores.per_query(first).items()
        if value is not None and value < 1 and query in scope.asked
    ]
    return tuple(sorted(found, key=lambda pair: (pair[1], pair[0]))[:WORST])


def provenance(run: StoredRun) -> dict[str, Any]:
    """What made the run's numbers what they are."""
    info = run.info
    return {
        "created_at": info.created_at,
        "config": dict(info.config),
        "config_hash": info.config_hash,
        "engine": info.engine,
        "generation": info.generation,
        "models": dict(info.models),
        "chunker_versions": list(info.chunker_versions),
        "commit_hash": info.commit_hash,
        "seed": info.seed,
    }
