"""Which judged chunks, documents or spans does a live ranking hold?

A live ranking is a list that an engine returned, and the engine's order is the ranking: its own
rank, else the position in the list. Where that is asked for, scores come first, the highest at the
top. The first occurrence of an item counts; a repeated one keeps its rank, since the user saw it,
but earns nothing, and that is said. Results of one document with different spans repeat nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError, UsageError
from assay.hits.chunk_ids import of_judged_documents
from assay.hits.numbers import in_float32
from assay.measures.table import JudgedHits, build_table
from assay.model.ranking import (
    CHUNK_SEPARATOR,
    ENOUGH_COVERED,
    LiveRun,
    Match,
    RankBy,
    Result,
    ScoreRun,
    Ties,
    document_id,
    falling,
    unanimous,
)
from assay.plural import counted, share_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.model.arrays import BoolArray, IntArray
    from assay.model.judgments import Qrels, Span


@dataclass(frozen=True, slots=True)
class Unit:
    """One judged item: an id and, if the judgment is about a passage, the spans of it.

    The spans of a judged chunk are one passage; those of a judged document are passages each.
    """

    key: str
    grade: int
    spans: tuple[Span, ...] = ()


def judge_live(
    qrels: Qrels,
    run: LiveRun,
    *,
    match: Match = Match.EXACT,
    separator: str = CHUNK_SEPARATOR,
    float32: bool = False,
    rank_by: RankBy = RankBy.ORDER,
) -> JudgedHits:
    """The judged-hits table of live rankings whose results have been checked."""
    if match is Match.SPAN and not any(r.spans for ranking in run.values() for r in ranking):
        raise UsageError(
            "span matching needs the spans of the results, and the run has none",
            hint="give results as objects with doc_id and spans, or match exact or doc",
        )
    units = _units(qrels, match, separator)
    pairs = unanimous((qrels.docs[row], document) for row, document in qrels.documents.items())
    rows: list[tuple[int, int, int]] = []
    judged: list[tuple[int, int]] = []
    count = len(qrels.queries)
    retrieved, top = np.zeros(count, dtype=np.int64), np.full(count, -np.inf)
    tied = np.zeros(count, dtype=np.int64)
    rising, repeated = 0, []
    alone: set[str] = set()
    for at, query in enumerate(qrels.queries):
        judged += [(at, unit.grade) for unit in units[at]]
        results = run.get(query, [])
        ranking = ordered(_in_float32(results, query) if float32 else results, query, rank_by)
        retrieved[at] = len(ranking)
        repeated.append(repeats([(result.id, result.spans) for result in ranking]))
        fell = falling([result.score for result in ranking])
        rising += not fell
        if ranking and ranking[0].score is not None and fell:
            top[at] = ranking[0].score
        owners = [document_of(result, separator, pairs) for result in ranking]
        alone.update(r.id for r, owner in zip(ranking, owners, strict=True) if r.id == owner)
        found = _found(ranking, owners, units[at], match)
        rows += [(at, rank, grade) for rank, grade in found]
        tied[at] = _ties(ranking, [rank for rank, _ in found])
    hits, every = np.array(rows, dtype=np.int64).reshape(-1, 3), np.array(judged, dtype=np.int64)
    every = every.reshape(-1, 2)
    table = build_table(
        qrels.queries,
        (hits[:, 0], hits[:, 1], hits[:, 2]),
        (every[:, 0], every[:, 1]),
        retrieved=retrieved,
        top_score=top,
        tied=tied,
        missing=np.array([query not in run for query in qrels.queries], dtype=np.bool_),
        extra_queries=sum(query not in qrels.position for query in run),
    )
    notes = [order_kept(rising, count)] if rising else []
    if any(repeated):
        notes.append(repeats_kept(repeated))
    if doubt := of_judged_documents(alone - set(qrels.docs), _relevant_documents(qrels, separator)):
        notes.append(doubt)
    return replace(table, notes=tuple(notes)) if notes else table


def order_kept(queries: int, total: int) -> str:
    """What to say where the scores of some queries contradict the order of their results."""
    return (
        f"the scores of {share_of(queries, total, 'query')} do not fall along the list: results "
        "are ranked in the order given (rank_by=score ranks by score)"
    )


def repeats(ranking: Sequence[tuple[str, Sequence[Span]]]) -> int:
    """How many results of a ranking, by id and spans, repeat an earlier one."""
    if len({name for name, _ in ranking}) == len(ranking):
        return 0
    return len(ranking) - len({(name, tuple(spans)) for name, spans in ranking})


def repeats_kept(repeated: Sequence[int]) -> str:
    """What to say where some results repeat an earlier one, by their number in each query."""
    queries = share_of(sum(map(bool, repeated)), len(repeated), "query")
    results = counted(sum(repeated), "result")
    verb = "repeats" if sum(repeated) == 1 else "repeat"
    return (
        f"{results} of {queries} {verb} an earlier one: only the first counts, and a repeated one "
        "keeps its rank"
    )


def live_run(run: ScoreRun, ties: Ties = Ties.TREC) -> LiveRun:
    """Scores as lists; with TREC's tie rule, equal scores are ordered here by descending id."""
    if ties is Ties.GIVEN:
        return {q: [Result(d, score=s) for d, s in ranking.items()] for q, ranking in run.items()}
    return {
        query: [Result(doc, score=ranking[doc]) for doc in sorted(ranking, reverse=True)]
        for query, ranking in run.items()
    }


def ordered(ranking: Iterable[Result], query: str, rank_by: RankBy = RankBy.ORDER) -> list[Result]:
    """Results by given rank, then position in the list; by ``SCORE``, the highest score first."""
    results = list(ranking)
    scored = sum(result.score is not None for result in results)
    if 0 < scored < len(results):
        raise InputError(
            f"query {query!r}: some results have a score and some do not",
            hint="give every result a score, or none",
        )
    if 0 < sum(result.rank is not None for result in results) < len(results):
        raise InputError(
            f"query {query!r}: some results have a rank and some do not",
            hint="give every result a rank, or none",
        )
    places = range(len(results))
    if scored and rank_by is RankBy.SCORE:
        return [
            results[i]
            for i in sorted(places, key=lambda i: (-(results[i].score or 0.0), *_place(results, i)))
        ]
    return [results[i] for i in sorted(places, key=lambda i: _place(results, i))]


def _in_float32(results: list[Result], query: str) -> list[Result]:
    scores = np.array([result.score or 0.0 for result in results], dtype=np.float64)
    rounded = in_float32(scores, lambda at: f"query {query!r}, document {results[at].id!r}")
    return [
        result if result.score is None else replace(result, score=score)
        for result, score in zip(results, rounded.tolist(), strict=True)
    ]


def _place(results: list[Result], at: int) -> tuple[int, int, str]:
    rank = results[at].rank
    return (at if rank is None else rank, at, results[at].id)


def document_of(result: Result, separator: str, pairs: Mapping[str, str] | None = None) -> str:
    """The document of a result: its ``doc_id``, else its id without the chunk, else its pair."""
    if result.doc_id is not None:
        return result.doc_id
    document = document_id(result.id, separator)
    return document if document != result.id or not pairs else pairs.get(result.id, document)


def _units(qrels: Qrels, match: Match, separator: str) -> list[list[Unit]]:
    """What was judged, query by query, at the level of the match."""
    units: list[list[Unit]] = [[] for _ in qrels.queries]
    best: dict[tuple[int, str], int] = {}
    for row, (at, doc, grade) in enumerate(
        zip(qrels.query.tolist(), qrels.docs, qrels.grade.tolist(), strict=True)
    ):
        if match is Match.EXACT:
            units[at].append(Unit(doc, grade, qrels.spans.get(row, ())))
            continue
        key = qrels.documents.get(row) or document_id(doc, separator)
        if match is Match.SPAN and row in qrels.spans:
            spans = qrels.spans[row]
            passages = [(span,) for span in spans] if key == doc else [spans]
            units[at] += [Unit(key, grade, passage) for passage in passages]
        else:
            best[at, key] = max(grade, best.get((at, key), grade))
    for (at, key), grade in best.items():
        units[at].append(Unit(key, grade))
    return units


def _relevant_documents(qrels: Qrels, separator: str) -> set[str]:
    return {
        qrels.documents.get(row) or document_id(doc, separator)
        for row, (doc, grade) in enumerate(zip(qrels.docs, qrels.grade.tolist(), strict=True))
        if grade > 0
    }


def _found(
    ranking: list[Result], owners: list[str], units: list[Unit], match: Match
) -> list[tuple[int, int]]:
    """(rank, grade) of each unit at the first result that covers it."""
    if match is Match.EXACT:
        return _found_by_id(ranking, owners, {unit.key: unit for unit in units})
    by_key: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_key[unit.key].append(unit)
    waiting = {key: _Waiting(here) for key, here in by_key.items()}
    found: list[tuple[int, int]] = []
    for rank, (result, key) in enumerate(zip(ranking, owners, strict=True), 1):
        if key in waiting:
            found += [(rank, unit.grade) for unit in waiting[key].take(result)]
            if not waiting[key].units:
                del waiting[key]
    return found


def _found_by_id(
    ranking: list[Result], owners: list[str], waiting: dict[str, Unit]
) -> list[tuple[int, int]]:
    """The same by ids: that of the result, or that of its document (half of a judged span)."""
    found: list[tuple[int, int]] = []
    for rank, (result, owner) in enumerate(zip(ranking, owners, strict=True), 1):
        if result.id in waiting:
            found.append((rank, waiting.pop(result.id).grade))
        if owner in waiting and _holds_one(waiting[owner].spans, result.spans):
            found.append((rank, waiting.pop(owner).grade))
    return found


def _holds_one(judged: Sequence[Span], spans: Sequence[Span]) -> bool:
    """Is half of one judged span covered? Where either side is not known, anything will do."""
    if not judged or not spans:
        return True
    units = [Unit("", 0, (span,)) for span in judged]
    return bool(_enough_covered(_pieces(units), len(units), sorted(spans)).any())


class _Waiting:
    """The judged units of one document that no result has covered yet."""

    def __init__(self, units: list[Unit]) -> None:
        self.units = units
        self._pieces: IntArray | None = None
        if any(unit.spans for unit in units):
            self._pieces = _pieces(units)

    def take(self, result: Result) -> list[Unit]:
        """Remove and return the units that the result covers."""
        if self._pieces is None:
            taken, self.units = self.units, []
            return taken
        brought = _enough_covered(self._pieces, len(self.units), sorted(result.spans))
        taken = list(compress(self.units, brought))
        if taken:
            self.units = list(compress(self.units, ~brought))
            left = self._pieces[:, ~brought[self._pieces[2]]]
            left[2] = (np.cumsum(~brought) - 1)[left[2]]  # units move up
            self._pieces = left
        return taken


def _pieces(units: list[Unit]) -> IntArray:
    """Start, end and number of its unit of each span; a unit may have none."""
    rows = [(*span, number) for number, unit in enumerate(units) for span in unit.spans]
    return np.array(rows, dtype=np.int64).reshape(-1, 3).T


def _enough_covered(pieces: IntArray, units: int, spans: list[Span]) -> BoolArray:
    """Does at least half of each unit lie within these spans, which are sorted?

    A unit without spans is covered by anything.
    """
    start, end, unit = pieces
    covered = np.zeros(len(start), dtype=np.int64)
    reached = 0
    for low, high in spans:
        # spans may overlap; no character counts twice
        covered += np.maximum(np.minimum(end, high) - np.maximum(start, max(low, reached)), 0)
        reached = max(reached, high)
    found = np.bincount(unit, weights=covered, minlength=units)
    enough: BoolArray = found >= ENOUGH_COVERED * np.bincount(unit, end - start, minlength=units)
    return enough


def _ties(ranking: list[Result], ranks: list[int]) -> int:
    """How many of the judged ranks share their score with a neighbour?"""
    scores = [result.score for result in ranking]

    def same(a: int, b: int) -> bool:
        return min(a, b) >= 0 and max(a, b) < len(scores) and scores[a] == scores[b] is not None

    return sum(same(rank - 1, rank) or same(rank - 1, rank - 2) for rank in ranks)
