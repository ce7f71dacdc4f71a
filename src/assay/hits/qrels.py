"""Which judgments does this value or file hold?

A text file becomes columns at once, by compiled code or by array operations. Where anything about
it is wrong or odd, the careful reader takes it line by line and names the line. What ``load_qrels``
returns can be held: scoring many runs reads and indexes the judgments once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from assay import compiled, limits
from assay.errors import DuplicateError, InputError, UsageError
from assay.hits import frames
from assay.hits.columns import is_columns, is_frame
from assay.hits.fields import (
    WORD,
    Field,
    Text,
    WordArray,
    cut,
    evened_out,
    hash_field,
    is_utf8,
)
from assay.hits.json_input import qrels_from_json
from assay.hits.kernels import CutJudgments, cut_judgments, match_groups
from assay.hits.numbers import is_whole, shown
from assay.hits.rows import group_starts, pair_keys
from assay.hits.sources import Kind, Source, read_all, sniff, source
from assay.hits.trec_lines import (
    QrelsRows,
    qrels_form,
    read_qrels_lines,
    refuse_long_lines,
    whole,
)
from assay.model.arrays import IntArray
from assay.model.judgments import Qrels

QrelsInput: TypeAlias = Qrels | str | os.PathLike[str] | Mapping[str, Mapping[str, int]] | Any


def load_qrels(value: QrelsInput) -> Qrels:
    """Judgments from a file, a mapping, a data frame, three arrays, or as they are.

    ``judgments = assay.load_qrels("qrels.txt")`` can be given to ``assay.score`` as often as there
    are runs; the file is read once.
    """
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
    name = origin.name
    return qrels_from_text(data, name) or _from_rows(read_qrels_lines(data, name), name)


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
    if all(map(_is_plain, value, value.values())):
        try:
            qrels = Qrels.from_mapping(value)
            if np.abs(qrels.grade).max(initial=0) <= limits.MAX_GRADE:
                return qrels
        except OverflowError:  # a grade of more than 64 bits
            pass
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


def _is_plain(query: object, judged: object) -> bool:
    """Whether these are ids and whole numbers, by their types alone: one by one is slow."""
    return (
        type(query) is str
        and type(judged) is dict
        and set(map(type, judged)) <= {str}
        and set(map(type, judged.values())) <= {int}
    )


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


def qrels_from_text(data: bytes, name: str) -> Qrels | None:
    """The judgments of a text without a fault; None if only the careful reader can tell.

    Compiled code takes any blanks and empty lines as they are; for arrays they are evened out.
    """
    data, form, doc = qrels_form(data)
    if not is_utf8(data):
        return None
    refuse_long_lines(data, name, 1)
    text = Text(data) if data.endswith(b"\n") else Text(data, b"\n")
    columns = len(form.split())
    if compiled.library() is not None:
        lines = cut_judgments(text, columns, doc)
        return None if lines is None else _columns(text, lines)
    lines = _array_judgments(text, columns, doc)
    if lines is None:
        text = Text(evened_out(text.data[: text.size]))
        lines = _array_judgments(text, columns, doc)
    return None if lines is None else _columns(text, lines)


def _columns(text: Text, lines: CutJudgments) -> Qrels | None:
    """The lines grouped by query, in the order in which queries first occur."""
    names = [item.decode() for item in lines.query.at(lines.starts).bytes(text)]
    position = {name: at for at, name in enumerate(dict.fromkeys(names))}
    sizes = np.diff(lines.starts, append=len(lines.grade))
    query = np.repeat(np.array([position[name] for name in names]), sizes)
    doc, doc_hash, grade = lines.doc, lines.doc_hash, lines.grade
    if len(position) < len(names):
        order = np.argsort(query, kind="stable")
        query, doc, doc_hash, grade = query[order], doc.at(order), doc_hash[order], grade[order]
    if _may_repeat(query, doc_hash):
        return None
    return Qrels(queries=tuple(position), query=query, docs=_texts(text, doc), grade=grade)


def _may_repeat(query: IntArray, doc_hash: WordArray) -> bool:
    """Whether a query may judge a document twice: it does, or two hashes collide."""
    if compiled.library() is not None:
        bounds = np.append(np.flatnonzero(np.diff(query, prepend=-1)), len(query))
        nothing = np.zeros(0, dtype=np.uint64), np.zeros(len(bounds), dtype=np.int64)
        return match_groups(doc_hash, bounds, *nothing) is None
    keys = np.sort(pair_keys(query.astype(np.uint64), doc_hash))
    return bool((keys[1:] == keys[:-1]).any())


def _array_judgments(text: Text, columns: int, doc_column: int) -> CutJudgments | None:
    """The same as compiled code cuts, for a regular text."""
    lines = cut(text, columns)
    if lines is None:
        return None
    query, doc, grade = (lines.column(at) for at in (0, doc_column, columns - 1))
    if max(int(query.length.max()), int(doc.length.max())) > limits.MAX_ID_BYTES:
        return None
    grades = _grades(text, grade)
    if grades is None:
        return None
    starts = group_starts(hash_field(text, query))
    return CutJudgments(query, doc, starts, hash_field(text, doc), grades)


def _grades(text: Text, field: Field) -> IntArray | None:
    """The grades; None if one of them is not a whole number within the limit, or oddly long."""
    if int(field.length.max()) > WORD:
        return None
    _, first, which = np.unique(hash_field(text, field), return_index=True, return_inverse=True)
    try:
        known = [whole(item) for item in field.at(first).bytes(text)]
    except ValueError:
        return None
    if max(map(abs, known)) > limits.MAX_GRADE:
        return None
    return np.array(known, dtype=np.int64)[which]


def _texts(text: Text, field: Field) -> tuple[str, ...]:
    """The fields as text; slicing one string is faster than decoding many."""
    if not text.data.isascii():
        return tuple([item.decode() for item in field.bytes(text)])
    everything = text.data.decode()
    pairs = zip(field.start.tolist(), field.end.tolist(), strict=True)
    return tuple([everything[start:end] for start, end in pairs])
