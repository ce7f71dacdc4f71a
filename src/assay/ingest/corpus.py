"""What documents and chunks does the corpus at this path hold?"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from assay import limits
from assay.ingest import fields
from assay.ingest.chunker import chunk_document
from assay.ingest.folders import NAMED_BY_FILE
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.plan import named, plan
from assay.ingest.profiles import Profile, profile_named
from assay.ingest.readers import reader_named
from assay.ingest.watch import Columns, Report, Watch
from assay.model.document import Chunk, Document

Pair: TypeAlias = tuple[Document, tuple[Chunk, ...]]


def read_corpus(
    path: str | os.PathLike[str],
    format: str = "auto",  # noqa: A002 - the word that users know
    profile: str | Profile = "auto",
    progress: Report | None = None,
    *,
    skip_empty: bool = False,
    keep_going: bool = False,
    strict: bool = False,
    columns: Columns | None = None,
) -> Iterator[Pair]:
    """Each document of the corpus with its chunks, one after the other.

    ``format`` names a reader (``READERS``), ``profile`` a way of chunking (``PROFILES``); ``auto``
    decides by content, part by part if a folder holds several formats. Naming a profile also
    re-chunks documents whose chunks came ready-made. ``progress`` is called after every document
    and with every note. A document or ready-made chunk without text is an error or, with
    ``skip_empty``, skipped with a note. With ``keep_going``, a file or row that cannot be read is
    reported as a problem, and the others are read. With ``strict``, a file that would be left out
    is an error. ``columns`` names the fields of rows that hold id, text and title.
    """
    chosen = profile_named(profile) if isinstance(profile, str) and profile != "auto" else profile
    entries = read_documents(
        path,
        format,
        progress,
        skip_empty=skip_empty,
        keep_going=keep_going,
        strict=strict,
        columns=columns,
    )
    for entry in entries:
        document = entry.document
        if isinstance(chosen, Profile):
            yield document, chunk_document(document, chosen)
        elif entry.chunks:
            yield document, entry.chunks
        else:
            yield document, chunk_document(document, profile_named(document.profile))


def read_documents(
    path: str | os.PathLike[str],
    format: str = "auto",  # noqa: A002 - the word that users know
    progress: Report | None = None,
    *,
    skip_empty: bool = False,
    keep_going: bool = False,
    strict: bool = False,
    columns: Columns | None = None,
) -> Iterator[ParsedDocument]:
    """Each document of the corpus as parsed, checked and without duplicates.

    A title stands in for a missing text.
    """
    watch = Watch(
        progress,
        Path(path),
        skip_empty=skip_empty,
        keep_going=keep_going,
        strict=strict,
        columns=columns,
    )
    place = Path(path)
    parts = plan(place, watch) if format == "auto" else named(place, format, watch)
    seen: dict[str, tuple[bytes, FileLocation]] = {}
    segments: dict[str, FileLocation] = {}
    for part in parts:
        for given in reader_named(part.format).read(part.path, watch):
            with watch.passing():
                entry = _with_text(given, watch)
                if not entry.document.text.strip():
                    watch.empty(f"the document {entry.document.doc_id}", entry.location)
                    continue
                _check_size(entry)
                entry = _bounded(entry, watch)
                if not _again(entry, seen, watch):
                    _check_chunk_ids(entry, segments)
                    watch.document(entry.document.doc_id)
                    yield entry
    watch.ended()


def _with_text(entry: ParsedDocument, watch: Watch) -> ParsedDocument:
    """The document; one that has a title only has it as its text, too."""
    document = entry.document
    if document.text.strip() or not document.title:
        return entry
    watch.note_once(
        f"{entry.location.file}: documents with a title and no text use the title as their text"
    )
    sections = tuple(replace(one, start=0, end=len(document.title)) for one in document.sections)
    text = replace(document, text=document.title, sections=sections[:1])
    return replace(entry, document=text, chunks=())


def _check_size(entry: ParsedDocument) -> None:
    name, most = entry.document.doc_id, limits.MAX_DOCUMENT_CHARS
    if len(entry.document.text) > most:
        raise entry.location.limit_error(
            f"the document {name} has more than {most:,} characters", hint="split it"
        )


def _bounded(entry: ParsedDocument, watch: Watch) -> ParsedDocument:
    """Shorten title and metadata, which are stored with every chunk, with a note."""
    known = entry.document.metadata
    kept = fields.within_limits(known, entry.location, watch.note)
    title = fields.cut_title(entry.document.title, entry.location, watch)
    if kept == known and title == entry.document.title:
        return entry
    return replace(entry, document=replace(entry.document, title=title, metadata=kept))


def _again(
    entry: ParsedDocument, seen: dict[str, tuple[bytes, FileLocation]], watch: Watch
) -> bool:
    """Was this document read before? A repetition is noted; other content is an error.

    It is none where a later document revises an earlier one.
    """
    document = entry.document
    about = json.dumps(document.metadata, sort_keys=True, default=str)
    content = f"{document.title}\0{document.text}\0{about}"
    digest = blake2b(content.encode(), digest_size=16).digest()
    earlier, location = seen.setdefault(document.doc_id, (digest, entry.location))
    if location is entry.location:
        return False
    if entry.revises:
        seen[document.doc_id] = (digest, entry.location)
        return False
    if earlier != digest:
        raise entry.location.duplicate_error(
            f"the document {document.doc_id} has another title, text or metadata at {location}",
            hint="an id must name one document: rename one of the files"
            if document.source in NAMED_BY_FILE
            else "an id must name one document: is another field the id?",
        )
    watch.note(
        f"{entry.location}: document {document.doc_id} again, the same as at {location}: skipped"
    )
    return True


def _check_chunk_ids(entry: ParsedDocument, seen: dict[str, FileLocation]) -> None:
    """Ids of ready-made chunks must be unique across documents."""
    for chunk in entry.chunks:
        location = seen.setdefault(chunk.chunk_id, entry.location)
        if location is not entry.location:
            raise entry.location.duplicate_error(
                f"the chunk {chunk.chunk_id} is in another document, at {location}"
            )
