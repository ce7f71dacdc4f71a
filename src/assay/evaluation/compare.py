"""Two runs of one test set: what changed, for which query, and what is known to cause it?

Per query, by the rank of the first relevant result among the first ``HIT_DEPTH``:

    Win         b hits and a does not, or both hit and b ranks the first hit better
    Loss        both hit, and b ranks it worse
    Regression  a hits and b does not
    Draw        the same rank, or both miss

Hits are chunks where the test set tells expected chunks from expected documents; a query that
expects documents alone is left out of them. What a run scores does not depend on the other run,
as long as both have the same chunker.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from assay.errors import InputError, UsageError
from assay.evaluation.answers import answer_records, score_answers
from assay.evaluation.chunker_match import (
    Archive,
    ChunkerMatch,
    Matching,
    differ,
    matching,
    no_archive,
    own_matching,
    versions,
)
from assay.evaluation.claim_changes import AnswerChange, ClaimChange, answer_changes, claim_changes
from assay.evaluation.defaults import (
    COMPARE_CUTOFFS,
    COMPARE_RECIPROCAL_RANK,
    EVALUATION_MEASURES,
    HIT_DEPTH,
    JUDGED_MEASURES,
)
from assay.evaluation.documents import doubts
from assay.evaluation.match import Targets, first_hits, judge_targets, ranked_queries, targets_of
from assay.evaluation.outcomes import component_errors
from assay.evaluation.parts import Mode
from assay.evaluation.score import scores_of
from assay.evaluation.scores import Scores, rounded
from assay.evaluation.stored_run import StoredRun
from assay.garbage import paused
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.model.answers import Expect
from assay.model.ranking import Match
from assay.model.runs import QueryOutcome, RunInfo
from assay.model.sampling import Sampling
from assay.model.scoring import MATCHED_BY
from assay.model.tabular import Records, Tabular
from assay.model.testset import GoldenQuery, Level, TestSet
from assay.plural import counted, share_of

ANSWER_KEYS = ("citation_coverage", "groundedness", "empty_result_rate", "refusal_correctness")
ABSENT = "—"
SHOWN_IDS = 5
PROMPT_WORDS = ("prompt", "answerer", "template")
EMBEDDING_WORDS = ("model", "encoder", "embedding")
UNSAID = ("assay", "lexicon")  # a run without them may be an older one: that is no difference


class ComparisonKind(StrEnum):
    """What b did to a query, seen from a."""

    WIN = "Win"
    LOSS = "Loss"
    DRAW = "Draw"
    REGRESSION = "Regression"


@dataclass(frozen=True, slots=True)
class QueryComparison:
    """One query in both runs; a rank is None where nothing relevant was in the top 10.

    ``note`` names every known cause, ``own`` those of this query alone: what differs between the
    runs as a whole stands in the report once.
    """

    query_id: str
    kind: ComparisonKind
    a_hit_rank: int | None
    b_hit_rank: int | None
    note: str | None = None
    own: str | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "query_id": self.query_id,
            "kind": self.kind.value,
            "a_hit_rank": self.a_hit_rank,
            "b_hit_rank": self.b_hit_rank,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class AggregateMetrics:
    """One run on the whole, as seed 001 lays it out; the values come from ``Scores``.

    ``hit_at_k`` and ``mrr`` look at chunks, ``recall_at_k_doc`` at documents. ``mrr``
    is RR@10 here: the seed's name for it, beside which the JSON has ``rr_at_10``. ``measures``
    holds what else was asked for, by text form. None where a measure is undefined; ``reasons``
    says why. The total has the queries that were skipped; those not asked count as having no
    results.
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
    skipped_queries: int = 0
    unasked_queries: int = 0
    measures: Mapping[str, float | None] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def scored_over(self) -> int:
        """How many queries the figures are over: all that were not skipped."""
        return self.total_queries - self.skipped_queries

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
            "rr_at_10": rounded(self.mrr),
            "recall_at_k_doc": {str(k): rounded(v) for k, v in self.recall_at_k_doc.items()},
            **{key: rounded(getattr(self, key)) for key in ANSWER_KEYS},
            "total_queries": self.total_queries,
            "failed_queries": self.failed_queries,
            "degraded_queries": self.degraded_queries,
            "skipped_queries": self.skipped_queries,
            "unasked_queries": self.unasked_queries,
            "measures": {name: rounded(value) for name, value in self.measures.items()},
            "reasons": dict(self.reasons),
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same: what kind it is, its name, and both values."""

    kind: str  # chunker | embedding | prompt | config | index | engine | code
    key: str
    a: str
    b: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.key} {self.a} → {self.b}"

    def to_dict(self) -> dict[str, str]:
        """JSON-ready."""
        return {"kind": self.kind, "key": self.key, "a": self.a, "b": self.b}


@dataclass(frozen=True, slots=True)
class CompareReport(Tabular):
    """Run b beside run a; deltas are b − a, None where a side is undefined.

    ``headline`` has the measures that the runs were made with, as far as the top 10 tells them.
    ``left_out`` are the queries that expect documents alone: they have no first hit to compare.
    ``claims`` are those of judged answers that changed sides, or came or went without support.
    ``answers`` are the queries that one run answered and the other did not.
    """

    run_a: str
    run_b: str
    aggregate_a: AggregateMetrics
    aggregate_b: AggregateMetrics
    deltas: Mapping[str, float | None]
    chunker_version_match: ChunkerMatch
    per_query: tuple[QueryComparison, ...]
    differences: tuple[Difference, ...] = ()
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    claims: tuple[ClaimChange, ...] = ()
    answers: tuple[AnswerChange, ...] = ()
    matching: Matching | None = field(default=None, compare=False, repr=False)
    headline: Mapping[str, tuple[float | None, float | None]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def counts(self) -> dict[ComparisonKind, int]:
        """How many queries there are of each kind."""
        found = Counter(query.kind for query in self.per_query)
        return {kind: found[kind] for kind in ComparisonKind}

    @property
    def match(self) -> Match:
        """The rule that the results of both runs are matched by."""
        return Match.EXACT if self.matching is None else self.matching.rule

    @property
    def matched(self) -> str:
        """The rule and what became of different chunkers, in words."""
        return f"matched {MATCHED_BY[self.match]}, chunkers: {self.chunker_version_match.value}"

    @property
    def degraded(self) -> bool:
        """Whether a component was missing somewhere in either run."""
        return bool(self.aggregate_a.degraded_queries or self.aggregate_b.degraded_queries)

    @property
    def incomplete(self) -> bool:
        """Whether either run did not ask some query."""
        return bool(self.aggregate_a.unasked_queries or self.aggregate_b.unasked_queries)

    def records(self) -> Records:
        """A row for each query that can be compared."""
        counts = ", ".join(f"{count} {kind.value}" for kind, count in self.counts.items())
        return Records.of(
            (query.to_dict() for query in self.per_query),
            f"{self.run_b} against {self.run_a}: {counts}",
            (self.matched, *map(str, self.differences), *self.warnings),
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, to 4 decimals."""
        return {
            "run_a": self.run_a,
            "run_b": self.run_b,
            "match": self.match.value,
            "aggregate_a": self.aggregate_a.to_dict(),
            "aggregate_b": self.aggregate_b.to_dict(),
            "deltas": {
                "chunker_version_match": self.chunker_version_match.value,
                **{key: rounded(value) for key, value in self.deltas.items()},
            },
            "counts": {kind.value: count for kind, count in self.counts.items()},
            "differences": [difference.to_dict() for difference in self.differences],
            "warnings": list(self.warnings),
            "per_query": [query.to_dict() for query in self.per_query],
            **({"left_out": list(self.left_out)} if self.left_out else {}),
            **({"claims": [one.to_dict() for one in self.claims]} if self.claims else {}),
            **({"answers": [one.to_dict() for one in self.answers]} if self.answers else {}),
        }


@dataclass(frozen=True, slots=True)
class Common:
    """What two runs can be compared on, and what a reader must know about it.

    ``queries`` has the judgments of b. Those of a stand in ``of_a``: the same, unless the runs
    asked documents of different origin, where each can only find what was judged of its own.
    ``skipped`` are the queries without ground truth that both have.
    """

    queries: tuple[GoldenQuery, ...]
    of_a: tuple[GoldenQuery, ...]
    warnings: tuple[str, ...]
    skipped: tuple[str, ...] = ()


@paused()
def compare_runs(
    a: StoredRun,
    b: StoredRun,
    *,
    measures: str | Iterable[str | Measure] = (),
    archive: Archive = no_archive,
    strict_chunker_version: bool = False,
) -> CompareReport:
    """Compare two stored runs over the queries that they have in common."""
    common = common_queries(a, b)
    match = matching(a, b, common.queries, archive=archive, strict=strict_chunker_version)
    found = differences(a, b)
    skipped = len(common.skipped)
    wanted = _Wanted.of(common.queries, match, skipped)
    of_a = wanted if common.of_a is common.queries else _Wanted.of(common.of_a, match, skipped)
    asked, headline = _ranking(measures), _headline(b)
    one, other = (_side(run, own, asked, headline) for run, own in ((a, of_a), (b, wanted)))
    causes = _causes(found, match)
    return CompareReport(
        run_a=a.name,
        run_b=b.name,
        aggregate_a=one.aggregate,
        aggregate_b=other.aggregate,
        deltas=deltas(one.aggregate.flat(), other.aggregate.flat()),
        chunker_version_match=match.match,
        per_query=tuple(
            _query(
                query,
                (one.first_hits.get(query.query_id), other.first_hits.get(query.query_id)),
                query_causes(a.by_query.get(query.query_id), b.by_query.get(query.query_id)),
                causes,
            )
            for query in wanted.ranked
            if query.query_id not in wanted.left_out
        ),
        differences=found,
        warnings=(
            *common.warnings,
            *match.notes,
            *_left_out(wanted),
            *run_doubts({a: common.of_a, b: common.queries}, match),
        ),
        left_out=wanted.left_out,
        claims=claim_changes(
            a.by_query,
            b.by_query,
            {one.query_id for one in common.queries if one.expect is Expect.EVIDENCE},
        ),
        answers=answer_changes(a.by_query, b.by_query),
        matching=match,
        headline={str(m): (one.scores[m], other.scores[m]) for m in headline},
    )


def aggregate_metrics(
    run: StoredRun,
    *,
    match: Matching | None = None,
    measures: str | Iterable[str | Measure] = (),
) -> AggregateMetrics:
    """One stored run on the whole; no other run is needed for it."""
    wanted = _Wanted.of(run.queries, match or own_matching(run), len(run.scope.skipped))
    return _side(run, wanted, _ranking(measures), ()).aggregate


def run_doubts(queries: Mapping[StoredRun, Sequence[GoldenQuery]], match: Matching) -> list[str]:
    """What to say of results that may belong to judged documents without saying so."""
    return [
        f"{run.name}: {said}"
        for run, asked in queries.items()
        for said in doubts(asked, run.by_query, match.documents, match.rule)
    ]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is looked for in a run: by the rule, and by the documents that are expected.

    ``left_out`` are the ranked queries that expect documents alone.
    """

    queries: tuple[GoldenQuery, ...]
    ranked: tuple[GoldenQuery, ...]
    by_rule: Targets
    by_document: Targets
    left_out: tuple[str, ...]
    skipped: int

    @classmethod
    def of(cls, queries: tuple[GoldenQuery, ...], match: Matching, skipped: int) -> _Wanted:
        ranked = ranked_queries(queries)
        # documents are those that the test set names: a run must not add any
        documents = match.documents
        named = [query for query in ranked if any(map(documents.judged, query.relevant_docs))]
        alone = [query.query_id for query in ranked if match.by_level and _documents_alone(query)]
        return cls(
            queries,
            ranked,
            targets_of(
                ranked, match.rule, match.places, by_level=match.by_level, documents=documents
            ),
            targets_of(named, Match.DOC, documents=documents),
            tuple(alone),
            skipped,
        )


def _documents_alone(query: GoldenQuery) -> bool:
    relevant = [one for one in query.relevant_docs if one.grade > 0]
    return all(one.level is Level.DOCUMENT for one in relevant)


def _left_out(wanted: _Wanted) -> tuple[str, ...]:
    """What to say of the queries that expect documents alone."""
    if not wanted.left_out:
        return ()
    share = share_of(len(wanted.left_out), len(wanted.ranked), "ranked query", "expects")
    shown = ", ".join(wanted.left_out[:SHOWN_IDS])
    more = ", ..." if len(wanted.left_out) > SHOWN_IDS else ""
    return (
        f"{share} documents and no chunk: counted in the recall of documents, left out of hits, "
        f"RR, wins and losses: {shown}{more}",
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """One run of a comparison."""

    scores: Scores
    first_hits: Mapping[str, int]
    aggregate: AggregateMetrics


def _side(
    run: StoredRun,
    wanted: _Wanted,
    measures: tuple[Measure, ...],
    headline: tuple[Measure, ...],
) -> _Side:
    """A run over the queries in which something is looked for."""
    by_rule, by_document = (
        judge_targets(each, run.by_query) for each in (wanted.by_rule, wanted.by_document)
    )
    hits, (rank,), recalls = (
        parse_measures(text) for text in (_at("Success"), COMPARE_RECIPROCAL_RANK, _at("Recall"))
    )
    asked = tuple(dict.fromkeys((*hits, rank, *measures, *headline)))
    scores = scores_of(by_rule, asked, name=run.name, sampling=Sampling())
    documents = scores_of(by_document, recalls, name=run.name, sampling=Sampling())
    outcomes = [
        run.by_query[query.query_id] for query in wanted.queries if query.query_id in run.by_query
    ]
    records = answer_records(TestSet("compared", "", wanted.queries), outcomes)
    answers = {measure.key: value for measure, value in score_answers(records).items()}
    judged = {
        str(measure): value
        for measure, value in score_answers(records, JUDGED_MEASURES).items()
        if any(one.judged is not None for one in outcomes)
    }
    reasons = {
        key: value.reason
        for key, value in {**answers, **judged}.items()
        if value.reason is not None
    }

    def mean(measure: Measure, scores: Scores, key: str) -> float | None:
        found = scores.aggregate(measure)
        if found.mean is None:
            column = scores.columns[measure]
            reasons[key] = column.reason or "no query has a judged result to find"
        return found.mean

    aggregate = AggregateMetrics(
        hit_at_k={m.cutoff or 0: mean(m, scores, m.key) for m in hits},
        mrr=mean(rank, scores, "mrr"),
        recall_at_k_doc={m.cutoff or 0: mean(m, documents, f"{m.key}_doc") for m in recalls},
        **{key: answers[key].value for key in ANSWER_KEYS},
        total_queries=len(wanted.queries) + wanted.skipped,
        failed_queries=sum(outcome.failed for outcome in outcomes),
        degraded_queries=sum(outcome.degraded for outcome in outcomes),
        skipped_queries=wanted.skipped,
        unasked_queries=len(wanted.queries) - len(outcomes),
        measures={
            **{str(m): mean(m, scores, str(m)) for m in measures},
            **{name: value.value for name, value in judged.items()},
        },
        reasons=reasons,
    )
    within = {query: rank for query, rank in first_hits(by_rule).items() if rank <= HIT_DEPTH}
    return _Side(scores, within, aggregate)


def _at(name: str) -> str:
    return f"{name}@{{{','.join(map(str, COMPARE_CUTOFFS))}}}"


def _ranking(measures: str | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """The ranking measures among them."""
    return tuple(
        measure
        for measure in (parse_measures(measures) if measures else ())
        if measure.definition.family is Family.RANKING
    )


def _headline(run: StoredRun) -> tuple[Measure, ...]:
    """The measures of the top 10 that the run was made with."""
    stored = [entry["measure"] for entry in run.info.aggregate.get("aggregates", {}).values()]
    return tuple(
        measure
        for measure in _ranking(stored or EVALUATION_MEASURES)
        if measure.cutoff is not None and measure.cutoff <= HIT_DEPTH
    )


def depth_for(measures: str) -> int | None:
    """How many results of each query a comparison looks at; None: all of them."""
    cutoffs = [measure.cutoff for measure in parse_measures(measures)] if measures else []
    known = [cutoff for cutoff in cutoffs if cutoff is not None]
    return max([HIT_DEPTH, *known]) if len(known) == len(cutoffs) else None


def common_queries(a: StoredRun, b: StoredRun) -> Common:
    """The queries that both runs are scored over; refused where there are none."""
    if a.test_set.name != b.test_set.name:
        raise UsageError(
            f"{a.name} was made with the test set {a.test_set.name}, "
            f"{b.name} with {b.test_set.name}",
            hint="compare runs of one test set",
        )
    warnings = [_self_warning(a)] if a.name == b.name else []
    for run in (a, b):
        warnings += state_warnings(run)
    queries = of_a = b.queries
    crossed = cross_mode(a.info, b.info)
    if crossed:
        before = {query.query_id: query for query in a.queries}
        queries = tuple(query for query in b.queries if query.query_id in before)
        of_a = tuple(before[query.query_id] for query in queries)
        warnings.append(
            f"the runs asked documents of different origin ({crossed[0]} and {crossed[1]}), and "
            "each is scored by what was judged of its own; "
            f"{counted(len(queries), 'query', 'is')} in both"
        )
    elif a.test_set is not b.test_set and a.test_set.checksum != b.test_set.checksum:
        queries, said = _shared(a, b)
        of_a = queries
        warnings += said
    if not queries:
        raise InputError(
            f"{a.name} and {b.name} have no query in common", hint="compare runs of one test set"
        )
    warnings += [] if crossed else _corpus_warnings(a, b)
    warnings += dict.fromkeys((*a.test_set.cautions, *b.test_set.cautions))
    skipped = tuple(one for one in b.scope.skipped if one in set(a.scope.skipped))
    return Common(queries, of_a, tuple(warnings), skipped)


def cross_mode(a: RunInfo, b: RunInfo) -> tuple[str, str] | None:
    """The modes of two runs of which one asked recorded and the other live documents."""
    one, other = str(a.config.get("mode", "")), str(b.config.get("mode", ""))
    return (one, other) if {one, other} == {Mode.OFFLINE, Mode.LIVE} else None


def _shared(a: StoredRun, b: StoredRun) -> tuple[tuple[GoldenQuery, ...], list[str]]:
    """The queries that runs of different versions or parts have in common, and what to say."""
    before = {query.query_id: query for query in a.queries}
    queries = [query for query in b.queries if query.query_id in before]
    same = tuple(q for q in queries if before[q.query_id].query_text == q.query_text)
    changed = sum(before[q.query_id].relevant_docs != q.relevant_docs for q in same)
    alone = [len(run.queries) - len(same) for run in (a, b)]
    one, other = a.test_set.version, b.test_set.version
    if one == other and a.info.part != b.info.part and not changed and len(same) == len(queries):
        return same, [
            f"the runs asked different parts of {a.test_set.name} ({a.info.part} and "
            f"{b.info.part}): only {counted(len(same), 'query', 'is')} in both runs; "
            f"in a alone: {alone[0]}, in b alone: {alone[1]}"
        ]
    return same, [
        f"the runs used different versions of {a.test_set.name} ({one} and {other}): only the "
        f"{counted(len(same), 'query')} with the same id and text are compared, by the judgments "
        f"of {other}" + (f", which differ for {changed} of them" if changed else "")
    ]


def deltas(a: Mapping[str, float | None], b: Mapping[str, float | None]) -> dict[str, float | None]:
    """The differences b − a for every key of either; None where a side is undefined or missing."""
    found: dict[str, float | None] = {}
    for key in dict.fromkeys((*a, *b)):
        before, after = a.get(key), b.get(key)
        found[key] = None if before is None or after is None else after - before
    return found


def classify_ranks(a: int | None, b: int | None) -> ComparisonKind:
    """The kind of a query by the ranks of its first hits."""
    if a == b:
        return ComparisonKind.DRAW
    if b is None:
        return ComparisonKind.REGRESSION
    return ComparisonKind.WIN if a is None or b < a else ComparisonKind.LOSS


def _query(
    query: GoldenQuery,
    ranks: tuple[int | None, int | None],
    own: list[str],
    causes: str | None,
) -> QueryComparison:
    kind = classify_ranks(*ranks)
    parts = own if kind is ComparisonKind.DRAW or causes is None else [*own, causes]
    note, alone = ("; ".join(lines) or None for lines in (parts, own))
    return QueryComparison(query.query_id, kind, *ranks, note=note, own=alone)


def _causes(found: tuple[Difference, ...], match: Matching) -> str | None:
    """What could explain any change between the two runs, in one line."""
    named = [str(difference) for difference in found if difference.kind not in ("code", "index")]
    if match.match is not ChunkerMatch.EXACT:
        named.append(f"matched by {match.match.value}")
    return "; ".join(named) or None


def _self_warning(run: StoredRun) -> str:
    return f"{run.name} is compared with itself"


def state_warnings(run: StoredRun) -> list[str]:
    """What a reader must know about a run before believing its numbers."""
    found = []
    if run.incomplete is not None:
        found.append(run.incomplete)
    if run.degraded:
        found.append(
            f"DEGRADED: {share_of(len(run.degraded), len(run.queries), 'query')} of {run.name} "
            f"answered without some component ({component_errors(run.degraded)})"
        )
    failed = len(run.failed) - len(run.unanswered)
    if failed:
        found.append(
            f"{share_of(failed, len(run.queries), 'query')} of {run.name} failed: "
            "counted as having no results"
        )
    if run.unanswered:
        hidden = run.test_set.held_out_ids  # an error may quote its query
        shown = (out.answer_error for out in run.unanswered if out.query_id not in hidden)
        first = next((f" (the first with {error})" for error in shown), "")
        found.append(
            f"{share_of(len(run.unanswered), len(run.queries), 'query')} of {run.name} could not "
            f"be answered, which counts as wrong{first}"
        )
    return found


def _corpus_warnings(a: StoredRun, b: StoredRun) -> list[str]:
    """What to say of runs that share no document: a run that fails altogether looks like that."""
    one, other = (
        {result.doc_id for outcome in run.outcomes for result in outcome.results} for run in (a, b)
    )
    empty = [run.name for run, found in ((a, one), (b, other)) if not found]
    if empty or not one.isdisjoint(other):
        return [f"{name} returned nothing at all" for name in dict.fromkeys(empty)]
    return [
        f"{a.name} and {b.name} have no document in common: one of them fails, or they searched "
        f"different corpora (a returned, for example, {min(one)!r:.60}, b {min(other)!r:.60})"
    ]


def differences(a: StoredRun, b: StoredRun) -> tuple[Difference, ...]:
    """Everything that the runs record differently, causes first."""
    return tuple(_differences(a, b))


def _differences(a: StoredRun, b: StoredRun) -> Iterator[Difference]:
    one, other = sorted(versions(a)), sorted(versions(b))
    if one and other and one != other and differ(a, b):
        yield Difference("chunker", "chunker_version", ", ".join(one), ", ".join(other))
    models_a, models_b = dict(a.info.models), dict(b.info.models)
    for key in sorted(models_a.keys() | models_b.keys()):
        if models_a.get(key) != models_b.get(key):
            yield Difference("embedding", key, _text(models_a, key), _text(models_b, key))
    config_a, config_b = _flat(a.info.config), _flat(b.info.config)
    for key in sorted(config_a.keys() | config_b.keys()):
        if key in UNSAID and not (key in config_a and key in config_b):
            continue
        if config_a.get(key) != config_b.get(key):
            yield Difference(_kind(key), key, _text(config_a, key), _text(config_b, key))
    for kind, key in (("engine", "engine"), ("index", "generation"), ("code", "commit_hash")):
        before, after = getattr(a.info, key), getattr(b.info, key)
        if before != after:
            yield Difference(kind, key, before or ABSENT, after or ABSENT)


def query_causes(a: QueryOutcome | None, b: QueryOutcome | None) -> list[str]:
    """What went wrong for this query in one of the runs; None where it was not asked."""
    found = []
    for side, outcome in (("a", a), ("b", b)):
        if outcome is None:
            found.append(f"{side} did not ask it")
        elif outcome.error is not None:
            found.append(f"{side} failed: {outcome.error}")
        elif outcome.answer_error is not None:
            found.append(f"{side} not answered: {outcome.answer_error}")
        elif outcome.degraded or outcome.component_errors:
            named = ", ".join(outcome.component_errors) or "a component is missing"
            found.append(f"{side} degraded: {named}")
    return found


def _kind(key: str) -> str:
    last = key.lower()
    if any(word in last for word in PROMPT_WORDS):
        return "prompt"
    return "embedding" if any(word in last for word in EMBEDDING_WORDS) else "config"


def _flat(values: Mapping[str, Any], head: str = "") -> dict[str, str]:
    """Nested settings as dotted keys with their values as text."""
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{head}{key}.")
        else:
            flat[f"{head}{key}"] = (
                value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
            )
    return flat


def _text(values: Mapping[str, str], key: str) -> str:
    return values.get(key, ABSENT) or '""'
