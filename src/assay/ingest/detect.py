"""Which format does this file have, by its first bytes or its name?"""

from __future__ import annotations

import codecs
import json
import os
import re
from functools import partial
from pathlib import Path
from typing import Any

from assay.errors import FormatError
from assay.ingest import (
    archives,
    beir,
    ctgov_xml,
    fhir_xml,
    medline,
    medline_text,
    pages,
    pdf,
    tabular,
    text,
    word,
)
from assay.ingest.columns import is_document, reads
from assay.ingest.files import UTF16, absent, head
from assay.ingest.folders import suffix
from assay.ingest.json_rows import wrapped_rows
from assay.ingest.readers import READERS
from assay.ingest.watch import Columns

_OLE = b"\xd0\xcf\x11\xe0"
SAVE_AS = {
    **dict.fromkeys((".doc", ".odt", ".rtf"), "save it as .docx, without a password"),
    **dict.fromkeys((".xls", ".xlsx", ".xlsm", ".ods"), "save the sheet as CSV"),
    **dict.fromkeys((".ppt", ".pptx", ".odp"), "save it as PDF"),
    **dict.fromkeys((".epub", ".mhtml", ".mht", ".ipynb"), "save it as HTML"),
    **dict.fromkeys((".tex", ".ps", ".djvu"), "save it as PDF"),
    **dict.fromkeys((".feather", ".arrow", ".orc", ".avro"), "save it as parquet"),
    **dict.fromkeys((".ris", ".bib", ".enw"), "export it as CSV with abstracts, or from PubMed"),
    **dict.fromkeys((".eml", ".msg", ".mbox"), "save the text as .txt"),
}
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_OBJECTS = re.compile(rb"\{|\[\s*\{")
_BY_SUFFIX = {  # formats that the first bytes do not tell, or whose name is sure
    **dict.fromkeys(archives.SUFFIXES, "archive"),
    **dict.fromkeys(word.SUFFIXES, "docx"),
    **dict.fromkeys(tabular.TEXTUAL, "table"),
}
_MARKS = ((b"WEBVTT", "transcript"), (pdf.MAGIC, "pdf"), (tabular.PARQUET_MAGIC, "table"),
          (medline_text.MAGIC, "medline"))  # fmt: skip
_OF_MARKUP = ("jats", "medline", "ctgov", "fhir", "spl", "html")
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
_DECODER = json.JSONDecoder()
_ROW_STARTS = (re.compile(r"\[?\s*\{"), re.compile(r"\{[^\[\]{}]*\[\s*\{"))
_KEY = re.compile(rb'"(%s)"\s*:' % "|".join(_FORMATS).encode())


def detect(path: str | os.PathLike[str], *, rows: bool = False) -> str:
    """The name of the reader in ``READERS`` for this file.

    With ``rows``, objects of any fields are documents: the caller has named the fields.
    """
    file = Path(path)
    if not file.is_file():
        raise absent(file)
    advice = SAVE_AS.get(suffix(file))
    if advice is None and (name := format_of(file, rows=rows)) is not None:
        return name
    what, hint = ("this kind of file is not read", advice) if advice else _advice(file)
    raise FormatError(what, source=str(file), hint=hint)


def _advice(file: Path) -> tuple[str, str]:
    """What is wrong with a file of no known format, and what to do."""
    start = _start(file)
    if not start:
        return "an empty file", "fetch or export it again"
    if start.startswith(_OLE):
        return "a file of Office before 2007, or with a password", SAVE_AS[".doc"]
    if suffix(file) in pdf.SUFFIXES:
        return "not a PDF, which begins with %PDF-", "fetch it again: is it an error page?"
    if b"\0" in start:
        return (
            ("not UTF-8: UTF-16 without its byte-order mark, or no text", "save it as UTF-8")
            if suffix(file) in text.SUFFIXES
            else ("not a document: neither text nor a known binary format", "move it elsewhere")
        )
    if _OBJECTS.match(start):
        named = "if these are documents, --id-field and --text-field name their fields"
        return "not a known corpus format", named
    known = _OF_MARKUP if start.startswith(b"<") else READERS
    prose = _is_prose(file, start)
    listed = ", ".join(name for name in known if prose or name != "text")
    return "not a known corpus format", f"if it is one, --format names it: {listed}"


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
    if suffix(path) in pdf.SUFFIXES:
        found = "pdf" if pdf.MAGIC in start[:1024] else None  # never an error page of that name
    elif suffix(path) in pages.SUFFIXES and _is_markup(start):
        found = "html"  # a page may begin with <article>, as JATS does, or with no <html>
    elif start.startswith(b"<"):
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
    start = head(path)
    if start.startswith(UTF16):  # a character may be cut in two at the end
        start = start.decode("utf-16", errors="ignore").encode()
    return start.removeprefix(codecs.BOM_UTF8).lstrip()


def _is_markup(start: bytes) -> bool:
    return b"<" in start and b"\0" not in start


def _of_xml(start: bytes) -> str | None:
    start = _COMMENT.sub(b"", start).lstrip()
    found = _ROOT.search(start)
    root = found[1] if found else b""
    if root.lower() == pages.ROOT.encode() or start[:14].lower() == b"<!doctype html":
        return "html"
    if root.decode(errors="replace") in medline.ROOTS:
        return "medline"
    if root == ctgov_xml.ROOT.encode():
        return "ctgov"
    if found and fhir_xml.NAMESPACE in start[found.start() :].partition(b">")[0]:
        return "fhir"
    if root in {b"article", b"pmc-articleset"} or b"<article " in start:
        return "jats"
    return "spl" if root == b"document" and b"urn:hl7-org:v3" in start else None


def _of_json(start: bytes) -> str | None:
    """The format by the keys of the first object, as far as it was read."""
    row = _first_row(start)
    keys = set(row) or {key.decode() for key in _KEY.findall(start)}
    found = next((name for key, name in _FORMATS.items() if key in keys), None)
    if found or reads(keys):
        return found or "jsonl"
    inner = {key.decode() for key in _KEY.findall(start)}
    return next((name for key, name in _FORMATS.items() if key in inner), None)


def _first_row(start: bytes) -> dict[str, Any]:
    """The first object; of those that an object wraps, where it says no more itself."""
    text = start.decode(errors="replace")
    for found in filter(None, (begins.match(text) for begins in _ROW_STARTS)):
        try:
            value, _ = _DECODER.raw_decode(text, found.end() - 1)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            known = value.keys() & _FORMATS.keys()
            rows = [] if known else wrapped_rows(value, partial(is_document, columns=Columns()))
            return rows[0] if rows else value
    return {}
