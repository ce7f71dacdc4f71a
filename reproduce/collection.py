"""Which documents are the questions of our own asked over?

Drug labels and articles on randomised trials as our readers make them, and a choice of NLI4CT's
trials, each one document with its four sections. A trial of that collection has no title; its
registry number and the names of its arms take that place.

A file of questions may choose more: ``topics`` of MedQuAD (``NIDDK: Acromegaly``), each one
document with a section for every question, ``abstracts`` of NFCorpus and SciFact, whole ``papers``
of CovidQA, and ``cases``, files of ``../cases/search``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.ingest import read_corpus
from assay.ingest.chunker import chunk_document
from assay.ingest.compose import Composer
from assay.ingest.parsed import FileLocation
from assay.ingest.profiles import profile_named
from assay.model.document import Chunk, Document
from assay.model.sections import label_of
from reproduce.data import existing, json_lines

Documents = Iterator[tuple[Document, tuple[Chunk, ...]]]

LABELS, ARTICLES, TRIALS = "spl_labels/original", "rct_tables/jats_ccby_ae", "nli4ct"
CHOICES = ("trials", "topics", "abstracts", "papers", "cases")
_ARM = re.compile(r"^INTERVENTION \d+:[ ]*\n[ ]*(.+)", re.MULTILINE)
_NOT_OF_A_KEY = re.compile(r"[^a-z0-9]+")
_PROFILE = "registry"


def parts(data: Path) -> list[Path]:
    """The folders that the collection is made of."""
    return [data / LABELS, data / ARTICLES, data / TRIALS]


def documents(data: Path, chosen: Mapping[str, set[str]]) -> Documents:
    """Every label and article, and what is chosen of the other collections."""
    yield from read_corpus(data / LABELS, "spl")
    yield from read_corpus(data / ARTICLES, "jats")
    yield from trial_documents(data / TRIALS, chosen["trials"])
    yield from topic_documents(data / "medquad", chosen["topics"])
    for name in ("nfcorpus", "scifact"):
        yield from abstract_documents(data / name, chosen["abstracts"])
    yield from paper_documents(data / "covidqa", chosen["papers"])
    for name in sorted(chosen["cases"]):
        yield from read_corpus(data.parent / "cases" / "search" / name)


def topic_documents(folder: Path, chosen: set[str]) -> Documents:
    """Each of these topics of MedQuAD, ``source: focus``, as one document."""
    sections: dict[str, list[tuple[str, str, str]]] = {}
    if chosen:
        for row in json_lines(existing(folder / "pairs.jsonl")):
            if (topic := f"{row['source']}: {row['focus']}") in chosen:
                section = row["question"].removesuffix(" ?"), row["type"], row["answer"]
                sections.setdefault(topic, []).append(section)
    for topic, answers in sorted(sections.items()):
        key = _NOT_OF_A_KEY.sub("-", topic.lower()).strip("-")
        composer = Composer(FileLocation(key))
        for question, kind, answer in answers:
            with composer.under(f"{question}?"):
                composer.add(answer, label_of(kind))
        text, profile = composer.text, profile_named("text")
        title = topic.partition(": ")[2]
        document = Document(key, text, title=title, sections=composer.sections, profile="text")
        yield document, chunk_document(document, profile)


def abstract_documents(folder: Path, chosen: set[str]) -> Documents:
    """Each of these abstracts as one document."""
    if chosen:
        for row in json_lines(existing(folder / "corpus.jsonl")):
            if row["_id"] in chosen:
                document = Document(row["_id"], row["text"], title=row["title"], profile="citation")
                yield document, chunk_document(document, profile_named("citation"))


def paper_documents(folder: Path, chosen: set[str]) -> Documents:
    """Each of these papers of CovidQA, put together of its passages."""
    texts: dict[str, list[str]] = {}
    titles = {}
    if chosen:
        for row in json_lines(existing(folder / "corpus.jsonl")):
            if (paper := row["metadata"]["doc"]) in chosen:
                titles[paper] = row["title"]
                texts.setdefault(paper, []).append(row["text"])
    for paper, passages in sorted(texts.items()):
        document = Document(paper, "\n\n".join(passages), title=titles[paper], profile="text")
        yield document, chunk_document(document, profile_named("text"))


def trial_documents(folder: Path, chosen: set[str]) -> Documents:
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
