"""Which run or judgments does this JSON hold?

Runs: ``{"q1": {"d1": 2.5}}``; ``{"q1": ["d1", "d2"]}`` or lists of result objects; JSON lines (or
a list) with one result per row (``query_id, doc_id, score``) or one query per row (``query_id,
results``). Judgments: ``{"q1": {"d1": 3}}``, ``{"q1": ["d1"]}``; rows with one judgment
(``query_id, doc_id, grade``) or one query (``query_id, relevant_docs``), whose other text fields
are kept for breakdowns.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from assay import limits
from assay.errors import FormatError
from assay.hits import strict_json
from assay.hits.strict_json import Json
from assay.model.judgments import Qrels, Span
from assay.model.ranking import LiveRun, Result, ScoreRun

QUERY_KEYS = ("query_id", "qid", "id")
DOC_KEYS = ("chunk_id", "doc_id", "docno", "docid", "segment_id", "id")
GRADE_KEYS = ("grade", "relevance", "rel", "score")
LIST_KEYS = ("results", "hits", "retrieved_segment_ids", "ranking")
JUDGMENT_KEYS = ("relevant_docs", "judgments", "relevant_segment_ids", "expected_chunk_ids")

Row: TypeAlias = tuple[int, dict[str, Json]]


class _Place:
    """Says where a problem is."""

    def __init__(self, source: str, line: int | None = None, inside: str = "") -> None:
        self.source, self.line, self.inside = source, line, inside

    def error(self, message: str, hint: str | None = None) -> FormatError:
        text = f"{self.inside}: {message}" if self.inside else message
        return FormatError(text, source=self.source, line=self.line, hint=hint)


def run_from_json(data: bytes, source: str) -> ScoreRun | LiveRun:
    """The run that a JSON or JSON-lines file holds."""
    value, rows = _content(data, source)
    if rows is not None:
        return _run_from_rows(rows, source)
    return run_from_mapping(value, source)


def run_from_mapping(value: dict[str, Json], source: str) -> ScoreRun | LiveRun:
    """``{query: {document: score}}`` or ``{query: [results]}``."""
    kinds = {type(ranking) for ranking in value.values()}
    if kinds <= {dict}:
        return {query: _scores(query, ranking, source) for query, ranking in value.items()}
    if kinds <= {list, tuple}:
        return {
            query: [_result(item, _Place(source, None, f"query {query!r}")) for item in ranking]
            for query, ranking in value.items()
        }
    raise FormatError(
        "a run maps each query to {document: score} or to a list of results, not both",
        source=source,
    )


def qrels_from_json(data: bytes, source: str) -> Qrels:
    """The judgments that a JSON or JSON-lines file holds."""
    value, rows = _content(data, source)
    judged = _Judged(source)
    if rows is None:
        for query, listed in value.items():
            judged.add_query(query, listed, _Place(source, None, f"query {query!r}"))
    else:
        for line, row in rows:
            judged.add_row(row, _Place(source, line))
    return judged.qrels()


def _content(data: bytes, source: str) -> tuple[dict[str, Json], list[Row] | None]:
    """Either one object, or rows with their line numbers."""
    if strict_json.is_lines(data):
        return {}, [
            _checked_row(row, line, source) for line, row in strict_json.lines(data, source)
        ]
    value = strict_json.loads(data, source)
    if isinstance(value, dict):
        for key in ("test_queries", "queries"):
            if isinstance(value.get(key), list):
                return {}, [_checked_row(row, None, source) for row in value[key]]
        return value, None
    if isinstance(value, list):
        return {}, [_checked_row(row, None, source) for row in value]
    raise FormatError("the top level must be an object, a list or JSON lines", source=source)


def _checked_row(row: Json, line: int | None, source: str) -> Row:
    if not isinstance(row, dict):
        raise FormatError(f"a row must be an object, not {row!r:.40}", source=source, line=line)
    return (line or 0, row)


def _run_from_rows(rows: list[Row], source: str) -> LiveRun:
    run: LiveRun = {}
    for line, row in rows:
        place = _Place(source, line or None)
        query = _text(row, QUERY_KEYS[:2] if _first(row, LIST_KEYS) is None else QUERY_KEYS, place)
        listed = _first(row, LIST_KEYS)
        if listed is None:
            run.setdefault(query, []).append(_result(row, place))
        elif query in run:
            raise place.error(f"query {query!r} stands twice")
        else:
            run[query] = [_result(item, place) for item in _list(listed, place)]
    return run


def _result(item: Json, place: _Place) -> Result:
    """One result: an id, an [id, score] pair, or an object."""
    if isinstance(item, str):
        return Result(_id(item, place))
    if isinstance(item, (list, tuple)) and len(item) == 2:
        return Result(_id(item[0], place), score=_number(item[1], place))
    if isinstance(item, Result):
        return item
    if not isinstance(item, dict):
        raise place.error(f"a result is an id, [id, score] or an object, not {item!r:.60}")
    score = item.get("score")
    rank = item.get("rank")
    if rank is not None and (type(rank) is not int or rank < 0):
        raise place.error(f"the rank {rank!r:.40} is not a whole number")
    doc = item.get("doc_id")
    return Result(
        _text(item, DOC_KEYS, place),
        score=None if score is None else _number(score, place),
        rank=rank,
        doc_id=_id(doc, place) if doc is not None else None,
        spans=_spans(item.get("spans"), place),
    )


def _scores(query: str, ranking: dict[str, Json], source: str) -> dict[str, float]:
    place = _Place(source, None, f"query {query!r}")
    return {doc: _number(score, place) for doc, score in ranking.items()}


class _Judged:
    """Collects judgments from rows or mappings."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.grades: dict[str, dict[str, int]] = {}
        self.spans: dict[tuple[str, str], tuple[Span, ...]] = {}
        self.fields: dict[str, dict[str, str]] = {}

    def add_row(self, row: dict[str, Json], place: _Place) -> None:
        listed = _first(row, JUDGMENT_KEYS)
        if listed is None:
            query = _text(row, QUERY_KEYS[:2], place)
            self._judge(query, row, place)
            return
        query = _text(row, QUERY_KEYS, place)
        if query in self.grades:
            raise place.error(f"query {query!r} stands twice")
        self.add_query(query, listed, place)
        self.fields[query] = {
            key: value
            for key, value in row.items()
            if isinstance(value, str) and key not in QUERY_KEYS
        }

    def add_query(self, query: str, listed: Json, place: _Place) -> None:
        self.grades.setdefault(query, {})
        if isinstance(listed, dict):
            listed = [{"doc_id": doc, "grade": grade} for doc, grade in listed.items()]
        for item in _list(listed, place):
            self._judge(query, {"doc_id": item} if isinstance(item, str) else item, place)

    def _judge(self, query: str, item: Json, place: _Place) -> None:
        if not isinstance(item, dict):
            raise place.error(f"a judgment is an id or an object, not {item!r:.60}")
        doc = _text(item, DOC_KEYS, place)
        grade = _first(item, GRADE_KEYS)
        judged = self.grades.setdefault(query, {})
        if doc in judged:
            raise place.error(f"query {query!r} judges document {doc!r} again")
        judged[doc] = 1 if grade is None else _grade(grade, place)
        if spans := _spans(item.get("spans"), place):
            self.spans[query, doc] = spans

    def qrels(self) -> Qrels:
        pairs = ((query, doc) for query, judged in self.grades.items() for doc in judged)
        spans = {row: self.spans[pair] for row, pair in enumerate(pairs) if pair in self.spans}
        plain = Qrels.from_mapping(self.grades, fields=self.fields)
        return Qrels(plain.queries, plain.query, plain.docs, plain.grade, spans, self.fields)


def _first(row: dict[str, Json], keys: tuple[str, ...]) -> Json:
    return next((row[key] for key in keys if row.get(key) is not None), None)


def _text(row: dict[str, Json], keys: tuple[str, ...], place: _Place) -> str:
    value = _first(row, keys)
    if value is None:
        raise place.error(f"none of these is there: {', '.join(keys)}")
    return _id(value, place)


def _id(value: Json, place: _Place) -> str:
    if not isinstance(value, str) or not value:
        raise place.error(f"the id {value!r:.60} is not text", "put ids in quotes")
    if len(value) > limits.MAX_ID_BYTES:
        raise place.error(f"an id of {len(value)} characters (at most {limits.MAX_ID_BYTES})")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise place.error(f"the id {value!a:.60} holds half a surrogate pair")
    return value


def _number(value: Json, place: _Place) -> float:
    if type(value) not in (int, float):
        raise place.error(f"the score {value!r:.60} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not math.isfinite(number):
        raise place.error(f"the score {value!r:.60} is not a finite number")
    return number


def _grade(value: Json, place: _Place) -> int:
    if type(value) is not int or not -limits.MAX_GRADE <= value <= limits.MAX_GRADE:
        raise place.error(f"the grade {value!r:.60} is not a whole number up to {limits.MAX_GRADE}")
    return value


def _list(value: Json, place: _Place) -> list[Json]:
    if not isinstance(value, (list, tuple)):
        raise place.error(f"a list belongs here, not {value!r:.60}")
    return list(value)


def _spans(value: Json, place: _Place) -> tuple[Span, ...]:
    spans = []
    for item in _list(value, place) if value is not None else []:
        sound = isinstance(item, (list, tuple)) and len(item) == 2
        if not sound or any(type(end) is not int for end in item) or not 0 <= item[0] < item[1]:
            raise place.error(f"a span is [start, end) with 0 <= start < end, not {item!r:.60}")
        spans.append((item[0], item[1]))
    return tuple(spans)
