"""Which judged documents came back, for which query, at which rank?

A run holds millions of rows, but every ranking measure looks only at the judged ones. The table
keeps those rows, sorted by query and place, with how many results each query got and how its
judgments are graded; each measure, cutoff and gain is then a bincount over it.

Mostly a result is one judged thing, and its place is its rank. A result that covers several judged
passages brings them all at its rank, and there is one place a rank: they take the free places from
there on, best grade first, and push nothing down that comes later. So measures over places compare
with the ideal ranking of all judgments, and the best ranking that is possible scores 1
(design/041).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from assay.model.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class JudgedHits:
    """One run against one set of judgments; rows are sorted by (query, place).

    ``query``, ``rank``, ``place``, ``grade`` and ``lead`` are parallel: one row per judgment that
    was found. ``rank`` is that of the result that brought it, ``place`` where it counts. ``lead``
    is True for one row of each result, that of its best grade: a result that brings several
    judgments is one result.
    ``ideal_query`` and ``ideal_grade`` list every judgment, retrieved or not, best grade first
    within its query.

    ``document`` and ``ideal_document`` mark the judgments that expect a document where others
    expect chunks, parallel to ``grade`` and ``ideal_grade``; None where there is no such thing.
    ``notes`` say what whoever read the run found odd.
    """

    queries: tuple[str, ...]
    query: IntArray
    rank: IntArray
    place: IntArray
    grade: IntArray
    lead: BoolArray
    retrieved: IntArray
    ideal_query: IntArray
    ideal_grade: IntArray
    top_score: FloatArray
    tied: IntArray
    missing: BoolArray
    extra_queries: int = 0
    document: BoolArray | None = None
    ideal_document: BoolArray | None = None
    notes: tuple[str, ...] = ()

    def count(self, rows: BoolArray) -> IntArray:
        """How many of the given rows does each query have?"""
        return np.bincount(self.query[rows], minlength=len(self.queries))

    def total(self, rows: BoolArray, weights: FloatArray) -> FloatArray:
        """Sum of ``weights`` (one per selected row) for each query, in order of rank."""
        return sum_by(self.query[rows], weights, len(self.queries))

    def within(self, cutoff: int | None) -> BoolArray:
        """The rows that results down to this rank brought; all of them without a cutoff."""
        return _up_to(self.rank, cutoff)

    def placed(self, cutoff: int | None) -> BoolArray:
        """The rows that count at or above this place; all of them without a cutoff."""
        return _up_to(self.place, cutoff)

    def chunks(self) -> JudgedHits:
        """The table of what is expected of chunks, where documents are expected beside them."""
        if self.document is None or self.ideal_document is None:
            return self
        wanted = ~self.ideal_document
        return replace(
            self._only(~self.document),
            ideal_query=self.ideal_query[wanted],
            ideal_grade=self.ideal_grade[wanted],
            document=None,
            ideal_document=None,
        )

    def documents_alone(self) -> BoolArray:
        """The queries that expect documents and no chunk."""
        if self.ideal_document is None:
            return np.zeros(len(self.queries), dtype=np.bool_)
        relevant = self.ideal_grade > 0
        by_document = self.ideal_query[relevant & self.ideal_document]
        by_chunk = self.ideal_query[relevant & ~self.ideal_document]
        count = len(self.queries)
        documents = np.bincount(by_document, minlength=count)
        chunks = np.bincount(by_chunk, minlength=count)
        alone: BoolArray = (documents > 0) & (chunks == 0)
        return alone

    def relevant(self, level: int) -> IntArray:
        """How many judgments of each query have at least this grade?"""
        chosen = self.ideal_query[self.ideal_grade >= level]
        return np.bincount(chosen, minlength=len(self.queries))

    def nonrelevant(self, level: int) -> IntArray:
        """How many judgments are below this grade? Negative grades were pooled, not judged."""
        judged = (self.ideal_grade >= 0) & (self.ideal_grade < level)
        return np.bincount(self.ideal_query[judged], minlength=len(self.queries))

    def ideal_rank(self) -> IntArray:
        """The rank of each judgment in the best possible ranking, parallel to ``ideal_grade``."""
        return ordinal(self.ideal_query)

    def before(self, rows: BoolArray) -> IntArray:
        """For every row of the table: how many of ``rows`` stand before it in its query?"""
        running: IntArray = np.cumsum(rows) - rows
        return running - running[first_of_group(self.query)] if len(running) else running

    def cut(self, depth: int) -> JudgedHits:
        """The same table for a run that returned at most ``depth`` results a query."""
        kept = self._only(self.rank <= depth)
        return replace(kept, retrieved=np.minimum(self.retrieved, depth))

    def _only(self, keep: BoolArray) -> JudgedHits:
        """The table without the other rows; those that stay take the places that become free."""
        query, rank, grade = self.query[keep], self.rank[keep], self.grade[keep]
        document = None if self.document is None else self.document[keep]
        if self.lead.all():  # in order, and every rank is its own place
            rows = _Rows(query, rank, rank, grade, self.lead[keep], document)
        else:
            rows = _arranged(query, rank, grade, document)
        return replace(
            self,
            query=rows.query,
            rank=rows.rank,
            place=rows.place,
            grade=rows.grade,
            lead=rows.lead,
            document=rows.document,
        )


class _Rows(NamedTuple):
    """The columns that have a row per judgment found, sorted by (query, place)."""

    query: IntArray
    rank: IntArray
    place: IntArray
    grade: IntArray
    lead: BoolArray
    document: BoolArray | None


def _arranged(
    query: IntArray, rank: IntArray, grade: IntArray, document: BoolArray | None
) -> _Rows:
    """Sort rows and give them their places; ties of rank put the best grade first: it leads."""
    order = _ascending(query, rank, -grade)
    query, rank, grade = query[order], rank[order], grade[order]
    document = None if document is None else document[order]
    lead = np.ones(len(query), dtype=np.bool_)
    lead[1:] = (query[1:] != query[:-1]) | (rank[1:] != rank[:-1])
    if lead.all():
        return _Rows(query, rank, rank, grade, lead, document)
    place = _places(query, rank, grade, lead)
    order = np.lexsort((place, query))
    document = None if document is None else document[order]
    return _Rows(query[order], rank[order], place[order], grade[order], lead[order], document)


def _places(query: IntArray, rank: IntArray, grade: IntArray, lead: BoolArray) -> IntArray:
    """The place of each row: from its rank on, place by place, the best grade that waits."""
    place = rank.copy()
    bounds = [*np.flatnonzero(np.diff(query, prepend=-1)).tolist(), len(query)]
    crowded = np.flatnonzero(~lead)
    for start, end in pairwise(bounds):
        if np.searchsorted(crowded, start) == np.searchsorted(crowded, end):
            continue  # one judgment a result
        waiting: list[tuple[int, int]] = []
        ranks, grades = rank[start:end].tolist(), grade[start:end].tolist()
        row, at = 0, 0
        while row < len(ranks) or waiting:
            at = at + 1 if waiting else max(at + 1, ranks[row])
            while row < len(ranks) and ranks[row] <= at:
                heappush(waiting, (-grades[row], row))
                row += 1
            place[start + heappop(waiting)[1]] = at
    return place


def _up_to(numbers: IntArray, cutoff: int | None) -> BoolArray:
    if cutoff is None:
        return np.ones(len(numbers), dtype=np.bool_)
    return numbers <= cutoff


def sum_by(keys: IntArray, weights: FloatArray, count: int) -> FloatArray:
    """The weights summed by key, in the order in which they stand."""
    # bincount gives integers where there is nothing to add
    return np.bincount(keys, weights=weights, minlength=count).astype(np.float64)


def first_of_group(sorted_keys: IntArray) -> IntArray:
    """For each row of a sorted key column, the index of the first row with the same key."""
    index = np.arange(len(sorted_keys))
    is_first = np.ones(len(sorted_keys), dtype=np.bool_)
    is_first[1:] = sorted_keys[1:] != sorted_keys[:-1]
    return np.maximum.accumulate(np.where(is_first, index, 0))


def ordinal(sorted_keys: IntArray) -> IntArray:
    """For each row of a sorted key column, its number within its key, from 1."""
    if not len(sorted_keys):
        return np.zeros(0, dtype=np.int64)
    return np.arange(len(sorted_keys)) - first_of_group(sorted_keys) + 1


def _ascending(*keys: IntArray) -> IntArray | slice:
    """The rows in ascending order of these keys, of which the first counts most."""
    equal: BoolArray | bool = True
    for key in keys:
        if (equal & (key[1:] < key[:-1])).any():
            return np.lexsort(keys[::-1])
        equal = equal & (key[1:] == key[:-1])
    return slice(None)  # they are in order


def build_table(
    queries: tuple[str, ...],
    hits: tuple[IntArray, IntArray, IntArray],
    judged: tuple[IntArray, IntArray],
    *,
    retrieved: IntArray,
    top_score: FloatArray,
    tied: IntArray,
    missing: BoolArray,
    extra_queries: int,
    documents: tuple[BoolArray, BoolArray] | None = None,
) -> JudgedHits:
    """Sort unordered (query, rank, grade) hits and (query, grade) judgments into a table.

    ``documents`` marks the hits and the judgments that expect a document, not a chunk.
    """
    query, rank, grade = hits
    marked, wanted = documents if documents is not None else (None, None)
    rows = _arranged(query, rank, grade, marked)
    judged_query, judged_grade = judged
    ideal = _ascending(judged_query, -judged_grade)
    return JudgedHits(
        queries=queries,
        query=rows.query,
        rank=rows.rank,
        place=rows.place,
        grade=rows.grade,
        lead=rows.lead,
        retrieved=retrieved,
        ideal_query=judged_query[ideal],
        ideal_grade=judged_grade[ideal],
        top_score=top_score,
        tied=tied,
        missing=missing,
        extra_queries=extra_queries,
        document=rows.document,
        ideal_document=None if wanted is None else wanted[ideal],
    )
