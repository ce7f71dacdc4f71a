"""Which judged documents does a plain ``{query: {document: score}}`` hold, and at which ranks?

No ranking is ever sorted by id. A document's rank is one more than the number of scores above its
own; that is a binary search in the query's scores, done for all judged hits at once. Only where a
judged document shares its score with others do ids decide.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from assay.errors import InputError
from assay.hits.numbers import finite, in_float32, is_number, shown
from assay.measures.table import JudgedHits, build_table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.model.judgments import Qrels


@dataclass(frozen=True, slots=True)
class _Run:
    """The rankings with their scores in one array, as they came and in descending order."""

    rankings: list[Mapping[str, float] | None]
    starts: IntArray
    scores: FloatArray
    descending: FloatArray

    def by_score(self, query: int) -> tuple[list[str], IntArray]:
        """The documents of a query, and their places in descending order of score."""
        names = list(self.rankings[query] or ())
        here = slice(start := int(self.starts[query]), start + len(names))
        if np.array_equal(self.scores[here], self.descending[here]):
            return names, np.arange(len(names))
        return names, np.argsort(-self.scores[here], kind="stable")


def judge_dicts(
    qrels: Qrels, run: Mapping[str, Mapping[str, float]], *, float32: bool = False
) -> JudgedHits:
    """The judged-hits table of a run given as nested dicts; ties go to the higher document id."""
    rankings = [run.get(query) for query in qrels.queries]
    sizes = np.array([len(r) if r is not None else 0 for r in rankings], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    scores = checked_scores([r for r in rankings if r], run)
    if float32:
        scores = in_float32(scores, lambda row: _place(row, qrels, starts, rankings))
    descending = _descending(scores, starts, sizes)
    query, docs, score, grade = _judged_hits(qrels, rankings)
    if float32:
        score = score.astype(np.float32).astype(np.float64)
    above = _count_above(descending, starts, sizes, query, score, or_equal=False)
    until = _count_above(descending, starts, sizes, query, score, or_equal=True)
    tied = until - above > 1
    rank = above + 1
    ranked = _Run(rankings, starts, scores, descending)
    rank[tied] += _higher_ids((query, docs), above, until, np.flatnonzero(tied), ranked)
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


def checked_scores(
    rankings: Collection[Mapping[str, float]], run: Mapping[str, Mapping[str, float]]
) -> FloatArray:
    """All scores in one array, refused as a whole where one of them is not a finite number.

    numpy makes text of an array in which there is any ("1.5" is no score), and objects of what it
    does not know. Of the ids only the first of a ranking is looked at: who mistakes numbers for ids
    does so throughout, and any other id that is not text matches no judgment.
    """
    scores = np.empty(sum(map(len, rankings)), dtype=np.float64)
    end = 0
    try:
        for ranking in rankings:  # one by one, while its objects are in the processor's cache
            start, end = end, end + len(ranking)
            values = np.array(list(ranking.values()))
            plain = values.ndim == 1 and values.dtype.kind in "fiu"
            if not plain or not isinstance(next(iter(ranking), ""), str):
                _check(ranking, run)
            scores[start:end] = values
    except (TypeError, ValueError, OverflowError):
        _refuse(run)
    if not np.isfinite(scores).all():
        _refuse(run)
    return scores


def _check(ranking: Mapping[Any, Any], run: Mapping[str, Mapping[str, float]]) -> None:
    """Scores that are numbers of a kind that numpy keeps as objects may pass."""
    sound = all(
        isinstance(doc, str) and finite(score) is not None for doc, score in ranking.items()
    )
    if not sound:
        _refuse(run)


def _refuse(run: Mapping[Any, Mapping[Any, Any]]) -> NoReturn:
    """Name the first id that is not text, or score that is not a finite number."""
    for query, ranking in run.items():
        for doc, score in ranking.items():
            if not isinstance(doc, str):
                raise InputError(
                    f"query {query!r}: the document id {shown(doc)} is a {type(doc).__name__}, "
                    "not text",
                    hint="ids are text, on both sides: str(id)",
                )
            if finite(score) is None:
                what = "a finite" if is_number(score) else f"({type(score).__name__}) a"
                raise InputError(
                    f"query {query!r}, document {doc!r}: the score {shown(score)} is not "
                    f"{what} number",
                    hint="scores are finite ints or floats: float(score)",
                )
    raise InputError("the run cannot be read: its rankings are not plain mappings")


def _place(
    row: int, qrels: Qrels, starts: IntArray, rankings: list[Mapping[str, float] | None]
) -> str:
    """Where a score stands, in words."""
    at = int(np.searchsorted(starts, row, side="right")) - 1
    doc = list(rankings[at] or ())[row - int(starts[at])]
    return f"query {qrels.queries[at]!r}, document {doc!r}"


def _descending(scores: FloatArray, starts: IntArray, sizes: IntArray) -> FloatArray:
    """The scores with each query's in descending order; what is in order is left alone."""
    rising = scores[1:] > scores[:-1]
    rising[starts[(starts > 0) & (starts < len(scores))] - 1] = False
    if not rising.any():
        return scores
    inside = np.flatnonzero(rising) + 1
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


def _higher_ids(
    hits: tuple[IntArray, list[str]], above: IntArray, until: IntArray, tied: IntArray, run: _Run
) -> IntArray:
    """For each tied hit: how many documents with its score have a higher id?

    Text order is UTF-8's byte order. Each group of equal scores is put in order once.
    """
    query, docs = hits
    higher: list[int] = []
    which, names, order = -1, [""], np.zeros(0, dtype=np.int64)
    groups: dict[int, list[str]] = {}
    columns = (column[tied].tolist() for column in (query, above, until))
    for hit, at, start, end in zip(tied.tolist(), *columns, strict=True):
        if at != which:  # the hits of a query stand together
            names, order = run.by_score(at)
            which, groups = at, {}
        if start not in groups:
            groups[start] = sorted(names[place] for place in order[start:end].tolist())
        higher.append(len(groups[start]) - bisect_right(groups[start], docs[hit]))
    return np.array(higher, dtype=np.int64)
