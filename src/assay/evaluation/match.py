"""Which judged things did a stored ranking bring back, by which rule, and at which rank?

A judgment names a chunk, a document, or spans of a document; ``Match`` says when a result counts as
the judged thing. Results are looked at one at a time: parts of several are never added up. One
result may bring several judged things (design/041).

Every judgment is found once, at the first result that brings it. The order is that of the outcome,
which keeps results as they were ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from assay.evaluation.documents import Documents
from assay.measures.table import JudgedHits, build_table
from assay.model.answers import Expect
from assay.model.arrays import BoolArray, IntArray
from assay.model.document import ChunkPlace
from assay.model.judgments import Span
from assay.model.ranking import ENOUGH_COVERED, Match, document_id, falling
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import GoldenQuery, Judgment, Level, TestSet
from assay.plural import share_of

LookUp: TypeAlias = Callable[[Iterable[str]], Mapping[str, ChunkPlace]]
"""Where did these chunks stand when the run was made?"""

SHOWN_IDS = 3
BY_FORM = Documents()
"""The document of a chunk as its id names it, in our form."""


class Target(NamedTuple):
    """One judged thing as a rule looks for it: a chunk, or a document (or passages of it).

    A passage is one or more spans, and half of the characters of one passage must be covered. The
    spans of a judged chunk are one passage: pieces of a table with its head, for example. Those of
    a judged document are passages each. ``document``: the test set expects a document here, where
    others are chunks. A tuple, since there are many.
    """

    grade: int
    chunk_id: str | None = None
    doc_id: str | None = None
    passages: tuple[tuple[Span, ...], ...] = ()
    document: bool = False


def ranked_queries(queries: Iterable[GoldenQuery]) -> tuple[GoldenQuery, ...]:
    """The queries that ranking measures look at: those that should be answered from evidence."""
    return tuple(query for query in queries if query.expect is Expect.EVIDENCE and query.judged)


def place_of(
    judgment: Judgment, archive: Mapping[str, ChunkPlace], documents: Documents = BY_FORM
) -> ChunkPlace:
    """Where the judged thing stands, by the test set, else the archive, else its id."""
    known = archive.get(judgment.id)
    spans = judgment.spans or (known.spans if known is not None else ())
    return ChunkPlace(_document_of(judgment, archive, documents), spans)


def _document_of(
    judgment: Judgment, archive: Mapping[str, ChunkPlace], documents: Documents
) -> str:
    if judgment.owner is not None:
        return judgment.owner
    known = archive.get(judgment.id)
    return documents.judged(judgment) or judgment.id if known is None else known.doc_id


def _targets(
    judgments: Sequence[Judgment],
    rule: Match,
    archive: Mapping[str, ChunkPlace],
    documents: Documents = BY_FORM,
) -> list[Target]:
    """What the rule looks for; by document, the best grade of its judgments counts."""
    if rule is Match.EXACT:
        return [_as_judged(one) for one in judgments]
    found: list[Target] = []
    whole: dict[str, Target] = {}
    nowhere: list[Target] = []
    for one in judgments:
        if rule is Match.SPAN and (place := place_of(one, archive, documents)).spans:
            found += [
                Target(one.grade, None, place.doc_id, (passage,))
                for passage in _passages(one, place)
            ]
        elif documents.judged(one) is None and one.id not in archive:
            nowhere.append(Target(one.grade, one.id))
        else:
            _add_document(whole, one, _document_of(one, archive, documents))
    # the document of a chunk that nobody knows is one of those that are named, where any are
    return found + (list(whole.values()) or nowhere)


def _passages(one: Judgment, place: ChunkPlace) -> tuple[tuple[Span, ...], ...]:
    """What was judged, passage by passage; see ``Target``."""
    if one.id == place.doc_id:
        return tuple((span,) for span in place.spans)
    return (place.spans,)


def _as_judged(one: Judgment) -> Target:
    """The judged id itself: that of a chunk, or of a document that any of its chunks brings."""
    expects_document = one.level is Level.DOCUMENT
    doc_id = None if one.level is Level.CHUNK else one.id
    return Target(one.grade, one.id, doc_id, tuple((span,) for span in one.spans), expects_document)


def _add_document(whole: dict[str, Target], one: Judgment, doc_id: str) -> None:
    """Look for a document; an id of an unknown kind is also found as that of a chunk."""
    chunk_id = doc_id if one.id == doc_id and one.level is None else None
    new = Target(one.grade, chunk_id, doc_id, document=one.level is Level.DOCUMENT)
    known = whole.get(doc_id, new)
    whole[doc_id] = new._replace(
        grade=max(new.grade, known.grade),
        chunk_id=chunk_id or known.chunk_id,
        document=new.document and known.document,
    )


@dataclass(frozen=True, slots=True)
class QueryTargets:
    """The targets of one query, with their numbers by chunk and by document."""

    targets: Sequence[Target]
    by_chunk: Mapping[str, Sequence[int]]
    by_doc: Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Targets:
    """What a rule looks for, query by query: made once and held against any number of runs."""

    queries: Sequence[GoldenQuery]
    by_query: Sequence[QueryTargets]
    judged: tuple[IntArray, IntArray]
    levels: BoolArray | None = None  # those of ``judged`` that expect a document, if any do
    documents: Documents = BY_FORM


def targets_of(
    queries: Sequence[GoldenQuery],
    rule: Match,
    archive: Mapping[str, ChunkPlace] | None = None,
    *,
    by_level: bool | None = None,
    documents: Documents = BY_FORM,
) -> Targets:
    """What the rule looks for in the results of these queries.

    ``by_level`` tells expected chunks from expected documents: documents count where a query
    expects no chunk, and measures of chunks leave such queries out. It is usual unless results are
    matched by document anyway.
    """
    if by_level is None:
        by_level = rule is not Match.DOC
    wanted = [
        _indexed(_wanted(query, rule, archive or {}, documents, by_level=by_level))
        for query in queries
    ]
    counts = [len(one.targets) for one in wanted]
    every = [target for one in wanted for target in one.targets]
    at = np.repeat(np.arange(len(wanted), dtype=np.int64), counts)
    levels = None
    if by_level:
        marks = np.array([target.document for target in every], dtype=np.bool_)
        levels = marks if marks.any() else None
    grades = np.array([target.grade for target in every], dtype=np.int64)
    return Targets(queries, wanted, (at, grades), levels, documents)


def _wanted(
    query: GoldenQuery,
    rule: Match,
    archive: Mapping[str, ChunkPlace],
    documents: Documents,
    *,
    by_level: bool,
) -> list[Target]:
    """What the rule looks for: the chunks that the query expects, else its documents.

    Otherwise what counts would hang on whether ids tell which of the documents a chunk is part of.
    """
    found = _targets(query.relevant_docs, rule, archive, documents)
    if by_level and any(one.grade > 0 and not one.document for one in found):
        return [one for one in found if not one.document]
    return found


def _indexed(found: list[Target]) -> QueryTargets:
    by_chunk: dict[str, list[int]] = {}
    by_doc: dict[str, list[int]] = {}
    for number, target in enumerate(found):
        if target.chunk_id is not None:
            by_chunk.setdefault(target.chunk_id, []).append(number)
        if target.doc_id is not None:
            by_doc.setdefault(target.doc_id, []).append(number)
    return QueryTargets(found, by_chunk, by_doc)


def judge_outcomes(
    queries: Sequence[GoldenQuery],
    outcomes: Mapping[str, QueryOutcome],
    rule: Match,
    archive: Mapping[str, ChunkPlace] | None = None,
    *,
    by_level: bool | None = None,
    documents: Documents = BY_FORM,
) -> JudgedHits:
    """The judged-hits table of stored outcomes; a query that failed has no results."""
    targets = targets_of(queries, rule, archive, by_level=by_level, documents=documents)
    return judge_targets(targets, outcomes)


def judge_targets(targets: Targets, outcomes: Mapping[str, QueryOutcome]) -> JudgedHits:
    """The judged-hits table of stored outcomes, for judgments that were prepared before."""
    queries = targets.queries
    ats: list[int] = []
    ranks: list[int] = []
    found: list[Target] = []
    retrieved = [0] * len(queries)
    top = [-np.inf] * len(queries)
    missing = [False] * len(queries)
    for at, (query, wanted) in enumerate(zip(queries, targets.by_query, strict=True)):
        outcome = outcomes.get(query.query_id)
        missing[at] = outcome is None
        if outcome is None or outcome.error is not None or not outcome.results:
            continue
        results = outcome.results
        retrieved[at] = len(results)
        if results[0].score is not None and falling([one.score for one in results]):
            top[at] = results[0].score
        for rank, target in _found(results, wanted, targets.documents):
            ats.append(at)
            ranks.append(rank)
            found.append(target)
    marks = np.array([target.document for target in found], dtype=np.bool_)
    return build_table(
        tuple(query.query_id for query in queries),
        (_whole(ats), _whole(ranks), _whole([target.grade for target in found])),
        targets.judged,
        retrieved=_whole(retrieved),
        top_score=np.array(top, dtype=np.float64),
        tied=np.zeros(len(queries), dtype=np.int64),
        missing=np.array(missing, dtype=np.bool_),
        extra_queries=0,
        documents=None if targets.levels is None else (marks, targets.levels),
    )


def _whole(numbers: list[int]) -> IntArray:
    return np.array(numbers, dtype=np.int64)


def graded_ranks(
    query: GoldenQuery,
    outcome: QueryOutcome,
    rule: Match,
    archive: Mapping[str, ChunkPlace],
    documents: Documents = BY_FORM,
) -> dict[int, int]:
    """The grade of each result that brings something judged, by its rank."""
    grades: dict[int, int] = {}
    by_level = rule is not Match.DOC
    wanted = _indexed(_wanted(query, rule, archive, documents, by_level=by_level))
    for rank, target in _found(scored_order(outcome), wanted, documents):
        grades[rank] = max(target.grade, grades.get(rank, target.grade))
    return grades


def judgment_ranks(
    query: GoldenQuery,
    outcome: QueryOutcome,
    rule: Match,
    archive: Mapping[str, ChunkPlace],
    documents: Documents = BY_FORM,
) -> tuple[int | None, ...]:
    """The rank at which each judgment of a query was found; None where it was not.

    Judgments are found independently of each other, so each is looked for alone.
    """
    alone = (replace(query, relevant_docs=(one,)) for one in query.relevant_docs)
    return tuple(
        min(graded_ranks(one, outcome, rule, archive, documents), default=None) for one in alone
    )


def scored_order(outcome: QueryOutcome) -> tuple[RankedResult, ...]:
    """The results of a query in the order in which they are scored; none where it failed."""
    return () if outcome.error is not None else outcome.results


def first_hits(hits: JudgedHits) -> dict[str, int]:
    """The rank of each query's first relevant chunk; queries without one are not in it."""
    table = hits.chunks()
    relevant = table.grade >= 1
    first: dict[str, int] = {}
    for at, rank in zip(table.query[relevant].tolist(), table.rank[relevant].tolist(), strict=True):
        first.setdefault(table.queries[at], rank)  # the first in place is the first in rank
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


def _found(
    results: Sequence[RankedResult], wanted: QueryTargets, documents: Documents
) -> list[tuple[int, Target]]:
    """(rank, target) of every target at the first result that brings it."""
    by_chunk, by_doc = wanted.by_chunk, wanted.by_doc
    waiting = set(range(len(wanted.targets)))
    found: list[tuple[int, Target]] = []
    for rank, result in enumerate(results, 1):
        document = documents.of(result)
        if result.chunk_id not in by_chunk and document not in by_doc:
            continue  # most results: rankings are long and judgments few
        brought = set(by_chunk.get(result.chunk_id, ()))
        for number in by_doc.get(document, ()):
            if enough(wanted.targets[number].passages, result.spans):
                brought.add(number)
        for number in sorted(brought & waiting):
            found.append((rank, wanted.targets[number]))
            waiting.discard(number)
        if not waiting:
            break
    return found


def enough(passages: Sequence[Sequence[Span]], spans: Sequence[Span]) -> bool:
    """Is one passage covered? Where either side's characters are not known, anything will do."""
    return not passages or not spans or any(covers_enough(one, spans) for one in passages)


def places_of(
    test_set: TestSet, outcomes: Sequence[QueryOutcome], look_up: LookUp | None = None
) -> dict[str, ChunkPlace]:
    """Where the chunks of components' lists stand, as far as it is known.

    A run keeps only the ids of what its components found. The document and characters of such a
    chunk are those of the run's own results where it is among them, else those that ``look_up``
    knows, else its document is what the id says. An id in our form names its document, so such a
    chunk is looked up only where characters of that document were judged.
    """
    known = {
        one.chunk_id: ChunkPlace(one.doc_id, one.spans)
        for outcome in outcomes
        for one in outcome.results
    }
    if look_up is None:
        return known
    spanned = {
        name
        for query in test_set.queries
        for one in query.relevant_docs
        if one.spans
        for name in (one.id, one.owner or document_id(one.id))
    }
    lacking = {
        chunk_id
        for outcome in outcomes
        for listed in (*outcome.component_lists.values(), outcome.fused)
        for chunk_id in listed
        if chunk_id not in known
        and ((document := document_id(chunk_id)) == chunk_id or document in spanned)
    }
    return {**look_up(sorted(lacking)), **known} if lacking else known


def listed_result(
    chunk_id: str, places: Mapping[str, ChunkPlace], score: float | None = None
) -> RankedResult:
    """A listed chunk as a result."""
    place = _place(chunk_id, places)
    return RankedResult(chunk_id, place.doc_id, score, place.spans)


class Listed:
    """A list of chunks in which judged things are looked up by a rule."""

    def __init__(
        self, ids: Sequence[str], places: Mapping[str, ChunkPlace], rule: Match = Match.EXACT
    ) -> None:
        self._rule = rule
        self._by_chunk: dict[str, list[int]] = {}
        self._by_doc: dict[str, list[tuple[int, Sequence[Span]]]] = {}
        for rank, chunk_id in enumerate(ids, 1):
            place = _place(chunk_id, places)
            self._by_chunk.setdefault(chunk_id, []).append(rank)
            self._by_doc.setdefault(place.doc_id, []).append((rank, place.spans))

    def ranks(self, judgment: Judgment) -> list[int]:
        """The ranks, from 1, of all chunks that bring the judged thing."""
        found: set[int] = set()
        for target in _targets((judgment,), self._rule, {}):
            found.update(self._by_chunk.get(target.chunk_id or "", ()))
            found.update(
                rank
                for rank, spans in self._by_doc.get(target.doc_id or "", ())
                if enough(target.passages, spans)
            )
        return sorted(found)

    def rank(self, judgment: Judgment) -> int | None:
        """The best of them."""
        return next(iter(self.ranks(judgment)), None)


def _place(chunk_id: str, places: Mapping[str, ChunkPlace]) -> ChunkPlace:
    return places.get(chunk_id) or ChunkPlace(document_id(chunk_id))


def names_of(judgment: Judgment, rule: Match) -> tuple[str, ...]:
    """The ids of which an index must have one, so that the judged thing can be found."""
    if rule is Match.EXACT or judgment.document is None:
        return (judgment.id,)
    return (judgment.id, judgment.document)


def absence(
    queries: Sequence[GoldenQuery],
    present: Callable[[Collection[str]], Collection[str]],
    rule: Match = Match.EXACT,
    held_out: Collection[str] = (),
) -> str | None:
    """A sentence about relevant ids that the index does not have, which count as not found.

    ``present`` returns those of many ids that are in the index. Where results are matched by
    document, a missing chunk is no loss as long as its document is there. Ids that only queries
    in ``held_out`` judge are counted and not named.
    """
    names = {
        one.id: names_of(one, rule)
        for query in queries
        for one in query.relevant_docs
        if one.grade > 0
    }
    there = present({name for group in names.values() for name in group})
    gone = sorted(name for name, group in names.items() if not any(one in there for one in group))
    if not gone:
        return None
    open_ids = {
        one.id for query in queries if query.query_id not in held_out for one in query.relevant_docs
    }
    named = [name for name in gone if name in open_ids]
    listed = [*named[:SHOWN_IDS], *(["..."] if len(named) > SHOWN_IDS else [])]
    if hidden := len(gone) - len(named):
        listed.append(f"{hidden:,} of held-out queries")
    share = share_of(len(gone), len(names), "judged id", "is")
    return f"{share} not in the index and cannot be found: {', '.join(listed)}"
