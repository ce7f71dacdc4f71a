"""Which documents are given: rows as they are, or the rows of a data frame?

A frame of pandas or polars, or a table of arrow, has a document per row. The names of its columns
decide what is id, text and title (``ingest/columns.py``); the others are metadata.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import UsageError
from assay.hits.columns import columns_of, is_frame

log = logging.getLogger("assay.corpus")
SHOWN = 12  # names of fields in an error


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields that hold the id, the text (several are joined) and the title of a document."""

    id: str = ""
    text: str | Sequence[str] = ()
    title: str = ""

    def named(self) -> dict[str, tuple[str, ...]]:
        """Each of our names with those that stand for it."""
        texts = (self.text,) if isinstance(self.text, str) else tuple(self.text)
        given = {"doc_id": (self.id,), "text": texts, "title": (self.title,)}
        return {name: others for name, others in given.items() if any(others)}


def renamed(documents: Any, fields: Fields) -> Iterator[dict[str, Any]]:
    """Each document with the named fields under our own names; the others stay as they are."""
    wanted = fields.named()
    if not is_frame(documents):
        for number, row in enumerate(document_rows(documents), 1):
            _check_fields(wanted, row, f"document {number}")
            yield _renamed(row, wanted, number)
        return
    columns = columns_of(documents)
    wanted = {name: tuple(one.strip().lower() for one in others) for name, others in wanted.items()}
    _check_fields(wanted, columns, "the data frame")
    for number, row in enumerate(_frame_rows(columns), 1):
        for name in wanted.get("doc_id", ()):
            if name not in row:  # a missing value has no cell
                raise UsageError(
                    f"row {number} has no value in {name!r:.60}", hint="every row needs an id"
                )
        yield _renamed(row, wanted, number)


def _check_fields(
    wanted: Mapping[str, tuple[str, ...]], there: Mapping[str, Any], what: str
) -> None:
    for name in (name for others in wanted.values() for name in others):
        if name not in there:
            raise UsageError(
                f"{what} has no field {name!r:.60}",
                hint=f"its fields: {', '.join(sorted(map(str, there))[:SHOWN])}",
            )


def _renamed(
    row: dict[str, Any], wanted: Mapping[str, tuple[str, ...]], number: int
) -> dict[str, Any]:
    """A row of a frame has no cell where a value is missing."""
    used = {name for others in wanted.values() for name in others}
    found: dict[str, Any] = {}
    for name, others in wanted.items():
        values = [row[other] for other in others if other in row]
        found[name] = values[0] if len(values) == 1 else "\n\n".join(map(str, values))
        if name != "doc_id" and isinstance(found[name], int | float):
            found[name] = str(found[name])
    if hidden := sorted(name for name in wanted if name in row and name not in used):
        raise UsageError(
            f"document {number} also has a field {hidden[0]!r}, which is another one",
            hint="rename it first",
        )
    return {**{name: value for name, value in row.items() if name not in used}, **found}


def document_rows(documents: Any) -> Iterator[dict[str, Any]]:
    """Each document as JSON would have it; what is missing in a frame is left out."""
    if is_frame(documents):
        yield from _frame_rows(columns_of(documents))
        return
    single = isinstance(documents, Mapping | str) or not isinstance(documents, Iterable)
    left_out: set[str] = set()
    for number, row in enumerate([documents] if single else documents, 1):
        yield _plain(_row(row), f"document {number}", left_out)


def _plain(row: Mapping[Any, Any], place: str, left_out: set[str]) -> dict[str, Any]:
    """The row with values that JSON has; bytes are no words, and are left out with a warning."""
    from assay.ingest.columns import as_json

    found: dict[str, Any] = {}
    for name, given in row.items():
        value = None if type(given).__name__ == "NAType" else as_json(given)  # of pandas
        if isinstance(value, Mapping):
            value = _plain(value, place, left_out)
        if isinstance(value, bytes | bytearray | memoryview):
            if name not in left_out:
                log.warning("%s: %s holds bytes and is left out", place, name)
            left_out.add(str(name))
            continue
        if not isinstance(value, str):
            _require_json(value, place, name)
        found[str(name)] = value
    return found


def _require_json(value: Any, place: str, name: object) -> None:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as problem:
        raise UsageError(
            f"{place} cannot be written as JSON: {name}: {problem!s:.100}",
            hint="values are text, numbers, dates, lists and mappings",
        ) from None


def _row(given: Any) -> dict[str, Any]:
    """A document as a row: a mapping, or what LangChain, LlamaIndex and Haystack call one."""
    if isinstance(given, Mapping):
        return dict(given)
    for id_name, text_name, about in (
        ("id", "page_content", "metadata"),
        ("node_id", "text", "metadata"),
        ("id", "content", "meta"),
    ):
        text, known = getattr(given, text_name, None), getattr(given, about, None)
        if isinstance(text, str) and isinstance(known, Mapping):
            key = getattr(given, id_name, None)
            return {**({"id": key} if key else {}), text_name: text, "metadata": dict(known)}
    what = f"a document is a mapping of fields, not {type(given).__name__}"
    hint = 'such as {"doc_id": "d1", "text": "..."}; a data frame is taken whole'
    if isinstance(given, str):
        hint += "; ingest(PATH) reads a file"
    raise UsageError(what, hint=hint)


def _frame_rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    left_out: set[str] = set()
    for number, values in enumerate(zip(*columns.values(), strict=True), 1):
        row = _plain(dict(zip(columns, values, strict=True)), f"document {number}", left_out)
        yield {name: value for name, value in row.items() if value is not None}


def document_ids(doc_ids: str | Iterable[str]) -> list[str]:
    """One id or several, as a list."""
    if not isinstance(doc_ids, Iterable):
        raise UsageError(f"the id of a document is text, not {type(doc_ids).__name__}")
    ids = [doc_ids] if isinstance(doc_ids, str) else list(doc_ids)
    for one in ids:
        if not isinstance(one, str):
            raise UsageError(f"the id of a document is text, not {type(one).__name__}")
    return ids
