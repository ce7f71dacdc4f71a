"""What does a report on one stored run say, in numbers and in sentences?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.errors import UsageError
from assay.evaluation.compare import state_warnings
from assay.evaluation.defaults import EVIDENCE_MEASURES, REPORT_MEASURES, WORKFLOW_TARGETS
from assay.evaluation.outcomes import no_relevant, ranking_only, tells_evidence
from assay.evaluation.result import EvaluationResult, group_means, lacks_truth, result_of
from assay.evaluation.scores import Scores
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Measure
from assay.measures.classification import MeasureValue
from assay.measures.parse import measures_text, parse_measure, parse_measures
from assay.model.sampling import Sampling
from assay.plural import counted

WORST = 10
FIELDS = {
    "query_type": "query type",
    "speaker_filter": "speaker",
    "ingestion_mode": "ingestion mode",
}
WORTH_SAYING = 0.03  # a difference between groups that a reader should hear of
FEW_QUERIES = 10
TOO_FEW = 3  # groups smaller than this say nothing
HEADLINES = 2  # of the measures, the first ones are spoken of
NO_GROUP = "(none)"


@dataclass(frozen=True, slots=True)
class MeasureTarget:
    """The value that a measure should reach."""

    measure: Measure
    value: float


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """The means of one group of queries, by text form."""

    name: str
    values: Mapping[str, float | None]
    queries: int


@dataclass(frozen=True, slots=True)
class Insight:
    """One sentence; ``good`` is None where it is neither good nor bad news."""

    text: str
    good: bool | None = None


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

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """JSON-ready; also a baseline that ``assay eval gate`` reads."""
        result = self.result.to_dict(per_query=per_query)
        info = self.run.info
        return {
            "run_id": info.run_id,
            "test_set": {
                "name": self.run.test_set.name,
                "version": self.run.test_set.version,
                "checksum": info.test_set_checksum,
                "part": info.part,
            },
            **{name: result[name] for name in ("metrics", "aggregates", "answers")},
            **{
                f"per_{name}": group_means(parts, count=True) for name, parts in self.groups.items()
            },
            "latency_ms": result["latency_ms"],
            "insights": [insight.text for insight in self.insights],
            "warnings": list(self.warnings),
            "total_queries": len(self.run.outcomes),
            "skipped_queries": len(self.result.skipped),
            "failed_queries": len(self.run.failed),
            "degraded_queries": len(self.run.degraded),
            "sampling": result["sampling"],
            "provenance": provenance(self.run),
            **({"per_query": result["per_query"]} if per_query else {}),
        }


def run_report(
    run: StoredRun,
    measures: str | Iterable[str | Measure] = REPORT_MEASURES,
    *,
    targets: Sequence[MeasureTarget] = (),
    sampling: Sampling | None = None,
) -> RunReport:
    """The report on a run, over the queries that were run."""
    asked = ranking_only(measures)
    if tells_evidence(run.test_set, run.outcomes):
        asked += parse_measures(EVIDENCE_MEASURES)
    unjudged = (
        query.query_id
        for query in run.test_set.queries
        if lacks_truth(query) and query.query_id not in run.by_query
    )
    result = result_of(
        replace(run.test_set, queries=run.queries, skipped=(*run.test_set.skipped, *unjudged)),
        run.outcomes,
        run.info.scoring.changed(measures=measures_text(asked), sampling=sampling),
        name=run.name,
        run_id=run.name,
    )
    if not result.scores.columns:
        raise no_relevant(run.test_set)
    groups = {name: parts for name in FIELDS if len(parts := result.by(name)) > 1}
    first = result.scores.measures[0]
    ranked = [(q, v) for q, v in result.scores.per_query(first).items() if v is not None and v < 1]
    return RunReport(
        run=run,
        result=result,
        groups=groups,
        insights=insights(
            {str(m): result[m] for m in result.scores.columns},
            {FIELDS[name]: _group_values(parts) for name, parts in groups.items()},
            targets,
        ),
        warnings=(*state_warnings(run), *filter(None, [result.skip_note])),
        worst=tuple(sorted(ranked, key=lambda pair: (pair[1], pair[0]))[:WORST]),
    )


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


def _group_values(parts: Mapping[str, Scores]) -> list[GroupMeans]:
    return [
        GroupMeans(name, {str(m): part[m] for m in part.measures}, len(part.queries))
        for name, part in parts.items()
    ]


def parse_targets(texts: Iterable[str] = WORKFLOW_TARGETS) -> tuple[MeasureTarget, ...]:
    """Targets written as ``P@5=0.65``; the last word on a measure counts."""
    found: dict[Measure, MeasureTarget] = {}
    for text in texts:
        name, equals, amount = text.rpartition("=")
        try:
            value = float(amount) if equals else math.nan
        except ValueError:
            value = math.nan
        if not 0.0 <= value <= 1.0 or "_" in amount:
            raise UsageError(f"{text!r:.80} is not a target", hint='write it as "P@5=0.65"')
        measure = parse_measure(name)
        found[measure] = MeasureTarget(measure, value)
    return tuple(found.values())


def insights(
    overall: Mapping[str, float | None],
    groups: Mapping[str, Sequence[GroupMeans]],
    targets: Sequence[MeasureTarget] = (),
) -> tuple[Insight, ...]:
    """Sentences about targets, then about groups; ``groups`` by what they are groups of.

    The first measures of ``overall`` are the ones by which groups are compared.
    """
    found = [
        _target(target, value)
        for target in targets
        if (value := overall.get(str(target.measure))) is not None
    ]
    for kind, members in groups.items():
        large = [g for g in members if g.queries >= TOO_FEW and g.name != NO_GROUP]
        found += _groups(kind, large, list(overall)[:HEADLINES])
    return tuple(found)


def _target(target: MeasureTarget, value: float) -> Insight:
    met = value >= target.value - 1e-12
    word = "meets" if met else "misses"
    return Insight(
        f"Overall {target.measure} of {value:.4f} {word} the target of {target.value:g}"
        f" {'✓' if met else '✗'}",
        met,
    )


def _groups(kind: str, members: Sequence[GroupMeans], names: Sequence[str]) -> list[Insight]:
    """The best and the worst group by each measure that tells them apart."""
    found = []
    for name in names:
        known = [(group, v) for group in members if (v := group.values.get(name)) is not None]
        if len(known) < 2:
            continue
        best = max(known, key=lambda pair: pair[1])
        worst = min(known, key=lambda pair: pair[1])
        gap = best[1] - worst[1]
        if gap < WORTH_SAYING:
            continue
        few = min(best[0].queries, worst[0].queries) < FEW_QUERIES
        found.append(
            Insight(
                f"By {kind}, {name} is best for {best[0].name} ({best[1]:.4f}, "
                f"{_queries(best[0])}) and worst for {worst[0].name} ({worst[1]:.4f}, "
                f"{_queries(worst[0])}): a gap of {100 * gap:.1f} points"
                + (", of few queries" if few else "")
            )
        )
    return found


def _queries(group: GroupMeans) -> str:
    return counted(group.queries, "query")
