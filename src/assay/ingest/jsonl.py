"""What documents, or ready-made chunks, does a JSON-lines file hold?

Files with other suffixes may also hold one object, an array, or an object with an array of
documents under any name, as a page of results.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from assay.ingest.columns import arranged, is_document, part_of
from assay.ingest.documents import document_entry
from assay.ingest.folders import corpus_files, suffix
from assay.ingest.json_rows import Row, file_rows, line_rows
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.ready_made import chunk_entries
from assay.ingest.watch import Watch

SUFFIXES = frozenset({".jsonl", ".ndjson"})


def read_jsonl(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The rows of a file, or of every such file in a folder; the first row decides the kind."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            yield from _entries(file, watch)


def _entries(file: Path, watch: Watch) -> Iterator[ParsedDocument]:
    lines = suffix(file) in SUFFIXES
    rows = (
        line_rows(file, watch)
        if lines
        else file_rows(file, watch, "documents", is_row=lambda row: is_document(row, watch.columns))
    )
    first = next(rows, None)
    if first is None:
        watch.left_out(f"{file}: empty", file)
    elif "chunk_id" in first[1]:
        yield from chunk_entries(chain([first], rows), watch)
    else:
        waiting: list[tuple[FileLocation, Row]] = []  # rows that may be parts of one document
        for location, row in chain([first], rows):
            shared = part_of(row, watch.columns)
            if waiting and shared != part_of(waiting[0][1], watch.columns):
                yield from _documents(waiting, watch)
                waiting = []
            waiting.append((location, row))
            if shared is None:
                yield from _documents(waiting, watch)
                waiting = []
        yield from _documents(waiting, watch)


def _documents(rows: list[tuple[FileLocation, Row]], watch: Watch) -> Iterator[ParsedDocument]:
    """One row as a document; several as the chunks of one."""
    parts: list[tuple[FileLocation, Row]] = []
    for location, row in rows:
        with watch.passing():
            ours = arranged(row, watch.columns, location, watch)
            if len(rows) == 1:
                yield document_entry(ours, location, watch, "jsonl")
            else:
                chunk_id = f"{ours['doc_id']}:chunk_{len(parts)}"
                parts.append((location, {**ours, "chunk_id": chunk_id}))
    if parts:
        watch.note_once(f"{parts[0][0].file}: rows with the same id are parts of one document")
        yield from chunk_entries(iter(parts), watch)
