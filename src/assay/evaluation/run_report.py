"""Everything that a report on one stored run says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.evaluation.answer_scores import answers_to_dict, score_answers
from assay.evaluation.compare_runs import state_warnings
from assay.evaluation.insights import Group, Insight, Target, insights
from assay.evaluation.run_scores import query_field, run_scores
from assay.evaluation.sampling import Sampling
from assay.evaluation.scores import Scores, rounded
from assay.evaluation.stored import (
    EVIDENCE_MEASURES,
    Latency,
    answer_records,
    latency,
    score_outcomes,
    tells_evidence,
)
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Measure
from assay.measures.classification import Outcome

WORKFLOW_MEASURES = "P@{1,3,5,10} Recall@{1,3,5,10} MAP nDCG@10"
REPORT_MEASURES = "nDCG@10 Recall@{10,5,20} MRR P@5 MAP"
WORST = 10
FIELDS = {
    "query_type": "query type",
    "speaker_filter": "speaker",
    "ingestion_mode": "ingestion mode",
}


@dataclass(frozen=True, eq=False)
class RunReport:
    """A run, its scores, their breakdowns, and what follows."""

    run: StoredRun
    scores: Scores
    groups: Mapping[str, Mapping[str, Scores]]
    answers: Mapping[Measure, Outcome]
    latency: Latency
    insights: tuple[Insight, ...]
    warnings: tuple[str, ...]
    worst: tuple[tuple[str, float], ...]
    evidence: Scores | None = None  # does the best score tell whether there is an answer?

    @property
    def primary(self) -> Measure:
        """The measure by which queries are called worst: the first."""
        return self.scores.measures[0]

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """JSON-ready; also a baseline that ``assay eval gate`` reads."""
        plain = self.scores.to_dict(per_query=per_query)
        info = self.run.info
        answers = {m.key: rounded(found.value) for m, found in self.answers.items()}
        told = self.evidence.to_dict() if self.evidence else {"metrics": {}, "aggregates": {}}
        return {
            "run_id": info.run_id,
            "test_set": {
                "name": self.run.test_set.name,
                "version": self.run.test_set.version,
                "checksum": info.test_set_checksum,
                "part": info.part,
            },
            "metrics": {**plain["metrics"], **told["metrics"], **answers},
            "aggregates": {**plain["aggregates"], **told["aggregates"]},
            "answers": answers_to_dict(self.answers, self.scores.sampling.level),
            **{
                f"per_{name}": {
                    group: {
                        **{m.key: rounded(part[m]) for m in part.measures},
                        "num_queries": len(part.queries),
                    }
                    for group, part in groups.items()
                }
                for name, groups in self.groups.items()
            },
            "latency_ms": self.latency.to_dict(),
            "insights": [insight.text for insight in self.insights],
            "warnings": list(self.warnings),
            "total_queries": len(self.run.outcomes),
            "failed_queries": len(self.run.failed),
            "degraded_queries": len(self.run.degraded),
            "sampling": plain["sampling"],
            "provenance": provenance(self.run),
            **({"per_query": plain["per_query"]} if per_query else {}),
        }


def run_report(
    run: StoredRun,
    measures: str | Iterable[str | Measure] = REPORT_MEASURES,
    *,
    targets: Sequence[Target] = (),
    sampling: Sampling | None = None,
) -> RunReport:
    """The report on a run."""
    scores = run_scores(run, run.queries, measures, sampling=sampling)
    groups = {
        name: parts
        for name in FIELDS
        if len(parts := scores.by(query_field(run.queries, name))) > 1
    }
    records = answer_records(run.test_set, run.outcomes)
    answered = any(outcome.answer is not None for outcome in run.outcomes)
    evidence = None
    if tells_evidence(run.test_set, run.outcomes):
        evidence = score_outcomes(
            run.test_set, run.outcomes, EVIDENCE_MEASURES, sampling=scores.sampling
        )
    values = {str(m): scores[m] for m in scores.measures}
    first = scores.measures[0]
    ranked = [(q, v) for q, v in scores.per_query(first).items() if v is not None and v < 1.0]
    return RunReport(
        run=run,
        scores=scores,
        groups=groups,
        answers=score_answers(records) if answered else score_answers(records, "EmptyResultRate"),
        latency=latency(run.outcomes),
        insights=insights(
            values,
            {FIELDS[name]: _group_values(parts) for name, parts in groups.items()},
            targets,
        ),
        warnings=tuple(state_warnings(run)),
        worst=tuple(sorted(ranked, key=lambda pair: (pair[1], pair[0]))[:WORST]),
        evidence=evidence,
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


def _group_values(parts: Mapping[str, Scores]) -> list[Group]:
    return [
        Group(name, {str(m): part[m] for m in part.measures}, len(part.queries))
        for name, part in parts.items()
    ]
