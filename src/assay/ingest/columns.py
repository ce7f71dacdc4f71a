"""Which fields of a row hold the id, the text and the title, when they have other people's names?

The caller says (``watch.Columns``), or the names decide: tables of abstracts, exports of LangChain,
LlamaIndex and Haystack, and most others use one of a few, compared without case, blanks and signs.
What was chosen is noted, and the other fields become metadata, so nothing of a row is lost without
a word. Where no field holds an id, one is made: of the source that the metadata name, else of the
file, and of what the row says. So another row never takes its place, wherever it stands.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from assay import limits
from assay.ingest.documents import SECTION_NAMES
from assay.ingest.facts import plain_name
from assay.ingest.fields import DOC_ID_NAMES, string
from assay.ingest.folders import stem
from assay.ingest.json_rows import Row
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Columns, Watch
from assay.model.document import OTHER_IDS, is_made_id

# in the order of preference
ID_NAMES = (*DOC_ID_NAMES, "id_", *OTHER_IDS)
TEXT_NAMES = (
    *("text", "abstract", "page_content", "content", "contents", "body", "passage", "full_text"),
    *("document", "description", "brief_summary", "summary", "raw_text", "paragraph", "snippet"),
    *("chunk_text", "narrative", "note_text", "report_text", "note", "notes", "report"),
)
TITLE_NAMES = ("title", "headline", "article_title", "brief_title", "study_title", "name")
SOURCE_NAMES = ("source", "file_path", "url", "file_name")
METADATA_NAMES = ("metadata", "meta")
# what documents.py reads by name
OWN = frozenset({
    "title", "text", "sections", "source", "interview_id", "ingestion_mode", *SECTION_NAMES,
})  # fmt: skip
NAME_FIELDS = "--id-field and --text-field name the fields"
SHOWN = 12  # names of fields in an error
_WRITTEN_AS_REAL = re.compile(r"[1-9]\d{0,14}\.0")
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_.-]+")


def reads(names: Collection[str]) -> bool:
    """Do fields of these names look like a document? It may have a title only."""
    known = {plain_name(name) for name in names}
    if known & _plain(DOC_ID_NAMES) and "title" in known:
        return True
    return bool(known & _plain(ID_NAMES) and known & _plain(TEXT_NAMES))


def is_document(row: Row, columns: Columns) -> bool:
    """Is a row one that ``arranged`` could read: with a text, or the fields that were named?"""
    row = _with_paths(_unwrapped(row), columns)
    if any(named in row for named in (columns.id, *columns.text)):
        return True
    return reads(row) or bool({"text", "sections", "page_content", "chunk_id"} & row.keys())


def arranged(
    row: Row, columns: Columns, location: FileLocation, watch: Watch, *, in_table: bool = False
) -> Row:
    """The row with its id, text, title and metadata under our own names.

    Cells of a table have no types: there, a number may be a text, and ``12.0`` the id 12.
    """
    row = _with_paths(_unwrapped(row), columns)
    metadata = _metadata(row, location)
    found = _Found.of(row, metadata, columns, location)
    if found.id:
        key = _id((metadata if found.is_inside else row).get(found.id), in_table=in_table)
    else:
        key = _made_id(row, metadata, location, watch, has_text=bool(found.text))
    if found.is_guess(columns):
        watch.note_once(f"{location.file}: {found}; other fields are metadata")
    own = {name: row[name] for name in OWN if name in row and name not in found.used}
    rest = {name: value for name, value in row.items() if name not in found.used | OWN}
    known = {**rest, **metadata}
    if found.id in known:
        known[found.id] = key
    texts = _as_words(row, found) if in_table else row
    title = (
        texts.get(found.title) if found.title else metadata.get(_filled(metadata, TITLE_NAMES[:1]))
    )
    return {
        **own,
        "doc_id": key,
        **({"title": title} if title is not None else {}),
        **({"text": _joined(texts, found.text, location)} if found.text else {}),
        **({"metadata": known} if known else {}),
    }


def owners_id(row: Row, metadata: Row, named: str = "") -> str:
    """The field of the metadata that holds the id, where the row has none, or one that was made.

    Libraries make up ids (UUIDs, hashes), and keep the owner's in the metadata of every part.
    """
    if named:
        return named if metadata.get(named) is not None else ""
    own = _filled(row, ID_NAMES)
    if own and not is_made_id(row[own]):
        return ""
    inside = _filled(metadata, ID_NAMES)
    return "" if inside and is_made_id(metadata[inside]) and own else inside


def part_of(row: Row, columns: Columns) -> object:
    """The owner's id in the metadata of a row: rows that share it are parts of one document."""
    row = _unwrapped(row)
    found = (row[name] for name in METADATA_NAMES if isinstance(row.get(name), dict))
    given: Row = next(found, {})
    inside = owners_id(row, given, columns.id if columns.id not in row else "")
    return given.get(inside) if inside else None


def _made_id(
    row: Row,
    metadata: Row,
    location: FileLocation,
    watch: Watch,
    *,
    has_text: bool,
) -> str:
    """An id for a row without one, of its source or file and its content; the choice is noted."""
    source = metadata.get(_filled(metadata, SOURCE_NAMES))
    file = location.file
    content = json.dumps(row, sort_keys=True, ensure_ascii=False, default=str)
    digest = blake2b(content.encode(), digest_size=5).hexdigest()
    if isinstance(source, str) and (name := _tidy(source)):
        watch.note_once(
            f"{file}: no ids; they are made of the source that the metadata name, and the content"
        )
        return f"{name}-{digest}"
    column = _named(row, ID_NAMES)
    if has_text and not column:
        watch.note_once(f"{file}: no ids; they are made of the file's name and the content")
        return f"{_tidy(stem(Path(file)))}-{digest}"
    raise location.format_error(
        f"no doc_id: {column[0]} is empty" if column else "no field is known as an id or a text",
        hint=f"{NAME_FIELDS}; {_fields(row)}",
    )


def _tidy(name: str) -> str:
    """The end of a name as an id may have it, with room for a number."""
    return _NOT_IN_IDS.sub("-", name)[-limits.MAX_DOC_ID_CHARS + 12 :].strip("-.")


@dataclass(frozen=True, slots=True)
class _Found:
    """The names that were given or found; empty where there is none."""

    id: str
    text: tuple[str, ...]
    title: str
    is_inside: bool = False  # the id stands in the metadata

    @classmethod
    def of(cls, row: Row, metadata: Row, columns: Columns, location: FileLocation) -> _Found:
        key, title, *text = (
            _given(row, name, location) for name in (columns.id, columns.title, *columns.text)
        )
        inside = "" if key and row.get(key) is not None else owners_id(row, metadata, key)
        key = inside or key or _filled(row, ID_NAMES)
        if not text and "sections" not in row:
            text = [*_named(row, TEXT_NAMES)]
        title = title or "".join(_named(row, TITLE_NAMES))
        return cls(key, tuple(text), title, bool(inside))

    @property
    def used(self) -> frozenset[str]:
        """The fields that are no metadata; an id that says what it is (pmid) is that, too."""
        own = {self.id} if plain_name(self.id) in _plain(DOC_ID_NAMES) else set()
        return frozenset({self.title, *self.text, *METADATA_NAMES, *DOC_ID_NAMES, *own})

    def is_guess(self, columns: Columns) -> bool:
        """Was a name taken that is neither ours nor given?"""
        return (
            (not columns.id and self.id not in {"", *DOC_ID_NAMES})
            or (not columns.text and any(name != "text" for name in self.text))
            or (not columns.title and self.title not in {"", "title"})
        )

    def __str__(self) -> str:
        named = (("id", self.id), ("text", " and ".join(self.text)), ("title", self.title))
        (what, first), *others = [(what, name) for what, name in named if name]
        return ", ".join([f"the {what} is {first}", *(f"the {one} {name}" for one, name in others)])


def as_json(value: Any) -> Any:
    """A value of a frame as JSON would have it: dates as ISO 8601, nothing for what is missing."""
    if type(value).__module__ == "numpy":
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime.timedelta):
        return str(value)
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


def _with_paths(row: Row, columns: Columns) -> Row:
    """The row with the fields that the caller named by a path, as in ``context.abstract``."""
    named = (columns.id, columns.title, *columns.text)
    paths = [name for name in named if "." in name and name not in row]
    return {**row, **{path: value for path in paths if (value := _inside(row, path)) is not None}}


def _inside(row: Row, path: str) -> Any:
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _given(row: Row, name: str, location: FileLocation) -> str:
    """The field that the caller named; empty where none was."""
    if not name or name in row:
        return name
    if found := _named(row, (name,)):
        return found[0]
    raise location.format_error(f"no field {name!r:.60}", hint=_fields(row))


def _filled(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for ours in names:
        if row.get(ours) not in (None, ""):
            return ours
    filled = {name: value for name, value in row.items() if value not in (None, "")}
    return "".join(_named(filled, names))


def _named(row: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    """The first of the names that the row has, filled or not: every row of a table has the same.

    A name that is written as ours is preferred to one that only reads like it.
    """
    if found := next((name for name in names if name in row), None):
        return (found,)
    folded = {plain_name(name): name for name in reversed(list(row))}
    known = (folded.get(plain_name(name)) for name in names)
    return tuple(name for name in known if name)[:1]


@cache
def _plain(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(plain_name, names))


def _id(value: object, *, in_table: bool) -> object:
    """The id; a whole number that was read or written as 12.0 is 12, as pandas does with gaps."""
    if in_table and isinstance(value, str) and _WRITTEN_AS_REAL.fullmatch(value):
        return value[:-2]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _as_words(row: Row, found: _Found) -> Row:
    """The row; numbers that stand where a text or title is expected are words."""
    return {
        name: str(value)
        if name in {*found.text, found.title}
        and isinstance(value, int | float)
        and not isinstance(value, bool)
        else value
        for name, value in row.items()
    }


def _joined(row: Row, names: tuple[str, ...], location: FileLocation) -> str:
    """The texts of these fields; one that is a list of texts has a line for each."""
    return "\n\n".join(
        filter(None, (string(_as_lines(row, name), (name,), location) for name in names))
    )


def _as_lines(row: Row, name: str) -> Row:
    value = row.get(name)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return {name: "\n".join(value)}
    return row


def _fields(row: Row) -> str:
    names = [str(name)[:40] for name in row][: SHOWN + 1]
    return f"its fields: {', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}"
