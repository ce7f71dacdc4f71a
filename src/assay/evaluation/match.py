"""Which judged things did a stored ranking bring back, and by which rule?

A judgment names a chunk, a document, or spans of a document. A result brings it when

    EXACT   it is the judged chunk; or of the judged document (and covers half of its judged spans)
    SPAN    it is of the same document, and with the results before it covers half of the characters
            that were judged, where they are known: ids of chunks mean nothing to a run that was cut
            in another way, and a chunk that was cut in three comes back in parts
    DOC     it is of the same document

Every judgment is found once, at the first result that brings it. The order is score descending,
then the rank that the engine gave; results without scores keep theirs.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from assay.measures.table import JudgedHits, build_table
from assay.model.answers import Expect
from assay.model.arrays import IntArray
from assay.model.judgments import Span
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import GoldenQuery, Judgment

CHUNK_MARK = ":chunk_"
ENOUGH_COVERED = 0.5


class Rule(Enum):
    """When is a result what was judged?"""

    EXACT = "exact"
    SPAN = "span"
    DOC = "doc"


class Place(NamedTuple):
    """Where a chunk stands: its document, and its characters there (empty: not known)."""

    doc_id: str
    spans: tuple[Span, ...] = ()


class Target(NamedTuple):
    """One judged thing as a rule looks for it: a chunk, or a document (or spans of it).

    ``in_parts``: several results may cover the spans together. A tuple, since there are many.
    """

    grade: int
    chunk_id: str | None = None
    doc_id: str | None = None
    spans: tuple[Span, ...] = ()
    in_parts: bool = False


def ranked_queries(queries: Iterable[GoldenQuery]) -> tuple[GoldenQuery, ...]:
    """The queries that ranking measures look at: those that should be answered from evidence."""
    return tuple(query for query in queries if query.expect is Expect.EVIDENCE and query.judged)


def place_of(judgment: Judgment, archive: Mapping[str, Place]) -> Place:
    """Where the judged thing stands, by the test set, else the archive, else its id."""
    known = archive.get(judgment.id)
    spans = judgment.spans or (known.spans if known is not None else ())
    return Place(_document_of(judgment, archive), spans)


def _document_of(judgment: Judgment, archive: Mapping[str, Place]) -> str:
    if judgment.doc_id is not None:
        return judgment.doc_id
    known = archive.get(judgment.id)
    return document_id(judgment.id) if known is None else known.doc_id


def document_id(text: str) -> str:
    """The document's part of a chunk's id; of any other id, all of it."""
    head, found, _ = text.rpartition(CHUNK_MARK)
    return head if found else text


def targets(query: GoldenQuery, rule: Rule, archive: Mapping[str, Place]) -> list[Target]:
    """What the rule looks for; by document, the best grade of its judgments counts."""
    if rule is Rule.EXACT:
        return [
            Target(one.grade, chunk_id=one.id, doc_id=one.id, spans=one.spans)
            for one in query.relevant_docs
        ]
    found: list[Target] = []
    whole: dict[str, int] = {}
    for one in query.relevant_docs:
        if rule is Rule.SPAN and (place := place_of(one, archive)).spans:
            found.append(Target(one.grade, None, place.doc_id, place.spans, in_parts=True))
        else:
            doc_id = _document_of(one, archive)
            whole[doc_id] = max(one.grade, whole.get(doc_id, one.grade))
    return found + [Target(grade, doc_id=doc_id) for doc_id, grade in whole.items()]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The targets of one query, with their numbers by chunk and by document."""

    targets: Sequence[Target]
    by_chunk: Mapping[str, Sequence[int]]
    by_doc: Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Sought:
    """What a rule looks for, query by query: made once and held against any number of runs."""

    queries: Sequence[GoldenQuery]
    wanted: Sequence[Wanted]
    judged: tuple[IntArray, IntArray]


def sought(
    queries: Sequence[GoldenQuery], rule: Rule, archive: Mapping[str, Place] | None = None
) -> Sought:
    """What the rule looks for in the results of these queries."""
    wanted = [_wanted(targets(query, rule, archive or {})) for query in queries]
    counts = [len(one.targets) for one in wanted]
    grades = [target.grade for one in wanted for target in one.targets]
    at = np.repeat(np.arange(len(wanted), dtype=np.int64), counts)
    return Sought(queries, wanted, (at, np.array(grades, dtype=np.int64)))


def _wanted(found: list[Target]) -> Wanted:
    by_chunk: dict[str, list[int]] = {}
    by_doc: dict[str, list[int]] = {}
    for number, target in enumerate(found):
        if target.chunk_id is not None:
            by_chunk.setdefault(target.chunk_id, []).append(number)
        if target.doc_id is not None:
            by_doc.setdefault(target.doc_id, []).append(number)
    return Wanted(found, by_chunk, by_doc)


def judge_outcomes(
    queries: Sequence[GoldenQuery],
    outcomes: Mapping[str, QueryOutcome],
    rule: Rule,
    archive: Mapping[str, Place] | None = None,
) -> JudgedHits:
    """The judged-hits table of stored outcomes; a query that failed has no results."""
    return judge_sought(sought(queries, rule, archive), outcomes)


def judge_sought(what: Sought, outcomes: Mapping[str, QueryOutcome]) -> JudgedHits:
    """The same where the judgments are prepared already."""
    queries = what.queries
    ats: list[int] = []
    ranks: list[int] = []
    grades: list[int] = []
    retrieved = [0] * len(queries)
    top = [-np.inf] * len(queries)
    missing = [False] * len(queries)
    for at, (query, wanted) in enumerate(zip(queries, what.wanted, strict=True)):
        outcome = outcomes.get(query.query_id)
        missing[at] = outcome is None
        if outcome is None or outcome.error is not None or not outcome.results:
            continue
        results = _ordered(outcome.results)
        retrieved[at] = len(results)
        if results[0].score is not None:
            top[at] = results[0].score
        for rank, grade in _found(results, wanted):
            ats.append(at)
            ranks.append(rank)
            grades.append(grade)
    return build_table(
        tuple(query.query_id for query in queries),
        (_whole(ats), _whole(ranks), _whole(grades)),
        what.judged,
        retrieved=_whole(retrieved),
        top_score=np.array(top, dtype=np.float64),
        tied=np.zeros(len(queries), dtype=np.int64),
        missing=np.array(missing, dtype=np.bool_),
        extra_queries=0,
    )


def _whole(numbers: list[int]) -> IntArray:
    return np.array(numbers, dtype=np.int64)


def graded_ranks(
    query: GoldenQuery, outcome: QueryOutcome, rule: Rule, archive: Mapping[str, Place]
) -> dict[int, int]:
    """The grade of each result that brings something judged, by its rank."""
    grades: dict[int, int] = {}
    for rank, grade in _found(_ordered(outcome.results), _wanted(targets(query, rule, archive))):
        grades[rank] = max(grade, grades.get(rank, grade))
    return grades


def first_hits(hits: JudgedHits) -> dict[str, int]:
    """The rank of each query's first relevant result; queries without one are not in it."""
    relevant = hits.grade >= 1
    first: dict[str, int] = {}
    for at, rank in zip(hits.query[relevant].tolist(), hits.rank[relevant].tolist(), strict=True):
        first.setdefault(hits.queries[at], rank)  # rows are in order of rank
    return first


def covers_enough(judged: Sequence[Span], spans: Sequence[Span]) -> bool:
    """Do these spans hold at least half of the judged characters?"""
    wanted = sum(end - start for start, end in judged)
    covered = 0
    for start, end in judged:
        reached = start
        for low, high in sorted(spans):  # spans may overlap; no character counts twice
            covered += max(0, min(end, high) - max(reached, low))
            reached = max(reached, min(end, high))
    return covered >= ENOUGH_COVERED * wanted


def _ordered(results: Sequence[RankedResult]) -> Sequence[RankedResult]:
    scores = [-np.inf if result.score is None else result.score for result in results]
    if all(map(operator.ge, scores, scores[1:])):
        return results
    return [results[at] for at in sorted(range(len(results)), key=lambda at: (-scores[at], at))]


def _found(results: Sequence[RankedResult], wanted: Wanted) -> list[tuple[int, int]]:
    """(rank, grade) of every target at the first result that brings it."""
    by_chunk, by_doc = wanted.by_chunk, wanted.by_doc
    waiting = set(range(len(wanted.targets)))
    seen: dict[int, list[Span]] = {}
    found: list[tuple[int, int]] = []
    for rank, result in enumerate(results, 1):
        if result.chunk_id not in by_chunk and result.doc_id not in by_doc:
            continue  # the rule, in rankings of many and judgments of few
        brought = set(by_chunk.get(result.chunk_id, ()))
        for number in by_doc.get(result.doc_id, ()):
            target = wanted.targets[number]
            shown: Sequence[Span] = result.spans
            if target.in_parts:
                shown = seen.setdefault(number, [])
                shown += result.spans
            if enough(target.spans, shown):
                brought.add(number)
        for number in sorted(brought & waiting):
            found.append((rank, wanted.targets[number].grade))
            waiting.discard(number)
        if not waiting:
            break
    return found


def enough(judged: Sequence[Span], spans: Sequence[Span]) -> bool:
    """Where either side's characters are not known, any result of the document will do."""
    return not judged or not spans or covers_enough(judged, spans)
