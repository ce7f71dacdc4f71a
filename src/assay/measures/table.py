"""Which judged documents came back, for which query, at which rank?

A run holds millions of rows, but every ranking measure looks only at the judged ones. The table
keeps those rows, sorted by query and rank, with how many results each query got and how its
judgments are graded; each measure, cutoff and gain is then a bincount over it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from assay.model.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class JudgedHits:
    """One run against one set of judgments; rows are sorted by (query, rank).

    ``query``, ``rank``, ``grade`` and ``lead`` are parallel: one row per judged result that came
    back. ``lead`` is False where an earlier row has the same rank: one result that covers several
    judged spans is one result, with several judgments found. ``ideal_query`` and ``ideal_grade``
    list every judgment, retrieved or not, best grade first within its query. ``notes`` say what
    whoever read the run found odd.
    """

    queries: tuple[str, ...]
    query: IntArray
    rank: IntArray
    grade: IntArray
    lead: BoolArray
    retrieved: IntArray
    ideal_query: IntArray
    ideal_grade: IntArray
    top_score: FloatArray
    tied: IntArray
    missing: BoolArray
    extra_queries: int = 0
    notes: tuple[str, ...] = ()

    def count(self, rows: BoolArray) -> IntArray:
        """How many of the given rows does each query have?"""
        return np.bincount(self.query[rows], minlength=len(self.queries))

    def total(self, rows: BoolArray, weights: FloatArray) -> FloatArray:
        """Sum of ``weights`` (one per selected row) for each query, in order of rank."""
        return sum_by(self.query[rows], weights, len(self.queries))

    def within(self, cutoff: int | None) -> BoolArray:
        """The rows at or above the cutoff; all of them without one."""
        if cutoff is None:
            return np.ones(len(self.rank), dtype=np.bool_)
        return self.rank <= cutoff

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
        keep = self.rank <= depth
        return replace(
            self,
            query=self.query[keep],
            rank=self.rank[keep],
            grade=self.grade[keep],
            lead=self.lead[keep],
            retrieved=np.minimum(self.retrieved, depth),
        )


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
) -> JudgedHits:
    """Sort unordered (query, rank, grade) hits and (query, grade) judgments into a table.

    Ties of rank (one result, several judgments) put the best grade first: it leads.
    """
    query, rank, grade = hits
    order = np.lexsort((-grade, rank, query))
    query, rank, grade = query[order], rank[order], grade[order]
    lead = np.ones(len(query), dtype=np.bool_)
    lead[1:] = (query[1:] != query[:-1]) | (rank[1:] != rank[:-1])
    judged_query, judged_grade = judged
    ideal = np.lexsort((-judged_grade, judged_query))
    return JudgedHits(
        queries=queries,
        query=query,
        rank=rank,
        grade=grade,
        lead=lead,
        retrieved=retrieved,
        ideal_query=judged_query[ideal],
        ideal_grade=judged_grade[ideal],
        top_score=top_score,
        tied=tied,
        missing=missing,
        extra_queries=extra_queries,
    )
