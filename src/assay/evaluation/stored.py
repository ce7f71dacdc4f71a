"""What do stored outcomes score, by the judgments of a test set?

Nothing is searched here: a run that was made years ago is scored under today's formulas. A query
that failed, found nothing or was never reached counts as having no results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from assay.errors import UsageError
from assay.evaluation.decisions import DEFAULT_DECISION_MEASURES
from assay.evaluation.match import Rule, judge_outcomes, ranked_queries
from assay.evaluation.sampling import Sampling
from assay.evaluation.score import Protocol, scores_of
from assay.evaluation.scores import Scores, rounded
from assay.evaluation.summary import Summary
from assay.measures.answers import AnswerRecord
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.model.answers import Expect
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery, TestSet

EVALUATION_MEASURES = "Recall@{5,10,20} nDCG@10 MRR"
EVIDENCE_MEASURES = "AUROC AUPRC"


@dataclass(frozen=True, slots=True)
class Latency:
    """How long queries took, in milliseconds, over those that were timed and did not fail."""

    n: int
    mean: float | None = None
    p50: float | None = None
    p95: float | None = None

    def to_dict(self) -> dict[str, float | int | None]:
        """JSON-ready."""
        return {
            "n": self.n,
            "mean": rounded(self.mean),
            "p50": rounded(self.p50),
            "p95": rounded(self.p95),
        }


def score_outcomes(
    test_set: TestSet,
    outcomes: Iterable[QueryOutcome],
    measures: str | Iterable[str | Measure] = EVALUATION_MEASURES,
    *,
    name: str = "run",
    protocol: Protocol | str | None = None,
    undefined: Literal["skip", "zero"] = "skip",
    match: Rule | Literal["exact", "doc", "span"] = Rule.EXACT,
    sampling: Sampling | None = None,
    clusters: Mapping[str, str] | None = None,
) -> Scores:
    """Score outcomes; they may hold more queries than the test set.

    Ranking measures run over the queries that have evidence, decision measures also over those
    where there is none to find (``expect: nothing``). Measures of answers are left to
    ``score_answers``. ``match`` is explained in ``matching.py``.
    """
    asked = parse_measures(measures)
    check_families(asked, protocol)
    ranking = [m for m in asked if m.definition.family is Family.RANKING]
    decisions = [m for m in asked if m.definition.family is Family.DECISION]
    if not ranking and not decisions:
        raise UsageError("there is no ranking measure to compute", hint="such as nDCG@10")
    by_query = {one.query_id: one for one in outcomes}
    drawn = sampling or Sampling()

    def over(queries: tuple[GoldenQuery, ...], chosen: list[Measure]) -> Scores:
        if not queries:
            raise UsageError(
                f"no query of {test_set.name} has a relevant document", hint="judge some first"
            )
        hits = judge_outcomes(queries, by_query, Rule(match))
        return scores_of(hits, chosen, undefined, name=name, sampling=drawn, clusters=clusters)

    ranked = over(ranked_queries(test_set.queries), ranking) if ranking else None
    if not decisions:
        assert ranked is not None
        return ranked
    decided = over(_decidable(test_set), decisions)
    if ranked is None:
        return decided
    return replace(
        ranked,
        decisions=decided.decisions,
        decision_intervals=decided.decision_intervals,
        decided=decided.decided,
    )


def usual_measures(
    test_set: TestSet, outcomes: Sequence[QueryOutcome], protocol: Protocol | str | None = None
) -> str:
    """What is computed unless somebody asks for something else.

    Where the set has questions without an answer, that is also how well scores tell them apart.
    """
    chosen = protocol.value if isinstance(protocol, Protocol) else protocol
    if chosen == Protocol.ALL_QUERIES.value:
        return DEFAULT_DECISION_MEASURES
    if chosen is None and tells_evidence(test_set, outcomes):
        return f"{EVALUATION_MEASURES} {EVIDENCE_MEASURES}"
    return EVALUATION_MEASURES


def tells_evidence(test_set: TestSet, outcomes: Iterable[QueryOutcome]) -> bool:
    """Whether scores can be held against queries with evidence and others without."""
    found = {query.expect for query in test_set.queries}
    return {Expect.EVIDENCE, Expect.NOTHING} <= found and scored(outcomes)


def scored(outcomes: Iterable[QueryOutcome]) -> bool:
    """Whether results came with scores; an order alone decides nothing."""
    return all(one.results[0].score is not None for one in outcomes if one.results)


def no_scores(name: str, sampling: Sampling) -> Scores:
    """The scores of a run in which no query has anything to find."""
    none = np.zeros(0, dtype=np.int64)
    summary = Summary(none, none, none, none.astype(np.bool_), none, {}, 0)
    return Scores(name=name, queries=(), columns={}, summary=summary, sampling=sampling)


def check_families(measures: Iterable[Measure], protocol: Protocol | str | None) -> None:
    """Refuse measures that the protocol leaves out, before anything is run."""
    wrong = {"positives_only": Family.DECISION, "all_queries": Family.RANKING}
    left_out = wrong.get(protocol.value if isinstance(protocol, Protocol) else str(protocol))
    for measure in measures:
        if measure.definition.family is left_out:
            raise UsageError(f"{measure} is a measure that the protocol leaves out")


def answer_records(test_set: TestSet, outcomes: Iterable[QueryOutcome]) -> list[AnswerRecord]:
    """What the measures of answers look at, for the queries of the test set."""
    records = []
    for one in outcomes:
        query = test_set.by_id.get(one.query_id)
        if query is not None:
            records.append(
                AnswerRecord(
                    query_id=one.query_id,
                    expect=query.expect,
                    answer=one.answer,
                    results=len(one.results),
                    failed=one.error is not None,
                    must_contain=query.must_contain,
                    forbidden=query.forbidden,
                    known_citations=one.known_citations,
                )
            )
    return records


def latency(outcomes: Iterable[QueryOutcome]) -> Latency:
    """Mean, median and 95th percentile of the time that queries took."""
    times = [one.latency_ms for one in outcomes if one.latency_ms is not None and one.error is None]
    if not times:
        return Latency(0)
    p50, p95 = np.percentile(times, (50, 95)).tolist()
    return Latency(len(times), float(np.mean(times)), p50, p95)


def outcomes_digest(outcomes: Sequence[QueryOutcome]) -> str:
    """SHA-256 of what was found, whatever the order of queries; times do not count."""
    content = [
        [
            one.query_id,
            [(r.chunk_id, r.doc_id, r.score, r.spans) for r in one.results],
            one.error,
            one.degraded,
            sorted(one.component_errors),
            sorted(one.component_lists.items()),
            one.fused,
            None if one.answer is None else [one.answer.text, one.answer.citations],
        ]
        for one in sorted(outcomes, key=lambda one: one.query_id)
    ]
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _decidable(test_set: TestSet) -> tuple[GoldenQuery, ...]:
    """The queries with evidence, and those to which the right answer is that there is none."""
    return tuple(
        query for query in test_set.queries if query.judged or query.expect is Expect.NOTHING
    )
