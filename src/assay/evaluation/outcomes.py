"""What do stored outcomes score, by the judgments of a test set?

Nothing is searched here: a run that was made years ago is scored under today's formulas. A query
that failed, found nothing or was never reached counts as having no results.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import numpy as np

from assay.errors import UsageError
from assay.evaluation.answers import answer_records, answer_values
from assay.evaluation.defaults import (
    AB_MEASURES,
    EVALUATION_MEASURES,
    EVIDENCE_MEASURES,
)
from assay.evaluation.documents import Documents, documents_of
from assay.evaluation.match import judge_outcomes, ranked_queries
from assay.evaluation.scope import ranks_nothing
from assay.evaluation.score import Protocol, check_families, measures_by, protocol_named, scores_of
from assay.evaluation.scores import Scores, no_scores, rounded
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Column, Family, Measure
from assay.measures.parse import parse_measures
from assay.model.answers import Expect, Usage, added_usage
from assay.model.arrays import FloatArray
from assay.model.document import ChunkPlace
from assay.model.ranking import Match, MatchName, falling
from assay.model.runs import QueryOutcome
from assay.model.sampling import Sampling
from assay.model.testset import GoldenQuery, TestSet

NO_RANKING = "no query names a relevant document"


def score_outcomes(
    test_set: TestSet,
    outcomes: Iterable[QueryOutcome],
    measures: str | Iterable[str | Measure] = EVALUATION_MEASURES,
    *,
    name: str = "run",
    protocol: Protocol | str | None = None,
    undefined: Literal["skip", "zero"] = "skip",
    match: Match | MatchName = Match.EXACT,
    places: Mapping[str, ChunkPlace] | None = None,
    by_level: bool | None = None,
    documents: Documents | None = None,
    sampling: Sampling | None = None,
    by_group: bool = False,
) -> Scores:
    """Score outcomes; they may hold more queries than the test set.

    Ranking measures run over the queries that have evidence, decision measures also over those
    where there is none to find (``expect: nothing``). Measures of answers are left to
    ``score_answers``. ``places`` says where judged chunks stand, for matching by document or span.
    ``documents`` tells the document of a chunk: by default by our form of ids and the pairs of the
    test set. ``by_group`` resamples the queries of one group (a post, an interview) together.
    """
    asked = parse_measures(measures)
    check_families(asked, protocol_named(protocol))
    ranking = [m for m in asked if m.definition.family is Family.RANKING]
    decisions = [m for m in asked if m.definition.family is Family.DECISION]
    if not ranking and not decisions:
        raise UsageError("there is no ranking measure to compute", hint="such as nDCG@10")
    by_query = {outcome.query_id: outcome for outcome in outcomes}
    clusters = groups_of(test_set.queries) if by_group else None
    owners = documents_of(test_set) if documents is None else documents

    def over(queries: tuple[GoldenQuery, ...], chosen: list[Measure]) -> Scores:
        if not queries:
            raise no_relevant(test_set)
        hits = judge_outcomes(
            queries, by_query, Match(match), places, by_level=by_level, documents=owners
        )
        return scores_of(
            hits, chosen, undefined, name=name, sampling=sampling or Sampling(), clusters=clusters
        )

    if not decisions and ranks_nothing(test_set.queries):
        return _unranked(test_set, ranking, name, sampling or Sampling())
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


def _unranked(
    test_set: TestSet, measures: Sequence[Measure], name: str, sampling: Sampling
) -> Scores:
    """Measures of rankings where only answers can be right or wrong: undefined for every query."""
    queries = tuple(query.query_id for query in test_set.queries)
    none = Column(np.zeros(len(queries)), np.zeros(len(queries), np.bool_), NO_RANKING)
    return replace(no_scores(name, sampling, queries), columns=dict.fromkeys(measures, none))


def score_run(
    run: StoredRun,
    measures: str | Iterable[str | Measure] = AB_MEASURES,
    *,
    queries: Sequence[GoldenQuery] | None = None,
    match: Match | None = None,
    places: Mapping[str, ChunkPlace] | None = None,
    by_level: bool | None = None,
    documents: Documents | None = None,
    sampling: Sampling | None = None,
    by_group: bool | None = None,
) -> Scores:
    """The rankings of a stored run, over all queries of its ``scope`` or some of them.

    What is not said is as the run was scored when it was made.
    """
    scoring = run.info.scoring.changed(match=match, sampling=sampling, by_group=by_group)
    return score_outcomes(
        replace(run.test_set, queries=tuple(run.queries if queries is None else queries)),
        run.outcomes,
        ranking_only(measures),
        name=run.name,
        match=scoring.match,
        places=places,
        by_level=by_level,
        documents=documents or documents_of(run.test_set, scoring.chunk_separator),
        sampling=scoring.sampling,
        by_group=scoring.by_group,
    )


def score_answers_of_run(
    run: StoredRun,
    measures: Sequence[Measure],
    queries: Sequence[GoldenQuery],
    *,
    sampling: Sampling | None = None,
    by_group: bool | None = None,
) -> Scores:
    """The answers of a stored run, query by query, as rankings are scored."""
    scoring = run.info.scoring.changed(sampling=sampling, by_group=by_group)
    part = replace(run.test_set, queries=tuple(queries))
    outcomes = [one for one in run.outcomes if one.query_id in part.by_id]
    values = answer_values(answer_records(part, outcomes), measures)
    names = tuple(query.query_id for query in queries)
    columns = {
        measure: Column(
            np.array([found.get(name, 0.0) for name in names], dtype=np.float64),
            np.array([name in found for name in names], dtype=np.bool_),
            measure.definition.without,
        )
        for measure, found in values.items()
    }
    clusters = groups_of(queries) if scoring.by_group else None
    return replace(
        no_scores(run.name, scoring.sampling, names),
        columns=columns,
        clusters=None if clusters is None else tuple(clusters[name] for name in names),
    )


def groups_of(queries: Iterable[GoldenQuery]) -> dict[str, str]:
    """The group of each query, by its id; one without a group is a group of its own."""
    return {query.query_id: query.group or f"({query.query_id})" for query in queries}


def ranking_only(measures: str | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """The measures; one that does not look at rankings is refused."""
    asked = parse_measures(measures)
    for measure in asked:
        if measure.definition.family is not Family.RANKING:
            raise UsageError(f"{measure} is not a measure of rankings", hint="see: assay measures")
    return asked


def no_relevant(test_set: TestSet) -> UsageError:
    """What to say of a test set that ranking measures cannot be computed on."""
    return UsageError(
        f"no query of {test_set.name} has a relevant document", hint="judge some first"
    )


def usual_measures(
    test_set: TestSet, outcomes: Sequence[QueryOutcome], protocol: Protocol | str | None = None
) -> str:
    """The measures that are computed unless others are asked for.

    Where the set has questions without an answer, that includes how well scores tell them apart.
    """
    chosen = protocol_named(protocol)
    if chosen is None and tells_evidence(test_set, outcomes):
        return f"{EVALUATION_MEASURES} {EVIDENCE_MEASURES}"
    return measures_by(chosen, EVALUATION_MEASURES)


def tells_evidence(test_set: TestSet, outcomes: Iterable[QueryOutcome]) -> bool:
    """Whether there are queries with evidence, queries without, and scores to tell them apart."""
    found = {query.expect for query in test_set.queries}
    return {Expect.EVIDENCE, Expect.NOTHING} <= found and scored(outcomes)


def scored(outcomes: Iterable[QueryOutcome]) -> bool:
    """Whether results came with scores that rank them; an order alone decides nothing."""
    return all(
        outcome.results[0].score is not None and falling([one.score for one in outcome.results])
        for outcome in outcomes
        if outcome.results
    )


def query_field(queries: Iterable[GoldenQuery], name: str) -> dict[str, str]:
    """What each query has in a field (query_type, speaker_filter ...), for breakdowns."""
    return {
        query.query_id: str(value)
        for query in queries
        if (value := getattr(query, name)) is not None
    }


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


def latency(outcomes: Iterable[QueryOutcome]) -> Latency:
    """Mean, median and 95th percentile of the time that queries took."""
    return latency_of(
        [
            outcome.latency_ms
            for outcome in outcomes
            if outcome.latency_ms is not None and outcome.error is None
        ]
    )


def latency_of(times: Sequence[float] | FloatArray) -> Latency:
    """The same of times in milliseconds."""
    if not len(times):
        return Latency(0)
    p50, p95 = np.percentile(times, (50, 95)).tolist()
    return Latency(len(times), float(np.mean(times)), p50, p95)


def usage_of(outcomes: Iterable[QueryOutcome]) -> Usage | None:
    """What all queries cost together; None where no answer says so."""
    return reduce(added_usage, (one.usage for one in outcomes), None)


def component_errors(outcomes: Iterable[QueryOutcome]) -> str:
    """Which components did not answer, and how often: ``splade_timeout ×3``."""
    named = Counter(error for outcome in outcomes for error in outcome.component_errors)
    return ", ".join(f"{name} ×{count}" for name, count in sorted(named.items())) or "not named"


def outcomes_digest(outcomes: Sequence[QueryOutcome]) -> str:
    """SHA-256 of what was found, whatever the order of queries; times do not count."""
    content = [
        [
            outcome.query_id,
            [(r.chunk_id, r.doc_id, r.score, r.spans) for r in outcome.results],
            outcome.error,
            outcome.degraded,
            sorted(outcome.component_errors),
            sorted(outcome.component_lists.items()),
            outcome.fused,
            None if outcome.answer is None else [outcome.answer.text, outcome.answer.citations],
            *([] if outcome.answer_error is None else [outcome.answer_error]),
        ]
        for outcome in sorted(outcomes, key=lambda outcome: outcome.query_id)
    ]
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _decidable(test_set: TestSet) -> tuple[GoldenQuery, ...]:
    """The queries with evidence, and those to which the right answer is that there is none."""
    return tuple(
        query for query in test_set.queries if query.judged or query.expect is Expect.NOTHING
    )
