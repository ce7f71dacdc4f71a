"""Which run or judgments does this JSON hold?

Runs: ``{"q1": {"d1": 2.5}}``; ``{"q1": ["d1", "d2"]}`` or lists of result objects; JSON lines (or
a list) with one result per row (``query_id, doc_id, score``) or one query per row (``query_id,
results``). Judgments: ``{"q1": {"d1": 3}}``, ``{"q1": ["d1"]}``; rows with one judgment
(``query_id, doc_id, grade``) or one query (``query_id, relevant_docs``), whose other text fields
are kept for breakdowns.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from assay import limits, strict_json
from assay.errors import FormatError
from assay.hits.json_fields import (
    DOC_KEYS,
    QUERY_KEYS,
    ValueLocation,
    first_of,
    grade_of,
    id_of,
    list_of,
    number_of,
    result_of,
    spans_of,
    text_of,
)
from assay.model.judgments import Qrels, Span
from assay.model.ranking import RankBy
from assay.strict_json import Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.model.ranking import LiveRun, ScoreRun

GRADE_KEYS = ("grade", "relevance", "rel", "score")
LIST_KEYS = ("results", "hits", "retrieved_segment_ids", "ranking")
JUDGMENT_KEYS = ("relevant_docs", "judgments", "relevant_segment_ids", "expected_chunk_ids")
SET_KEYS = ("test_queries", "queries")

Row: TypeAlias = tuple[ValueLocation, dict[str, Json]]


def run_from_json(data: bytes, source: str) -> tuple[ScoreRun | LiveRun, RankBy]:
    """The run that a JSON or JSON-lines file holds, and what ranks its results.

    A list of results has an order; rows of one result each are a table, like a TREC file.
    """
    value, rows = _content(data, source)
    if rows is None:
        return run_from_mapping(value, source), RankBy.ORDER
    table = any(first_of(row, LIST_KEYS) is None for _, row in rows)
    return _run_from_rows(rows), RankBy.SCORE if table else RankBy.ORDER


def run_from_mapping(value: dict[str, Json], source: str) -> ScoreRun | LiveRun:
    """``{query: {document: score}}`` or ``{query: [results]}``."""
    places = {query: ValueLocation(source, None, f"query {query!r:.60}") for query in value}
    for query, location in places.items():
        id_of(query, location)
    if all(isinstance(ranking, dict) for ranking in value.values()):
        return {query: _scores(ranking, places[query]) for query, ranking in value.items()}
    for query, ranking in value.items():
        if not isinstance(ranking, (list, tuple)):
            raise places[query].error(
                f"a run maps each query to {{document: score}}, or each to a list of results; "
                f"this is a {type(ranking).__name__}"
            )
    return {
        query: [result_of(item, places[query]) for item in ranking]
        for query, ranking in value.items()
    }


def qrels_from_json(data: bytes, source: str) -> Qrels:
    """The judgments that a JSON or JSON-lines file holds."""
    value, rows = _content(data, source)
    judged = _Judged()
    if rows is None:
        for query, listed in value.items():
            location = ValueLocation(source, None, f"query {query!r:.60}")
            judged.add_query(id_of(query, location), listed, location)
    else:
        for location, row in rows:
            judged.add_row(row, location)
    return judged.qrels()


def _content(data: bytes, source: str) -> tuple[dict[str, Json], list[Row] | None]:
    """Either one object, or rows with their locations."""
    values = strict_json.values(data, source)
    line, value = values[0]
    if len(values) > 1 or _is_row(value):
        return {}, [_row(row, ValueLocation(source, number)) for number, row in values]
    listed = value if isinstance(value, list) else None
    if isinstance(value, dict):
        listed = next((value[key] for key in SET_KEYS if isinstance(value.get(key), list)), None)
        if listed is None:
            return value, None
    if listed is None:
        raise FormatError(
            "the top level must be an object, a list or JSON lines", source=source, line=line
        )
    return {}, [
        _row(row, ValueLocation(source, None, f"item {number}"))
        for number, row in enumerate(listed, 1)
    ]


def _is_row(value: Json) -> bool:
    """Is this object a row of JSON lines rather than a mapping of queries?"""
    if not isinstance(value, dict):
        return False
    listed = first_of(value, LIST_KEYS + JUDGMENT_KEYS) is not None
    keys = QUERY_KEYS if listed else QUERY_KEYS[:2]
    return any(isinstance(value.get(key), (str, int)) for key in keys)


def _row(row: Json, location: ValueLocation) -> Row:
    if not isinstance(row, dict):
        raise location.error(f"a row must be an object, not {row!r:.40}")
    return location, row


def _run_from_rows(rows: list[Row]) -> LiveRun:
    run: LiveRun = {}
    whole: set[str] = set()  # queries whose results are all in one row
    for location, row in rows:
        listed = first_of(row, LIST_KEYS)
        query = text_of(row, QUERY_KEYS[:2] if listed is None else QUERY_KEYS, location)
        if query in whole or (listed is not None and query in run):
            raise location.error(f"query {query!r} appears twice", "give each query one row")
        if listed is None:
            run.setdefault(query, []).append(result_of(row, location))
        else:
            whole.add(query)
            run[query] = [result_of(item, location) for item in list_of(listed, location)]
    return run


def _scores(ranking: dict[str, Json], location: ValueLocation) -> dict[str, float]:
    """The ranking itself if all its ids and scores are valid; checked in bulk for speed."""
    try:
        kinds = set(map(type, ranking.values()))
        longest = max(map(len, ranking), default=0)
        sound = "" not in ranking and longest * 4 <= limits.MAX_ID_BYTES
        if sound and kinds <= {int, float} and all(map(math.isfinite, ranking.values())):
            return ranking
    except OverflowError:
        pass
    return {
        id_of(doc, location): number_of(score, location.inner(f"document {doc!r:.60}"))
        for doc, score in ranking.items()
    }


class _Judged:
    """Collects judgments from rows or mappings."""

    def __init__(self) -> None:
        self.grades: dict[str, dict[str, int]] = {}
        self.spans: dict[tuple[str, str], tuple[Span, ...]] = {}
        self.fields: dict[str, Mapping[str, str]] = {}

    def add_row(self, row: dict[str, Json], location: ValueLocation) -> None:
        listed = first_of(row, JUDGMENT_KEYS)
        if listed is None:
            query = text_of(row, QUERY_KEYS[:2], location)
            self._judge(query, row, location)
            return
        query = text_of(row, QUERY_KEYS, location)
        if query in self.grades:
            raise location.error(f"query {query!r} appears twice", "give each query one row")
        self.add_query(query, listed, location)
        self.fields[query] = {
            key: value
            for key, value in row.items()
            if isinstance(value, str) and key not in QUERY_KEYS
        }

    def add_query(self, query: str, listed: Json, location: ValueLocation) -> None:
        self.grades.setdefault(query, {})
        if isinstance(listed, dict):
            listed = [{"doc_id": doc, "grade": grade} for doc, grade in listed.items()]
        for item in list_of(listed, location):
            self._judge(query, {"doc_id": item} if isinstance(item, str) else item, location)

    def _judge(self, query: str, item: Json, location: ValueLocation) -> None:
        if not isinstance(item, dict):
            raise location.error(f"a judgment is an id or an object, not {item!r:.60}")
        doc = text_of(item, DOC_KEYS, location)
        grade = first_of(item, GRADE_KEYS)
        judged = self.grades.setdefault(query, {})
        if doc in judged:
            raise location.error(
                f"query {query!r} judges document {doc!r} again", "keep one judgment"
            )
        judged[doc] = (
            1 if grade is None else grade_of(grade, location.inner(f"document {doc!r:.60}"))
        )
        if spans := spans_of(item.get("spans"), location):
            self.spans[query, doc] = spans

    def qrels(self) -> Qrels:
        pairs = ((query, doc) for query, judged in self.grades.items() for doc in judged)
        spans = {row: self.spans[pair] for row, pair in enumerate(pairs) if pair in self.spans}
        plain = Qrels.from_mapping(self.grades)
        return Qrels(plain.queries, plain.query, plain.docs, plain.grade, spans, self.fields)
