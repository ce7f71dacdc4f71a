"""What documents, or ready-made chunks, does a JSON-lines file hold?

Files with other suffixes may also hold one object, an array, or an object with an array of
documents under any name, as a page of results.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from assay.ingest.columns import arranged, is_document
from assay.ingest.documents import document_entry
from assay.ingest.folders import corpus_files, suffix
from assay.ingest.json_rows import file_rows, line_rows
from assay.ingest.parsed import ParsedDocument
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
        for location, row in chain([first], rows):
            with watch.passing():
                ours = arranged(row, watch.columns, location, watch)
                yield document_entry(ours, location, watch, "jsonl")
