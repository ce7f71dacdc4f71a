"""How are ready-made chunks kept as they are, and assembled into a document?

A row with a ``chunk_id`` is a chunk. Rows of one document must be together. Chunks with ``spans``
are placed accordingly, with blanks for the unknown text between them; without spans they follow
each other. Either way a chunk's text is exactly what its spans cover.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from assay import limits
from assay.ingest import fields
from assay.ingest.documents import text_of
from assay.ingest.facts import completed
from assay.ingest.json_rows import Row
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.table_html import sanitised
from assay.ingest.watch import Watch
from assay.model.document import Chunk, Document, MetadataValue, Section, chunk_of
from assay.model.judgments import Span
from assay.model.sections import intent_of, label_of

GIVEN = "given"
GIVEN_VERSION = "given-1"
GAP = "\n\n"
_CODE_POINTS = "utf-32-le"


def chunks_of_sections(document: Document, ids: Sequence[str]) -> tuple[Chunk, ...]:
    """One chunk per section of the document, with the ids of the sections."""
    return tuple(
        chunk_of(
            document,
            section,
            ((section.start, section.end),),
            chunk_id=chunk_id,
            chunker_version=GIVEN_VERSION,
            table_html=section.table_html,
            metadata={**document.metadata, **section.metadata},
        )
        for section, chunk_id in zip(document.sections, ids, strict=True)
    )


def chunk_entries(
    rows: Iterator[tuple[FileLocation, Row]], watch: Watch
) -> Iterator[ParsedDocument]:
    """The documents made of rows of chunks, one per run of rows with the same doc_id."""
    seen: dict[str, FileLocation] = {}
    for doc_id, group in groupby(_owned(rows, watch), key=itemgetter(0)):
        filled: list[tuple[FileLocation, Chunk]] = []
        for _, location, row in group:
            with watch.passing():
                if doc_id in seen:
                    raise location.duplicate_error(
                        f"chunks of {doc_id} are not together: the others begin at {seen[doc_id]}",
                        hint="sort the rows by doc_id",
                    )
                chunk = _chunk(row, location, watch)
                if _is_filled(chunk, location, watch):
                    filled.append((location, chunk))
        if filled:
            seen[doc_id] = filled[0][0]
            with watch.passing():
                yield _entry(doc_id, filled, watch)


def _owned(
    rows: Iterator[tuple[FileLocation, Row]], watch: Watch
) -> Iterator[tuple[str, FileLocation, Row]]:
    """The rows with the document that each belongs to."""
    for location, row in rows:
        with watch.passing():
            yield _owner((location, row)), location, row


def _owner(item: tuple[FileLocation, Row]) -> str:
    location, row = item
    if "chunk_id" not in row:
        raise location.format_error(
            "a whole document among chunks", hint="keep them in files of their own"
        )
    return location.checked_id(row.get("doc_id"))


def _chunk(row: Row, location: FileLocation, watch: Watch) -> Chunk:
    text = text_of(row, location)
    doc_id = location.checked_id(row["doc_id"])
    label = fields.short(row, ("section_label", "section"), location)
    html = fields.string(row, ("table_html",), location)
    is_table = fields.flag(row, "is_table", location) or bool(html)
    return Chunk(
        chunk_id=location.checked_id(row["chunk_id"], "chunk_id"),
        doc_id=doc_id,
        text=text,
        title=fields.title(row, location, watch),
        section_label=label,
        intent_hint=fields.short(row, ("intent_hint",), location)
        or intent_of(label_of(label), text, is_table=is_table),
        is_table=is_table,
        table_html=sanitised(html, location) if html else "",
        spans=_spans(row.get("spans"), len(text), location) if text.strip() else (),
        chunker_version=fields.short(row, ("chunker_version",), location) or GIVEN_VERSION,
        speaker_role=fields.speaker_role(row, location),
        ingestion_mode=fields.ingestion_mode(row, location),
        interview_id=fields.short(row, ("interview_id",), location),
        start_time=fields.seconds(row, ("start_time",), location),
        end_time=fields.seconds(row, ("end_time",), location),
        source=fields.short(row, ("source",), location),
        metadata=completed(fields.metadata(row.get("metadata"), location, watch), doc_id),
    )


def _is_filled(chunk: Chunk, location: FileLocation, watch: Watch) -> bool:
    if not chunk.text.strip():
        watch.empty(f"the chunk {chunk.chunk_id}", location)
    return bool(chunk.text.strip())


def _spans(value: object, length: int, location: FileLocation) -> tuple[Span, ...]:
    if value is None or value == []:
        return ()
    if not isinstance(value, list):
        raise location.format_error("spans is a list of [start, end]")
    spans = tuple(_span(item, location) for item in value)
    covered = sum(end - start for start, end in spans)
    if covered != length:
        raise location.format_error(
            f"the spans cover {covered:,} characters, and the text has {length:,}",
            hint="spans count characters of the document; leave them out if they do not fit",
        )
    return spans


def _span(item: object, location: FileLocation) -> Span:
    match item:
        case [int(start), int(end)] if 0 <= start < end <= limits.MAX_DOCUMENT_CHARS:
            return (start, end)
    raise location.format_error(
        f"{item!r:.60} is not a span", hint="[start, end], with 0 <= start < end"
    )


def _entry(doc_id: str, given: list[tuple[FileLocation, Chunk]], watch: Watch) -> ParsedDocument:
    location = given[0][0]
    distinct = _distinct(given, watch)
    spanned = [chunk for _, chunk in distinct if chunk.spans]
    if spanned and len(spanned) < len(distinct):
        raise location.format_error(f"{doc_id}: some chunks have spans and some do not")
    text, chunks = _laid_out(distinct) if spanned else _in_order(distinct, location)
    first = chunks[0]
    document = Document(
        doc_id=doc_id,
        text=text,
        title=first.title,
        sections=_sections(chunks),
        source=first.source,
        profile=GIVEN,
        interview_id=first.interview_id,
        ingestion_mode=first.ingestion_mode,
        metadata=_shared(chunks),
    )
    return ParsedDocument(document, location, chunks)


def _shared(chunks: tuple[Chunk, ...]) -> dict[str, MetadataValue]:
    """What the metadata of all chunks agree on is that of their document."""
    return {
        key: value
        for key, value in chunks[0].metadata.items()
        if all(chunk.metadata.get(key) == value for chunk in chunks)
    }


def _distinct(
    given: list[tuple[FileLocation, Chunk]], watch: Watch
) -> list[tuple[FileLocation, Chunk]]:
    seen: dict[str, tuple[FileLocation, Chunk]] = {}
    for location, chunk in given:
        earlier = seen.setdefault(chunk.chunk_id, (location, chunk))
        if earlier[0] is location:
            continue
        if earlier[1] != chunk:
            raise location.duplicate_error(
                f"the chunk {chunk.chunk_id} has other content at {earlier[0]}"
            )
        watch.note(
            f"{location}: chunk {chunk.chunk_id} again, the same as at {earlier[0]}: skipped"
        )
    return list(seen.values())


def _in_order(
    given: list[tuple[FileLocation, Chunk]], location: FileLocation
) -> tuple[str, tuple[Chunk, ...]]:
    chunks, pieces, at = [], [], 0
    for _, chunk in given:
        chunks.append(replace(chunk, spans=((at, at + len(chunk.text)),)))
        pieces.append(chunk.text)
        at += len(chunk.text) + len(GAP)
        if at > limits.MAX_DOCUMENT_CHARS:
            raise location.limit_error(f"more than {limits.MAX_DOCUMENT_CHARS:,} characters")
    return GAP.join(pieces), tuple(chunks)


def _laid_out(given: list[tuple[FileLocation, Chunk]]) -> tuple[str, tuple[Chunk, ...]]:
    """Every chunk's text at its spans, as code points; 0 where the text is unknown."""
    canvas = np.zeros(max(end for _, chunk in given for _, end in chunk.spans), dtype=np.uint32)
    for location, chunk in given:
        letters = np.frombuffer(chunk.text.encode(_CODE_POINTS), dtype=np.uint32)
        at = 0
        for start, end in chunk.spans:
            new, old = letters[at : at + end - start], canvas[start:end]
            if bool(((old != 0) & (old != new)).any()):
                raise location.format_error(
                    f"the chunk {chunk.chunk_id} and its neighbours differ where they overlap",
                    hint="spans count characters of the document, from 0",
                )
            canvas[start:end] = new
            at += end - start
    canvas[canvas == 0] = ord(" ")
    return canvas.tobytes().decode(_CODE_POINTS), tuple(chunk for _, chunk in given)


def _sections(chunks: tuple[Chunk, ...]) -> tuple[Section, ...]:
    """One section per chunk, in order; an overlapping section ends where the next begins."""
    sections: list[Section] = []
    for chunk in sorted(chunks, key=lambda chunk: chunk.spans[0]):
        start, end = chunk.spans[0][0], chunk.spans[-1][1]
        start = max(start, sections[-1].end) if sections else start
        if start < end:
            sections.append(Section(
                start, end, chunk.section_label, "", chunk.intent_hint, chunk.is_table,
                chunk.table_html, chunk.speaker_role, chunk.start_time, chunk.end_time,
            ))  # fmt: skip
    return tuple(sections)
