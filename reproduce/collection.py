"""Which documents are the questions of our own asked over?

Drug labels and articles on randomised trials as our readers make them, and a choice of NLI4CT's
trials, each one document with its four sections. A trial of that collection has no title; its
registry number and the names of its arms take that place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from assay.ingest import read_corpus
from assay.ingest.chunker import chunk_document
from assay.ingest.compose import Composer
from assay.ingest.parsed import FileLocation
from assay.ingest.profiles import profile_named
from assay.model.document import Chunk, Document
from assay.model.sections import label_of
from reproduce.data import existing, json_lines

LABELS, ARTICLES, TRIALS = "spl_labels/original", "rct_tables/jats_ccby_ae", "nli4ct"
_ARM = re.compile(r"^INTERVENTION \d+:[ ]*\n[ ]*(.+)", re.MULTILINE)
_PROFILE = "registry"


def parts(data: Path) -> list[Path]:
    """The folders that the collection is made of."""
    return [data / LABELS, data / ARTICLES, data / TRIALS]


def documents(data: Path, trials: set[str]) -> Iterator[tuple[Document, tuple[Chunk, ...]]]:
    """Every label and article, and these trials."""
    yield from read_corpus(data / LABELS, "spl")
    yield from read_corpus(data / ARTICLES, "jats")
    yield from trial_documents(data / TRIALS, trials)


def trial_documents(folder: Path, chosen: set[str]) -> Iterator[tuple[Document, tuple[Chunk, ...]]]:
    """Each of these trials of NLI4CT as one document."""
    sections: dict[str, dict[str, str]] = {}
    for row in json_lines(existing(folder / "corpus.jsonl")):
        trial, section = row["metadata"]["nct"], row["metadata"]["section"]
        if trial in chosen and row["text"].strip():
            sections.setdefault(trial, {})[section] = row["text"]
    for trial, texts in sorted(sections.items()):
        composer = Composer(FileLocation(trial))
        for section, text in texts.items():
            with composer.under(section):
                composer.add(text, label_of(section))
        arms = dict.fromkeys(arm.strip() for arm in _ARM.findall(texts.get("Intervention", "")))
        document = Document(
            trial,
            composer.text,
            title=f"{trial}: {'; '.join(arms)}",
            sections=composer.sections,
            source="ctgov",
            profile=_PROFILE,
        )
        yield document, chunk_document(document, profile_named(_PROFILE))
