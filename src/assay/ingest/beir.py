"""What documents does a BEIR folder hold?

The documents are in ``corpus.jsonl``, plain or compressed, with ``_id``, ``title``, ``text`` and
``metadata``; the queries and judgments next to it are not read here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.errors import InputError, UsageError
from assay.ingest.documents import document_entry
from assay.ingest.folders import corpus_files
from assay.ingest.json_rows import line_rows
from assay.ingest.parsed import ParsedDocument
from assay.ingest.watch import Watch

NAMES = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst")


def read_beir(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The documents of a BEIR folder, or of its corpus file."""
    for file in corpus_files(corpus_of(path), frozenset(), watch):
        with watch.passing():
            for location, row in line_rows(file, watch):
                with watch.passing():
                    yield document_entry(row, location, watch, "beir")


def corpus_of(path: Path) -> Path:
    """The corpus file of a BEIR folder; a path to a file is returned as it is."""
    if not path.is_dir():
        return path
    found = [path / name for name in NAMES if (path / name).is_file()]
    if not found:
        raise InputError(f"{path}: no corpus.jsonl here", hint="is this a BEIR folder?")
    if len(found) > 1:
        names = " and ".join(file.name for file in found)
        raise UsageError(f"{path} holds {names}", hint="name the one that you mean")
    return found[0]
