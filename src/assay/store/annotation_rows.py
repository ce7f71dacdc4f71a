"""How do rounds, items, grades and decisions become rows, and rows these values again?"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Row

from assay.model.annotation import Decision, Grade, Item, Purpose, Round, RoundQuery
from assay.model.moments import now
from assay.model.testset import QueryType


def round_row(held: Round) -> dict[str, Any]:
    """A round as a row."""
    return {
        "round_id": held.round_id,
        "purpose": held.purpose.value,
        "test_set": held.test_set,
        "version": held.version,
        "checksum": held.checksum,
        "first_annotator": held.annotators[0],
        "second_annotator": held.annotators[1],
        "seed": held.seed,
        "source": json.dumps(dict(held.source), ensure_ascii=False, allow_nan=False),
        "created_at": held.created_at,
        "closed_at": held.closed_at,
    }


def round_of(row: Row[Any]) -> Round:
    """The round of a row."""
    return Round(
        round_id=row.round_id,
        purpose=Purpose(row.purpose),
        test_set=row.test_set,
        version=row.version,
        checksum=row.checksum,
        annotators=(row.first_annotator, row.second_annotator),
        seed=row.seed,
        created_at=row.created_at,
        source=json.loads(row.source),
        closed_at=row.closed_at,
    )


def query_row(round_id: str, place: int, query: RoundQuery) -> dict[str, Any]:
    """A query as a row."""
    return {
        "round_id": round_id,
        "query_id": query.query_id,
        "place": place,
        "query_text": query.query_text,
        "query_type": None if query.query_type is None else query.query_type.value,
        "origin": json.dumps(dict(query.origin), ensure_ascii=False, allow_nan=False),
    }


def item_row(round_id: str, item: Item) -> dict[str, Any]:
    """An item as a row."""
    return {
        "round_id": round_id,
        "query_id": item.query_id,
        "chunk_id": item.chunk_id,
        "doc_id": item.doc_id,
        "text": item.text,
        "title": item.title,
        "section_label": item.section_label,
        "table_html": item.table_html,
        "spans": json.dumps(item.spans),
        "chunker_version": item.chunker_version,
        "found_by": json.dumps(dict(item.found_by)),
    }


def item_of(row: Row[Any]) -> Item:
    """The item of a row."""
    return Item(
        query_id=row.query_id,
        chunk_id=row.chunk_id,
        doc_id=row.doc_id,
        text=row.text,
        title=row.title,
        section_label=row.section_label,
        table_html=row.table_html,
        spans=tuple((start, end) for start, end in json.loads(row.spans)),
        chunker_version=row.chunker_version,
        found_by=json.loads(row.found_by),
    )


def grade_of(row: Row[Any]) -> Grade:
    """The grade of a row."""
    return Grade(row.query_id, row.chunk_id, row.annotator, row.grade, row.comment, row.at)


def decision_row(round_id: str, one: Decision) -> dict[str, Any]:
    """A decision as a row."""
    return {
        "round_id": round_id,
        "query_id": one.query_id,
        "chunk_id": one.chunk_id,
        "grade": one.grade,
        "decided_by": one.by,
        "rule": one.rule,
        "comment": one.comment,
        "at": one.at or now(),
    }


def query_of(row: Row[Any]) -> RoundQuery:
    """The query of a row."""
    kind = None if row.query_type is None else QueryType(row.query_type)
    return RoundQuery(row.query_id, row.query_text, kind, json.loads(row.origin))


def decision_of(row: Row[Any]) -> Decision:
    """The decision of a row."""
    return Decision(
        row.query_id, row.chunk_id, row.grade, row.decided_by, row.rule, row.comment, row.at
    )
