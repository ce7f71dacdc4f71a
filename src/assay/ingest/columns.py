"""Which fields of a row hold the id, the text and the title, when they have other people's names?

The caller says (``watch.Columns``), or the names decide: tables of abstracts, exports of LangChain,
LlamaIndex and Haystack, and most others use one of a few. What was chosen is noted, and the other
fields become metadata, so nothing of a row is lost without a word.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from assay.ingest.documents import SECTION_NAMES
from assay.ingest.fields import DOC_ID_NAMES, string
from assay.ingest.json_rows import Row
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Columns, Watch

# in the order of preference
ID_NAMES = (
    *DOC_ID_NAMES,
    *("id_", "pmid", "pmcid", "nct_id", "docno", "docid", "document_id"),
    *("node_id", "cord_uid", "uid", "uuid", "key"),
)
TEXT_NAMES = (
    *("text", "abstract", "page_content", "content", "contents", "body", "passage", "full_text"),
    *("document", "description"),
)
TITLE_NAMES = ("title", "headline", "article_title", "brief_title", "name")
METADATA_NAMES = ("metadata", "meta")
# what documents.py reads by name
OWN = frozenset({
    "title", "text", "sections", "source", "interview_id", "ingestion_mode", *SECTION_NAMES,
})  # fmt: skip
SHOWN = 12  # names of fields in an error


def reads(names: Collection[str]) -> bool:
    """Do fields of these names look like a document?"""
    return any(name in names for name in ID_NAMES) and any(name in names for name in TEXT_NAMES)


def arranged(row: Row, columns: Columns, location: FileLocation, watch: Watch) -> Row:
    """The row with its id, text, title and metadata under our own names."""
    row = _unwrapped(row)
    metadata = _metadata(row, location)
    found = _Found.of(row, metadata, columns, location)
    if found.is_guess(columns):
        watch.note_once(f"{location.source}: {found}; other fields are metadata")
    own = {name: row[name] for name in OWN if name in row and name not in found.used}
    rest = {name: value for name, value in row.items() if name not in found.used | OWN}
    known = {**rest, **metadata}
    return {
        **own,
        "doc_id": _id(row.get(found.id, metadata.get(found.id))),
        **({"title": row.get(found.title)} if found.title else {}),
        **({"text": _joined(row, found.text, location)} if found.text else {}),
        **({"metadata": known} if known else {}),
    }


@dataclass(frozen=True, slots=True)
class _Found:
    """The names that were given or found; empty where there is none."""

    id: str
    text: tuple[str, ...]
    title: str

    @classmethod
    def of(cls, row: Row, metadata: Row, columns: Columns, location: FileLocation) -> _Found:
        for name in (columns.id, *columns.text, columns.title):
            if name and name not in row:
                raise location.format_error(f"no field {name!r:.60}", hint=_fields(row))
        key = columns.id or _filled(row, ID_NAMES) or _filled(metadata, ID_NAMES)
        if not key:
            raise location.format_error(
                "no doc_id", hint=f"give it a doc_id, or name the field; {_fields(row)}"
            )
        text = columns.text
        if not text and "sections" not in row:
            text = _named(row, TEXT_NAMES)
        return cls(key, text, columns.title or "".join(_named(row, TITLE_NAMES)))

    @property
    def used(self) -> frozenset[str]:
        """The fields that are no metadata; an id that says what it is (pmid) is that, too."""
        return frozenset({self.title, *self.text, *METADATA_NAMES, *DOC_ID_NAMES})

    def is_guess(self, columns: Columns) -> bool:
        """Was a name taken that is neither ours nor given?"""
        return (
            (not columns.id and self.id not in DOC_ID_NAMES)
            or (not columns.text and any(name != "text" for name in self.text))
            or (not columns.title and self.title not in {"", "title"})
        )

    def __str__(self) -> str:
        parts = [f"the id is {self.id}"]
        if self.text:
            parts.append(f"the text {' and '.join(self.text)}")
        if self.title:
            parts.append(f"the title {self.title}")
        return ", ".join(parts)


def as_json(value: Any) -> Any:
    """A value of a frame as JSON would have it: dates as ISO 8601, nothing for what is missing."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, datetime.date | datetime.time):
        text = value.isoformat()
        return None if text == "NaT" else text  # how pandas writes a missing date
    return value


def _unwrapped(row: Row) -> Row:
    """The fields of a document that LangChain wrote with its class."""
    inner = row.get("kwargs")
    return inner if isinstance(inner, dict) and "page_content" in inner else row


def _metadata(row: Row, location: FileLocation) -> Row:
    given: object = next((row[name] for name in METADATA_NAMES if row.get(name) is not None), {})
    if not isinstance(given, dict):
        raise location.format_error(
            f"metadata is {type(given).__name__}, but an object is expected"
        )
    return given


def _filled(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if row.get(name) not in (None, "")), "")


def _named(row: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    """The first of the names that the row has, filled or not: every row of a table has the same."""
    return tuple(name for name in names if name in row)[:1]


def _id(value: object) -> object:
    """The id; a whole number that was read as 12.0 is 12."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _joined(row: Row, names: tuple[str, ...], location: FileLocation) -> str:
    return "\n\n".join(filter(None, (string(row, (name,), location) for name in names)))


def _fields(row: Row) -> str:
    names = [str(name)[:40] for name in row][: SHOWN + 1]
    return f"its fields: {', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}"
