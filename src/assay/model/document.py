"""What is a document, and what is a chunk of it?

A chunk is the unit that is indexed, ranked and cited. Its ``spans`` are character offsets into its
document's text, ``[start, end)``, and its text is exactly what stands there.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from assay.errors import InputError
from assay.model.judgments import Span

MetadataScalar: TypeAlias = str | int | float | bool
MetadataValue: TypeAlias = MetadataScalar | tuple[MetadataScalar, ...]
"""A value in the metadata of a document or chunk: text, a number, true or false, or a list."""

BELOW = " > "  # between the headings of a section, from the top: Methods > Design
ID_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:#-]{0,127}")
DOC_ID_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:#/()<>\[\];+-]{0,127}")
"""Ids of documents and chunks, which their owners gave: a DOI has more signs than our own ids."""
_MADE_ID = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|[0-9a-f]{64}", re.IGNORECASE)
_CLIMBS = re.compile(r"/\.{1,2}(?:/|$)")


class SpeakerRole(StrEnum):
    """Who speaks in a transcript."""

    PATIENT = "PATIENT"
    CLINICIAN = "CLINICIAN"
    UNKNOWN = "UNKNOWN"


class IngestionMode(StrEnum):
    """Did the text come from a file, or while an interview was going on?"""

    OFFLINE = "OFFLINE"
    LIVE = "LIVE"


@dataclass(frozen=True, slots=True)
class Section:
    """A labelled stretch of a document: a section, a table, or one speaker's turn.

    ``label`` comes from a closed vocabulary (``model/sections.py``); ``heading`` is the
    author's own words. A table's readable text stands in the document; ``table_html`` is its
    sanitised markup. ``metadata`` goes into that of the section's chunks.
    """

    start: int
    end: int
    label: str = ""
    heading: str = ""
    intent_hint: str = ""
    is_table: bool = False
    table_html: str = ""
    speaker_role: SpeakerRole = SpeakerRole.UNKNOWN
    start_time: float | None = None
    end_time: float | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """One document: its whole text, and the sections that cover it in order."""

    doc_id: str
    text: str
    title: str = ""
    sections: tuple[Section, ...] = ()
    source: str = ""
    profile: str = ""
    interview_id: str = ""
    ingestion_mode: IngestionMode = IngestionMode.OFFLINE
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One unit of search; see the module's docstring."""

    chunk_id: str
    doc_id: str
    text: str
    title: str = ""
    section_label: str = ""
    intent_hint: str = ""
    is_table: bool = False
    table_html: str = ""
    spans: tuple[Span, ...] = ()
    chunker_version: str = ""
    speaker_role: SpeakerRole = SpeakerRole.UNKNOWN
    ingestion_mode: IngestionMode = IngestionMode.OFFLINE
    interview_id: str = ""
    start_time: float | None = None
    end_time: float | None = None
    source: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)

    @property
    def page(self) -> str | None:
        """The page or pages of a paginated document that it stands on."""
        found = self.metadata.get("page")
        return None if found is None else str(found)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the store has it, with its chunks in order; ``seq`` numbers its last change."""

    doc_id: str
    digest: str
    title: str
    text: str
    source: str
    profile: str
    chunker_version: str
    seq: int
    sections: tuple[Section, ...] = ()
    interview_id: str = ""
    ingestion_mode: IngestionMode = IngestionMode.OFFLINE
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document in a list, with the number of its chunks."""

    doc_id: str
    title: str
    source: str
    chunks: int


@dataclass(frozen=True, slots=True)
class Label:
    """What people read instead of the id of a document or chunk: its title and how it begins.

    ``text`` is empty for a chunk that has been replaced since.
    """

    doc_id: str
    title: str
    text: str
    section_label: str = ""
    is_table: bool = False


class ChunkLabels(NamedTuple):
    """What a chunk is about, without its text; ``names`` are its document's (``names.py``).

    A tuple, since a search makes hundreds.
    """

    section_label: str
    intent_hint: str
    is_table: bool
    names: str = ""


@dataclass(frozen=True, slots=True)
class KeyedChunk:
    """A chunk under the number by which indexes know it; a key is never used for another chunk."""

    key: int
    chunk: Chunk


LoggedChange: TypeAlias = tuple[int, str, str, str | None]
"""A change of the store: its number, the document, what was done, and the digest of the text."""


class ChunkPlace(NamedTuple):
    """Where a chunk stands: its document, its characters there, and by which chunker.

    Empty where it is not known. A tuple, since there are many.
    """

    doc_id: str
    spans: tuple[Span, ...] = ()
    chunker_version: str = ""


def check_id(value: object, what: str = "id") -> str:
    """The id, if it is one; ids never become file names, but they do end up in URLs and reports."""
    if not isinstance(value, str) or not ID_FORM.fullmatch(value):
        raise InputError(
            f"the {what} {value!r:.80} is not allowed",
            hint="up to 128 letters, digits or . _ : # - and a letter or digit first",
        )
    return value


def check_doc_id(value: object, what: str = "doc_id") -> str:
    """The id of a document or chunk, if it is one."""
    if not isinstance(value, str) or not DOC_ID_FORM.fullmatch(value) or _CLIMBS.search(value):
        raise InputError(
            f"the {what} {value!r:.80} is not allowed",
            hint="up to 128 letters, digits and signs as in a DOI, a letter or digit first",
        )
    return value


OTHER_IDS = (
    *("pmid", "pmcid", "nct_id", "nct_number", "docno", "docid", "document_id", "node_id"),
    *("cord_uid", "pubmed_id", "pmc_id", "paper_id", "article_id", "passage_id", "note_id"),
    *("report_id", "uid", "uuid", "key", "doi"),
)
"""What other people call the id of a document, in the order of preference."""


def is_made_id(value: object) -> bool:
    """Is it a UUID or a hash, as LangChain, LlamaIndex, Haystack and qdrant make them?"""
    made = isinstance(value, str) and _MADE_ID.fullmatch(value) is not None
    return made or isinstance(value, uuid.UUID)


def chunk_of(
    document: Document,
    section: Section,
    spans: tuple[Span, ...],
    *,
    chunk_id: str,
    chunker_version: str,
    table_html: str,
    metadata: Mapping[str, MetadataValue],
) -> Chunk:
    """The chunk that these spans of a section make up."""
    return Chunk(
        chunk_id=chunk_id,
        doc_id=document.doc_id,
        text="".join(document.text[start:end] for start, end in spans),
        title=document.title,
        section_label=section.label,
        intent_hint=section.intent_hint,
        is_table=section.is_table,
        table_html=table_html,
        spans=spans,
        chunker_version=chunker_version,
        speaker_role=section.speaker_role,
        ingestion_mode=document.ingestion_mode,
        interview_id=document.interview_id,
        start_time=section.start_time,
        end_time=section.end_time,
        source=document.source,
        metadata=metadata,
    )
