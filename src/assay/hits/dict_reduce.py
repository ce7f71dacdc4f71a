"""Which judged documents does a plain ``{query: {document: score}}`` hold, and at which ranks?

No ranking is ever sorted by id. A document's rank is one more than the number of scores above its
own; that is a binary search in the query's scores, done for all judged hits at once. Only where a
judged document shares its score with others do ids decide.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from assay.errors import InputError
from assay.measures.table import JudgedHits, build_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.model.judgments import Qrels


def judge_dicts(
    qrels: Qrels, run: Mapping[str, Mapping[str, float]], *, float32: bool = False
) -> JudgedHits:
    """The judged-hits table of a run given as nested dicts; ties go to the higher document id."""
    rankings = [run.get(query) for query in qrels.queries]
    sizes = np.array([len(r) if r is not None else 0 for r in rankings], dtype=np.int64)
    found = [r for r in rankings if r]
    scores = _scores(found, int(sizes.sum()), run)
    if float32:
        scores = scores.astype(np.float32).astype(np.float64)
    starts = np.cumsum(sizes) - sizes
    descending = _descending(scores, starts, sizes)
    query, docs, score, grade = _judged_hits(qrels, rankings)
    if float32:
        score = score.astype(np.float32).astype(np.float64)
    above = _count_above(descending, starts, sizes, query, score, or_equal=False)
    until = _count_above(descending, starts, sizes, query, score, or_equal=True)
    tied = until - above > 1
    rank = above + 1
    for where in _by_query(np.flatnonzero(tied), query):
        at = query[where[0]]
        ranking = rankings[at]
        assert ranking is not None
        own = scores[starts[at] : starts[at] + sizes[at]]
        rank[where] += _higher_ids(ranking, own, [docs[i] for i in where], score[where])
    top = np.full(len(sizes), -np.inf)
    top[sizes > 0] = descending[starts[sizes > 0]]
    known = qrels.position
    return build_table(
        qrels.queries,
        (query, rank, grade),
        (qrels.query, qrels.grade),
        retrieved=sizes,
        top_score=top,
        tied=np.bincount(query[tied], minlength=len(sizes)),
        missing=np.array([r is None for r in rankings], dtype=np.bool_),
        extra_queries=sum(q not in known for q in run),
    )


def _scores(
    rankings: list[Mapping[str, float]], count: int, run: Mapping[str, Mapping[str, float]]
) -> FloatArray:
    """All scores in one array, refused as a whole where one of them is not a finite number."""
    values = chain.from_iterable(ranking.values() for ranking in rankings)
    try:
        scores = np.fromiter(values, dtype=np.float64, count=count)
    except (TypeError, ValueError, OverflowError):
        _bad_score(run)
    if not np.isfinite(scores).all():
        _bad_score(run)
    return scores


def _bad_score(run: Mapping[str, Mapping[str, float]]) -> NoReturn:
    for query, ranking in run.items():
        for doc, score in ranking.items():
            if not _is_finite_number(score):
                raise InputError(
                    f"query {query!r}, document {doc!r}: the score {score!r} is not a finite number"
                )
    raise AssertionError("called without a bad score")


def _is_finite_number(value: object) -> bool:
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def _descending(scores: FloatArray, starts: IntArray, sizes: IntArray) -> FloatArray:
    """The scores with each query's in descending order; what is in order is left alone."""
    rising = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    inside = rising[np.isin(rising, starts, invert=True)]
    if not len(inside):
        return scores
    unsorted = np.unique(np.searchsorted(starts, inside, side="right") - 1)
    ordered = scores.copy()
    for at in unsorted:
        part = ordered[starts[at] : starts[at] + sizes[at]]
        part[::-1].sort()
    return ordered


def _judged_hits(
    qrels: Qrels, rankings: list[Mapping[str, float] | None]
) -> tuple[IntArray, list[str], FloatArray, IntArray]:
    """(query, document, score, grade) of every judged document that came back."""
    counts: list[int] = []
    docs: list[str] = []
    scores: list[float] = []
    grades: list[int] = []
    for judged, ranking in zip(qrels.by_query.values(), rankings, strict=True):
        both = judged.keys() & ranking.keys() if ranking else ()
        counts.append(len(both))
        if both and ranking:
            docs.extend(both)
            scores.extend(map(ranking.__getitem__, both))
            grades.extend(map(judged.__getitem__, both))
    return (
        np.repeat(np.arange(len(counts)), counts),
        docs,
        np.array(scores, dtype=np.float64),
        np.array(grades, dtype=np.int64),
    )


def _count_above(
    descending: FloatArray,
    starts: IntArray,
    sizes: IntArray,
    query: IntArray,
    score: FloatArray,
    *,
    or_equal: bool,
) -> IntArray:
    """For each hit: how many scores of its query are greater (or equal)?"""
    low, high = starts[query], starts[query] + sizes[query]
    first = low
    for _ in range(int(sizes.max(initial=0)).bit_length() + 1):
        open_ = low < high
        middle = (low + high) // 2
        value = descending[np.minimum(middle, len(descending) - 1)] if len(descending) else score
        right: BoolArray = open_ & ((value >= score) if or_equal else (value > score))
        low = np.where(right, middle + 1, low)
        high = np.where(open_ & ~right, middle, high)
    return low - first


def _by_query(rows: IntArray, query: IntArray) -> list[IntArray]:
    """The rows in groups of one query; they come in order of query."""
    return np.split(rows, np.flatnonzero(np.diff(query[rows])) + 1) if len(rows) else []


def _higher_ids(
    ranking: Mapping[str, float], scores: FloatArray, docs: list[str], tied: FloatArray
) -> IntArray:
    """How many documents of the same score have a higher id? Text order is UTF-8's byte order."""
    names = list(ranking)
    groups: dict[float, list[str]] = {}
    members = np.flatnonzero(np.isin(scores, tied))
    for place, value in zip(members.tolist(), scores[members].tolist(), strict=True):
        groups.setdefault(value, []).append(names[place])
    higher: dict[str, int] = {}
    for group in groups.values():
        higher |= {name: count for count, name in enumerate(sorted(group, reverse=True))}
    return np.array([higher[doc] for doc in docs], dtype=np.int64)
