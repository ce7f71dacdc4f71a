"""What does a stored run come to, as the comparison of runs reports it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.evaluation.answer_scores import score_answers
from assay.evaluation.match import Place, Rule, judge_outcomes, ranked_queries
from assay.evaluation.scores import rounded
from assay.evaluation.stored import answer_records
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.measures.table import JudgedHits
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery, TestSet

CUTOFFS = (1, 3, 5, 10)
MRR = "RR@10"
ANSWER_KEYS = ("citation_coverage", "groundedness", "empty_result_rate", "refusal_correctness")


@dataclass(frozen=True, slots=True)
class AggregateMetrics:
    """One run on the whole; None where a measure is undefined, and ``reasons`` says why.

    ``hit_at_k`` and ``mrr`` look at what was judged, ``recall_at_k_doc`` at its documents.
    ``measures`` holds what else was asked for, by text form.
    """

    hit_at_k: Mapping[int, float | None]
    mrr: float | None
    recall_at_k_doc: Mapping[int, float | None]
    citation_coverage: float | None
    groundedness: float | None
    empty_result_rate: float | None
    refusal_correctness: float | None
    total_queries: int
    failed_queries: int
    degraded_queries: int = 0
    measures: Mapping[str, float | None] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    def flat(self) -> dict[str, float | None]:
        """Every value under one key, unrounded: the form in which deltas are taken."""
        return {
            **{f"hit_at_{k}": value for k, value in self.hit_at_k.items()},
            "mrr": self.mrr,
            **{f"recall_at_{k}_doc": value for k, value in self.recall_at_k_doc.items()},
            **{key: getattr(self, key) for key in ANSWER_KEYS},
            **self.measures,
        }

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, to 4 decimals, undefined as None."""
        return {
            "hit_at_k": {str(k): rounded(value) for k, value in self.hit_at_k.items()},
            "mrr": rounded(self.mrr),
            "recall_at_k_doc": {str(k): rounded(v) for k, v in self.recall_at_k_doc.items()},
            **{key: rounded(getattr(self, key)) for key in ANSWER_KEYS},
            "total_queries": self.total_queries,
            "failed_queries": self.failed_queries,
            "degraded_queries": self.degraded_queries,
            "measures": {name: rounded(value) for name, value in self.measures.items()},
            "reasons": dict(self.reasons),
        }


def compute_aggregate(
    queries: Sequence[GoldenQuery],
    outcomes: Mapping[str, QueryOutcome],
    *,
    rule: Rule = Rule.EXACT,
    places: Mapping[str, Place] | None = None,
    measures: str | Iterable[str | Measure] = (),
    tables: tuple[JudgedHits, JudgedHits] | None = None,
) -> AggregateMetrics:
    """The aggregate of the queries' outcomes.

    ``tables`` are those of their judged hits by the rule and by document, where they are at hand.
    """
    ranked = ranked_queries(queries)
    hits, by_doc = tables or (
        judge_outcomes(ranked, outcomes, rule, places),
        judge_outcomes(ranked, outcomes, Rule.DOC, places),
    )
    reasons: dict[str, str] = {}

    def mean(measure: Measure, table: JudgedHits, key: str) -> float | None:
        column = measure.column(table)
        if not column.defined.any():
            reasons[key] = column.reason or "no query has a judged result to find"
            return None
        return float(np.mean(column.values[column.defined]))

    records = answer_records(TestSet("compared", "", tuple(queries)), outcomes.values())
    answers = {measure.key: outcome for measure, outcome in score_answers(records).items()}
    reasons |= {key: out.reason for key, out in answers.items() if out.reason is not None}
    cut = ",".join(map(str, CUTOFFS))
    (mrr,) = parse_measures(MRR)
    return AggregateMetrics(
        hit_at_k={
            m.cutoff or 0: mean(m, hits, m.key) for m in parse_measures(f"Success@{{{cut}}}")
        },
        mrr=mean(mrr, hits, "mrr"),
        recall_at_k_doc={
            m.cutoff or 0: mean(m, by_doc, f"{m.key}_doc")
            for m in parse_measures(f"Recall@{{{cut}}}")
        },
        **{key: answers[key].value for key in ANSWER_KEYS},
        total_queries=len(queries),
        failed_queries=sum(record.failed for record in records),
        degraded_queries=sum(out.degraded for out in outcomes.values()),
        measures={str(m): mean(m, hits, str(m)) for m in _ranking(measures)},
        reasons=reasons,
    )


def mean_of(measure: Measure, hits: JudgedHits) -> float | None:
    """The mean over the queries for which the measure is defined; None where it is for none."""
    column = measure.column(hits)
    return float(np.mean(column.values[column.defined])) if column.defined.any() else None


def _ranking(measures: str | Iterable[str | Measure]) -> tuple[Measure, ...]:
    if not measures:
        return ()
    return tuple(
        measure
        for measure in parse_measures(measures)
        if measure.definition.family is Family.RANKING
    )
