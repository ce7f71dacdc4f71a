"""Which format does this file have, by its first bytes or its name?"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from assay.errors import FormatError
from assay.ingest import (
    archives,
    beir,
    columns,
    ctgov_xml,
    medline,
    medline_text,
    pages,
    pdf,
    tabular,
    text,
    word,
)
from assay.ingest.files import absent, head
from assay.ingest.folders import suffix
from assay.ingest.readers import READERS

_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_OBJECTS = re.compile(rb"\{|\[\s*\{")
_BY_SUFFIX = {  # formats that the first bytes do not tell, or whose name is sure
    **dict.fromkeys(archives.SUFFIXES, "archive"),
    **dict.fromkeys(word.SUFFIXES, "docx"),
    **dict.fromkeys(tabular.TEXTUAL, "table"),
}
_MARKS = ((b"WEBVTT", "transcript"), (pdf.MAGIC, "pdf"), (tabular.PARQUET_MAGIC, "table"),
          (medline_text.MAGIC, "medline"))  # fmt: skip
_OF_MARKUP = ("jats", "medline", "ctgov", "spl", "html")
_FORMATS = {
    "protocolSection": "ctgov",
    "resourceType": "fhir",
    "turns": "transcript",
    "segments": "transcript",
    "segment_id": "transcript",
    "chunk_id": "jsonl",
    "text": "jsonl",
    "page_content": "jsonl",
    "sections": "jsonl",
    "table_html": "jsonl",
}
_KEY = re.compile(rb'"(%s)"\s*:' % "|".join(_FORMATS).encode())


def detect(path: str | os.PathLike[str], *, rows: bool = False) -> str:
    """The name of the reader in ``READERS`` for this file.

    With ``rows``, objects of any fields are documents: the caller has named the fields.
    """
    file = Path(path)
    if not file.is_file():
        raise absent(file)
    name = format_of(file, rows=rows)
    if name is None:
        start = _start(file)
        known = _OF_MARKUP if start.startswith(b"<") else READERS
        prose = _is_prose(file, start)
        hint = f"name it: {', '.join(name for name in known if prose or name != 'text')}"
        if _OBJECTS.match(start):
            hint = "if these are documents, --id-field and --text-field name their fields"
        raise FormatError("not a known corpus format", source=str(file), hint=hint)
    return name


def format_of(path: Path, *, rows: bool = False) -> str | None:
    """The name of the reader for this file; None if no format fits."""
    if path.name in beir.NAMES:
        return "beir"
    if named := _BY_SUFFIX.get(suffix(path)):
        return named
    start = _start(path)
    if marked := next((name for mark, name in _MARKS if start.startswith(mark)), None):
        return marked
    found = None
    if start.startswith(b"<"):
        found = _of_xml(start)
    elif _OBJECTS.match(start):
        found = _of_json(start) or ("jsonl" if rows else None)
    if found or suffix(path) not in text.SUFFIXES:
        return found
    if suffix(path) not in text.MARKDOWN and tabular.holds_documents(
        start.decode(errors="replace")
    ):
        return "table"
    # plain text may begin with a bracket, too: "[00:01] Doctor: ..."
    return "text" if _is_prose(path, start) else None


def _is_prose(path: Path, start: bytes) -> bool:
    return b"\0" not in start and not text.kind_of(path, start.decode(errors="replace"))


def _start(path: Path) -> bytes:
    return head(path).removeprefix(b"\xef\xbb\xbf").lstrip()


def _of_xml(start: bytes) -> str | None:
    found = _ROOT.search(start)
    root = found[1] if found else b""
    if root.lower() == pages.ROOT.encode() or start[:14].lower() == b"<!doctype html":
        return "html"
    if root.decode(errors="replace") in medline.ROOTS:
        return "medline"
    if root == ctgov_xml.ROOT.encode():
        return "ctgov"
    if root in {b"article", b"pmc-articleset"} or b"<article " in start:
        return "jats"
    return "spl" if root == b"document" and b"urn:hl7-org:v3" in start else None


def _of_json(start: bytes) -> str | None:
    """The format by the keys of the first object, as far as it was read."""
    try:
        row = json.loads(start.partition(b"\n")[0])
        keys = set(row) if isinstance(row, dict) else set()
    except (ValueError, RecursionError):
        keys = {key.decode() for key in _KEY.findall(start)}
    if columns.reads(keys):
        return next((name for key, name in _FORMATS.items() if key in keys), "jsonl")
    return next((name for key, name in _FORMATS.items() if key in keys), _of_wrapped(start))


def _of_wrapped(start: bytes) -> str | None:
    """The format by any telling key, for arrays and pages of results."""
    keys = {key.decode() for key in _KEY.findall(start)}
    return next((name for key, name in _FORMATS.items() if key in keys), None)
