"""Is this field of a JSON row valid?

One function per kind of field; each returns the checked value or raises an error that names the
location. The same checks serve results passed as Python objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay import limits
from assay.errors import FormatError
from assay.hits.numbers import finite, is_number, is_whole, shown
from assay.model.ranking import Result

if TYPE_CHECKING:
    from assay.model.judgments import Span
    from assay.strict_json import Json

QUERY_KEYS = ("query_id", "qid", "id")
DOC_KEYS = ("chunk_id", "doc_id", "docno", "docid", "segment_id", "id")


@dataclass(frozen=True, slots=True)
class ValueLocation:
    """The location of a value: file, line, and what it is part of."""

    source: str
    line: int | None = None
    inside: str = ""

    def inner(self, what: str) -> ValueLocation:
        """A location within this one."""
        return ValueLocation(
            self.source, self.line, f"{self.inside}, {what}" if self.inside else what
        )

    def error(self, message: str, hint: str | None = None) -> FormatError:
        """The error to raise."""
        text = f"{self.inside}: {message}" if self.inside else message
        return FormatError(text, source=self.source, line=self.line, hint=hint)


def first_of(row: dict[str, Json], keys: tuple[str, ...]) -> Json:
    """The first of these fields that is present and not null."""
    return next((row[key] for key in keys if row.get(key) is not None), None)


def text_of(row: dict[str, Json], keys: tuple[str, ...], location: ValueLocation) -> str:
    """The id in the first of these fields."""
    value = first_of(row, keys)
    if value is None:
        raise location.error(f"none of these is there: {', '.join(keys)}")
    return id_of(value, location)


def id_of(value: Json, location: ValueLocation) -> str:
    """An id: text, not empty and not too long."""
    if not isinstance(value, str) or not value:
        raise location.error(f"the id {shown(value)} is not text", "put ids in quotes")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise location.error(f"the id {value!a:.60} holds half a surrogate pair") from None
    if size > limits.MAX_ID_BYTES:
        raise location.error(f"an id of {size} bytes", f"an id has at most {limits.MAX_ID_BYTES}")
    return value


def number_of(value: Json, location: ValueLocation) -> float:
    """A score: a finite number."""
    number = finite(value)
    if number is None:
        what = "a finite number" if is_number(value) else "a number"
        raise location.error(f"the score {shown(value)} is not {what}", "write it without quotes")
    return number


def grade_of(value: Json, location: ValueLocation) -> int:
    """A grade: a whole number."""
    if type(value) is not int or abs(value) > limits.MAX_GRADE:
        raise location.error(
            f"the grade {shown(value)} is not a whole number up to {limits.MAX_GRADE}",
            "grades are whole numbers such as 0, 1, 2, 3, without quotes",
        )
    return value


def list_of(value: Json, location: ValueLocation) -> list[Json]:
    """A list."""
    if not isinstance(value, (list, tuple)):
        raise location.error(f"a list belongs here, not {value!r:.60}")
    return list(value)


def spans_of(value: Json, location: ValueLocation) -> tuple[Span, ...]:
    """Character spans; null means none."""
    spans = []
    for item in list_of(value, location) if value is not None else []:
        sound = isinstance(item, (list, tuple)) and len(item) == 2
        if not sound or not all(map(is_whole, item)) or not 0 <= item[0] < item[1] < 1 << 62:
            raise location.error(f"a span is [start, end) with 0 <= start < end, not {shown(item)}")
        spans.append((int(item[0]), int(item[1])))
    return tuple(spans)


def result_of(item: Json, location: ValueLocation) -> Result:
    """One result: an id, an [id, score] pair, an object or a ``Result``."""
    if isinstance(item, str):
        return Result(id_of(item, location))
    if isinstance(item, (list, tuple)) and len(item) == 2:
        return Result(id_of(item[0], location), score=number_of(item[1], location))
    id_: Json
    spans: Json
    if isinstance(item, Result):
        id_, doc_id = item.id, item.doc_id
        score, rank, spans = item.score, item.rank, item.spans
    elif isinstance(item, dict):
        id_ = first_of(item, DOC_KEYS)
        if id_ is None:
            raise location.error(f"none of these is there: {', '.join(DOC_KEYS)}")
        # a doc_id without a chunk_id is the id itself, and may name a chunk
        doc_id = item.get("doc_id") if item.get("chunk_id") is not None else None
        score, rank, spans = item.get("score"), item.get("rank"), item.get("spans")
    else:
        raise location.error(f"a result is an id, [id, score] or an object, not {shown(item)}")
    if rank is not None and (not is_whole(rank) or rank < 0):
        raise location.error(f"the rank {shown(rank)} is not a whole number")
    return Result(
        id_of(id_, location),
        score=None if score is None else number_of(score, location),
        rank=None if rank is None else int(rank),
        doc_id=None if doc_id is None else id_of(doc_id, location),
        spans=spans_of(spans, location),
    )
