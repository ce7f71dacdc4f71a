"""Which judged documents does a plain ``{query: {document: score}}`` hold, and at which ranks?"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from assay import compiled
from assay.errors import InputError
from assay.hits.blocks import as_text, text_index
from assay.hits.numbers import finite, in_float32, is_number, shown
from assay.hits.ranks import Scores
from assay.measures.table import JudgedHits, build_table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.model.judgments import Qrels


DENSE = 4  # results per judgment: up to that many, compiled code is faster
_Hits: TypeAlias = "tuple[IntArray, IntArray, IntArray, BoolArray]"
"""The query, rank and grade of each judged hit, and whether it is tied."""


def judge_dicts(
    qrels: Qrels, run: Mapping[str, Mapping[str, float]], *, float32: bool = False
) -> JudgedHits:
    """The judged-hits table of a run given as nested dicts; ties go to the higher document id."""
    rankings = [run.get(query) for query in qrels.queries]
    sizes = np.array([len(r) if r is not None else 0 for r in rankings], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    scores = checked_scores([r for r in rankings if r], run)
    known = qrels.position
    extra = {query: ranking for query, ranking in run.items() if query not in known}
    if extra:
        _check_extra(extra, float32=float32)
    if float32:
        scores = in_float32(scores, lambda row: _place(row, qrels, starts, rankings))
    hits = _dense_hits(qrels, rankings, scores, starts)
    if hits is None:
        hits = _sparse_hits(qrels, rankings, Scores.of(scores, starts, sizes), float32=float32)
    query, rank, grade, tied = hits
    top = np.full(len(sizes), -np.inf)
    if len(scores):
        top[sizes > 0] = np.maximum.reduceat(scores, starts[sizes > 0])
    return build_table(
        qrels.queries,
        (query, rank, grade),
        qrels.best_first,
        retrieved=sizes,
        top_score=top,
        tied=np.bincount(query[tied], minlength=len(sizes)),
        missing=np.array([r is None for r in rankings], dtype=np.bool_),
        extra_queries=len(extra),
    )


def _check_extra(run: Mapping[str, Mapping[str, float]], *, float32: bool) -> None:
    """Check queries that nobody judged, too, as every other input form does."""
    scores = checked_scores(run.values(), run)
    if float32:
        places = [(query, doc) for query, ranking in run.items() for doc in ranking]
        in_float32(scores, lambda row: "query {!r}, document {!r}".format(*places[row]))


def checked_scores(
    rankings: Collection[Mapping[str, float]], run: Mapping[str, Mapping[str, float]]
) -> FloatArray:
    """All scores in one array; an error if any of them is not a finite number.

    For speed, the type of the id and of the score is checked on the first entry of each ranking
    only: numbers used as ids, or flags used as scores, are used throughout, and any other id that
    is not text matches no judgment. Text is never accepted as a number.
    """
    scores = np.empty(sum(map(len, rankings)), dtype=np.float64)
    end = 0
    try:
        for ranking in rankings:  # one by one, while its objects are in the CPU cache
            start, end = end, end + len(ranking)
            if ranking and not _sound(*next(iter(ranking.items()))):
                _refuse(run)
            # packing is twice as fast as letting numpy infer the type
            struct.pack_into(f"{len(ranking)}d", scores.data, start * 8, *ranking.values())
    except (struct.error, TypeError, ValueError, OverflowError):
        _refuse(run)
    if not np.isfinite(scores).all():
        _refuse(run)
    return scores


def _sound(doc: object, score: object) -> bool:
    return isinstance(doc, str) and is_number(score)


def _refuse(run: Mapping[Any, Mapping[Any, Any]]) -> NoReturn:
    """Raise an error that names the first id that is not text, or score that is not finite."""
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
    """Describe the location of a score."""
    at = int(np.searchsorted(starts, row, side="right")) - 1
    doc = list(rankings[at] or ())[row - int(starts[at])]
    return f"query {qrels.queries[at]!r}, document {doc!r}"


def _dense_hits(
    qrels: Qrels,
    rankings: list[Mapping[str, float] | None],
    scores: FloatArray,
    starts: IntArray,
) -> _Hits | None:
    """The judged hits by compiled code, if it can tell them.

    It reads every id, and so it is slower where few documents are judged.
    """
    if compiled.library() is None or len(scores) > DENSE * len(qrels.docs):
        return None
    try:
        documents = as_text([doc for ranking in rankings if ranking for doc in ranking])
        index = text_index(qrels)
    except (TypeError, UnicodeEncodeError):  # an id that is not text, or half a character
        return None
    hits = index.ranked(documents, scores, starts, np.arange(len(starts)))
    return None if hits is None else (hits.group, hits.rank, qrels.grade[hits.judgment], hits.tied)


def _sparse_hits(
    qrels: Qrels,
    rankings: list[Mapping[str, float] | None],
    ordered: Scores,
    *,
    float32: bool,
) -> _Hits:
    """The judged hits by looking up what both sides have."""
    query, docs, score, grade = _judged_hits(qrels, rankings)
    if float32:
        score = score.astype(np.float32).astype(np.float64)
    rank, tied = ordered.ranks(
        query,
        score,
        lambda hits: [docs[hit] for hit in hits.tolist()],
        _Names(rankings).at,
    )
    return query, rank, grade, tied


def _judged_hits(
    qrels: Qrels, rankings: list[Mapping[str, float] | None]
) -> tuple[IntArray, list[str], FloatArray, IntArray]:
    """(query, document, score, grade) of every judged document that was retrieved."""
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


class _Names:
    """The documents at given positions of rankings; the last ranking used is kept."""

    def __init__(self, rankings: list[Mapping[str, float] | None]) -> None:
        self._rankings = rankings
        self._query = -1
        self._names: list[str] = []

    def at(self, query: int, places: IntArray) -> list[str]:
        """The documents of a query at these positions."""
        if query != self._query:
            self._query, self._names = query, list(self._rankings[query] or ())
        return [self._names[place] for place in places.tolist()]
