"""Which reader reads which kind of corpus?

A new format is a module with a ``read_...`` generator and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from assay.errors import UsageError
from assay.ingest.beir import read_beir
from assay.ingest.ctgov import read_ctgov
from assay.ingest.entry import Entry
from assay.ingest.jats import read_jats
from assay.ingest.jsonl import read_jsonl
from assay.ingest.spl import read_spl
from assay.ingest.text import read_text
from assay.ingest.transcript import read_transcript
from assay.ingest.watch import Watch

Read: TypeAlias = Callable[[Path, Watch], Iterator[Entry]]


@dataclass(frozen=True, slots=True)
class Reader:
    """One format: its name, its reader, how it is recognised, and what it is."""

    name: str
    read: Read
    recognised: str
    help: str


READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("jsonl", read_jsonl, "JSON lines with an id and text, or with chunk_id",
               "whole documents or ready-made chunks, one per line"),
        Reader("beir", read_beir, "a folder with corpus.jsonl, or that file",
               "a BEIR collection"),
        Reader("jats", read_jats, "XML with an <article>",
               "articles of PubMed Central"),
        Reader("ctgov", read_ctgov, "JSON with protocolSection",
               "ClinicalTrials.gov studies, API version 2"),
        Reader("spl", read_spl, "XML with a <document> of HL7 version 3",
               "drug labels, Structured Product Labeling"),
        Reader("transcript", read_transcript, "JSON with turns or segments, or WEBVTT",
               "interviews: dialogues, segments, WebVTT"),
        Reader("text", read_text, "names that end in .txt or .md",
               "plain text and Markdown"),
    )
}  # fmt: skip


def reader_named(name: str) -> Reader:
    """The reader of this name."""
    if name not in READERS:
        raise UsageError(
            f"there is no corpus format {name!r:.40}", hint=f"known: auto, {', '.join(READERS)}"
        )
    return READERS[name]
