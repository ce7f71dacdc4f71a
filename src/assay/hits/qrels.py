"""Which judgments does this value or file hold?

A regular text file becomes columns at once. Regular means what nearly every file is: four columns,
single blanks, one-digit grades, the judgments of a query together, no document twice. Anything else
goes to the careful reader.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from assay import limits
from assay.errors import DuplicateError, InputError, UsageError
from assay.hits import frames
from assay.hits.columns import is_columns, is_frame
from assay.hits.fields import Field, Text, cut, hash_field
from assay.hits.json_input import qrels_from_json
from assay.hits.numbers import is_whole, shown
from assay.hits.rows import group_starts, pair_keys
from assay.hits.sources import Kind, Source, read_all, sniff, source
from assay.hits.trec_lines import QrelsRows, read_qrels_lines
from assay.model.judgments import Qrels

QrelsInput: TypeAlias = Qrels | str | os.PathLike[str] | Mapping[str, Mapping[str, int]] | Any


def load_qrels(value: QrelsInput) -> Qrels:
    """Judgments from a file, a mapping, a data frame, three arrays, or as they are."""
    if isinstance(value, Qrels):
        return value
    place = ""
    if isinstance(value, (str, os.PathLike)):
        with source(value) as origin:
            qrels = _from_file(origin)
            place = f"{origin.name}: "
    elif isinstance(value, Mapping):
        qrels = _from_mapping(value)
    elif is_frame(value) or is_columns(value):
        qrels = frames.qrels_from_frame(value)
    else:
        raise UsageError(
            f"qrels cannot be a {type(value).__name__}",
            hint="give a path, {query: {document: grade}}, a data frame or three arrays",
        )
    if not qrels.queries:
        raise InputError(
            f"{place}the qrels hold no judgment", hint="check that it is the right one"
        )
    return qrels


def _from_file(origin: Source) -> Qrels:
    with origin.open() as stream:
        kind, head = sniff(stream)
        if kind is Kind.PARQUET:
            frame = frames.read_parquet(origin, stream, head, "grade")
            return frames.qrels_from_frame(frame, origin.name)
        data = head + read_all(stream)
    if kind is Kind.JSON:
        return qrels_from_json(data, origin.name)
    return qrels_from_text(data) or _from_rows(read_qrels_lines(data, origin.name), origin.name)


def _from_rows(rows: QrelsRows, name: str) -> Qrels:
    table: dict[str, dict[str, int]] = {}
    for query, doc, grade in zip(rows.query, rows.doc, rows.grade, strict=True):
        table.setdefault(query, {})[doc] = grade
    if sum(map(len, table.values())) < len(rows.query):
        first: dict[tuple[str, str], int] = {}
        for query, doc, line in zip(rows.query, rows.doc, rows.line, strict=True):
            if (query, doc) in first:
                raise DuplicateError(
                    f"query {query!r} judges document {doc!r} again "
                    f"(first on line {first[query, doc]})",
                    source=name,
                    line=line,
                    hint="keep one judgment",
                )
            first[query, doc] = line
    return Qrels.from_mapping(table)


def _from_mapping(value: Mapping[Any, Any]) -> Qrels:
    table: dict[str, dict[str, int]] = {}
    for query, judged in value.items():
        _check_id(query, "query")
        if not isinstance(judged, Mapping):
            raise InputError(
                f"query {query!r}: judgments are {{document: grade}}, not a {type(judged).__name__}"
            )
        table[query] = {}
        for doc, grade in judged.items():
            _check_id(doc, "document")
            table[query][doc] = _grade(query, doc, grade)
    return Qrels.from_mapping(table)


def _check_id(value: object, role: str) -> None:
    if not isinstance(value, str):
        raise InputError(
            f"the {role} id {shown(value)} is a {type(value).__name__}, not text",
            hint="ids are text, on both sides: str(id)",
        )


def _grade(query: str, doc: str, grade: Any) -> int:
    if not is_whole(grade) or abs(grade) > limits.MAX_GRADE:
        raise InputError(
            f"query {query!r}, document {doc!r}: the grade {shown(grade)} "
            f"is not a whole number up to {limits.MAX_GRADE}",
            hint="grades are whole numbers such as 0, 1, 2, 3",
        )
    return int(grade)


COLUMNS = 4
QUERY, DOC, GRADE = 0, 2, 3
_DIGIT_ZERO = ord("0")


def qrels_from_text(data: bytes) -> Qrels | None:
    """The judgments of a regular qrels file; None if it is not regular."""
    if not data.isascii():
        return None
    text = Text(data) if data.endswith(b"\n") else Text(data, b"\n")
    lines = cut(text, COLUMNS)
    if lines is None or lines.longest() > limits.MAX_LINE_BYTES:
        return None
    query, doc, grade = (lines.column(at) for at in (QUERY, DOC, GRADE))
    digits = text.content[grade.start]
    longest = max(int(query.length.max()), int(doc.length.max()))
    if longest > limits.MAX_ID_BYTES or int(grade.length.max()) > 1 or not _are_digits(digits):
        return None
    query_hash = hash_field(text, query)
    starts = group_starts(query_hash)
    names = tuple(item.decode() for item in query.at(starts).bytes(text))
    keys = np.sort(pair_keys(query_hash, hash_field(text, doc)))
    if len(set(names)) < len(names) or (keys[1:] == keys[:-1]).any():
        return None
    return Qrels(
        queries=names,
        query=np.repeat(np.arange(len(starts)), np.diff(starts, append=len(lines))),
        docs=_texts(text, doc),
        grade=digits.astype(np.int64) - _DIGIT_ZERO,
    )


def _are_digits(bytes_: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> bool:
    return bool(((bytes_ >= _DIGIT_ZERO) & (bytes_ <= ord("9"))).all())


def _texts(text: Text, field: Field) -> tuple[str, ...]:
    """The fields as text; slicing one string is faster than decoding many."""
    whole = text.data.decode()
    pairs = zip(field.start.tolist(), field.end.tolist(), strict=True)
    return tuple([whole[start:end] for start, end in pairs])
