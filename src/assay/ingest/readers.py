"""Which reader reads which kind of corpus?

A new format is a module with a ``read_...`` generator and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from assay.errors import UsageError
from assay.ingest import (
    archives,
    beir,
    ctgov,
    fhir,
    jats,
    jsonl,
    medline,
    pages,
    pdf,
    spl,
    tabular,
    text,
    transcript,
    word,
)
from assay.ingest.parsed import ParsedDocument
from assay.ingest.watch import Watch

Read: TypeAlias = Callable[[Path, Watch], Iterator[ParsedDocument]]


@dataclass(frozen=True, slots=True)
class Reader:
    """One format: its name, its reader, the files it takes in a folder, and what it is."""

    name: str
    read: Read
    suffixes: frozenset[str]
    recognised: str
    help: str


READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("jsonl", jsonl.read_jsonl, jsonl.SUFFIXES,
               "JSON lines with an id and text, or with chunk_id",
               "documents with any fields, or ready-made chunks, one per line"),
        Reader("beir", beir.read_beir, frozenset(),
               "a folder with corpus.jsonl, or that file",
               "a BEIR collection"),
        Reader("jats", jats.read_jats, jats.SUFFIXES,
               "XML with an <article>",
               "articles of PubMed Central"),
        Reader("medline", medline.read_medline, medline.SUFFIXES,
               "XML with a <PubmedArticleSet>, or text that begins with PMID-",
               "PubMed citations: MEDLINE baseline, updates, downloads (also .nbib)"),
        Reader("ctgov", ctgov.read_ctgov, ctgov.SUFFIXES,
               "JSON with protocolSection, or XML with a <clinical_study>",
               "ClinicalTrials.gov studies, API version 2 or the older XML"),
        Reader("fhir", fhir.read_fhir, fhir.SUFFIXES,
               "JSON with resourceType, or XML in the namespace of FHIR",
               "FHIR bundles, resources and bulk exports"),
        Reader("spl", spl.read_spl, spl.SUFFIXES,
               "XML with a <document> of HL7 version 3",
               "drug labels, Structured Product Labeling"),
        Reader("transcript", transcript.read_transcript, transcript.SUFFIXES,
               "JSON with turns or segments, or WEBVTT",
               "interviews: dialogues, segments, WebVTT"),
        Reader("table", tabular.read_tabular, tabular.SUFFIXES,
               "names that end in .csv, .tsv or .parquet",
               "tables with a document per row"),
        Reader("html", pages.read_pages, pages.SUFFIXES,
               "HTML",
               "web pages: their main part, headings and tables"),
        Reader("pdf", pdf.read_pdf, pdf.SUFFIXES,
               "files that begin with %PDF-",
               "PDF with text: headings and pages"),
        Reader("docx", word.read_word, word.SUFFIXES,
               "names that end in .docx or .docm",
               "documents of Word"),
        Reader("archive", archives.read_archive, archives.SUFFIXES,
               "names that end in .zip, .tar, .tgz or .tar.gz",
               "whatever of this is packed together"),
        Reader("text", text.read_text, text.SUFFIXES,
               "names that end in .txt or .md",
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
