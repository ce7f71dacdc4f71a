"""Which documents, chunks and sections are there? Answers that read no text but its beginning."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, func, or_, select

from assay.errors import DuplicateError
from assay.model.document import ChunkPlace, DocumentRow, IngestionMode, Label
from assay.store.database import paged
from assay.store.schema import PRESENT, chunks, documents

PAGE = 500
LABEL_TEXT = 300  # characters of a text that its label has


class ChunkInventory:
    """Facts about the chunks of a store, without their text."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def by_key(self, keys: Sequence[int]) -> dict[int, ChunkPlace]:
        """Document, spans and chunker of the chunks with these keys, including removed ones."""
        wanted = select(chunks.c.key, chunks.c.doc_id, chunks.c.spans, chunks.c.chunker_version)
        return {
            row.key: ChunkPlace(
                row.doc_id,
                tuple((start, end) for start, end in json.loads(row.spans)),
                row.chunker_version,
            )
            for part in _pages(keys)
            for row in self._rows(wanted.where(chunks.c.key.in_(part)))
        }

    def as_cut(self, ids: Iterable[str], versions: frozenset[str]) -> dict[str, ChunkPlace]:
        """The spans of chunks as these chunkers made them, including chunks replaced since."""
        columns = (chunks.c.chunk_id, chunks.c.doc_id, chunks.c.spans)
        of_these = chunks.c.chunker_version.in_(sorted(versions))
        return {
            row.chunk_id: ChunkPlace(
                row.doc_id, tuple((start, end) for start, end in json.loads(row.spans))
            )
            for part in _pages(sorted(set(ids)))
            for row in self._rows(
                select(*columns).where(chunks.c.chunk_id.in_(part), of_these).order_by(chunks.c.key)
            )
        }

    def ingestion_modes(self, ids: Collection[str]) -> dict[str, IngestionMode]:
        """How each current chunk or document with these ids was ingested."""
        found: dict[str, IngestionMode] = {}
        for part in _pages(sorted(ids)):
            wanted = select(chunks.c.chunk_id, chunks.c.doc_id, chunks.c.ingestion_mode)
            for row in self._rows(wanted.where(_named(part))):
                for name in (row.chunk_id, row.doc_id):
                    if name in ids:
                        found[name] = IngestionMode(row.ingestion_mode)
        return found

    def present(self, ids: Collection[str]) -> frozenset[str]:
        """Those of the ids that name a current chunk or document."""
        names = {
            name
            for part in _pages(sorted(ids))
            for row in self._rows(select(chunks.c.chunk_id, chunks.c.doc_id).where(_named(part)))
            for name in row
        }
        return frozenset(names & set(ids))

    def labels(self, ids: Iterable[str]) -> dict[str, Label]:
        """What to show for each of these ids: chunks as they were last, documents by their first.

        An id that was never here has no label.
        """
        beginning = func.substr(chunks.c.text, 1, LABEL_TEXT).label("beginning")
        wanted = select(
            chunks.c.chunk_id, chunks.c.doc_id, chunks.c.title, beginning,
            chunks.c.section_label, chunks.c.is_table,
        ).order_by(chunks.c.key)  # fmt: skip
        found: dict[str, Label] = {}
        for part in _pages(sorted(set(ids))):
            for row in self._rows(wanted.where(chunks.c.chunk_id.in_(part))):
                found[row.chunk_id] = _label(row)
            others = [name for name in part if name not in found]
            current = wanted.where(chunks.c.doc_id.in_(others), PRESENT)
            for row in self._rows(current) if others else ():
                found.setdefault(row.doc_id, _label(row))
        return found

    def chunker_versions(self) -> tuple[str, ...]:
        """Every chunker that made a current chunk."""
        wanted = select(chunks.c.chunker_version).where(PRESENT).distinct()
        return tuple(sorted(row.chunker_version for row in self._rows(wanted)))

    def sections(self) -> tuple[str, ...]:
        """Every section that a current chunk belongs to."""
        wanted = select(chunks.c.section_label).where(PRESENT).distinct()
        return tuple(sorted(row.section_label for row in self._rows(wanted) if row.section_label))

    def count(self, text: str) -> int:
        """How many documents have these words in their id or title."""
        return int(
            self._rows(select(func.count(documents.c.doc_id).label("n")).where(*_about(text)))[0].n
        )

    def documents(self, *, limit: int, offset: int = 0, text: str = "") -> tuple[DocumentRow, ...]:
        """A page of the documents in the order of their ids; ``text`` as in ``count``."""
        columns = (documents.c.doc_id, documents.c.title, documents.c.source)
        wanted = select(*columns).where(*_about(text)).order_by(documents.c.doc_id)
        page = self._rows(paged(wanted, limit, offset))
        sizes = {
            row.doc_id: row.size
            for part in _pages([row.doc_id for row in page])
            for row in self._rows(
                select(chunks.c.doc_id, func.count().label("size"))
                .where(chunks.c.doc_id.in_(part), PRESENT)
                .group_by(chunks.c.doc_id)
            )
        }
        return tuple(
            DocumentRow(row.doc_id, row.title, row.source, sizes.get(row.doc_id, 0)) for row in page
        )

    def _rows(self, wanted: Select[Any]) -> list[Row[Any]]:
        with self._engine.connect() as connection:
            return list(connection.execute(wanted))


def _about(text: str) -> list[Any]:
    """That each word of a text stands in the id or the title of a document."""
    return [
        or_(
            documents.c.doc_id.icontains(word, autoescape=True),
            documents.c.title.icontains(word, autoescape=True),
        )
        for word in text.split()
    ]


def _label(row: Row[Any]) -> Label:
    text = " ".join(row.beginning.split())
    return Label(row.doc_id, row.title, text, row.section_label, bool(row.is_table))


def _named(ids: Sequence[str]) -> Any:
    return PRESENT & or_(chunks.c.chunk_id.in_(ids), chunks.c.doc_id.in_(ids))


def _pages(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), PAGE):
        yield values[start : start + PAGE]


def refuse_foreign(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error for a chunk id that is used twice, here or by another stored document."""
    owners: dict[str, str] = {}
    for row in rows:
        if row["chunk_id"] in owners:
            raise _taken(row["chunk_id"], owners[row["chunk_id"]])
        owners[row["chunk_id"]] = row["doc_id"]
    for part in _pages(list(owners)):
        found = connection.execute(
            select(chunks.c.chunk_id, chunks.c.doc_id)
            .where(chunks.c.chunk_id.in_(part), PRESENT)
            .order_by(chunks.c.chunk_id)
            .limit(1)
        ).first()
        if found is not None:
            raise _taken(found.chunk_id, found.doc_id)


def _taken(chunk_id: str, doc_id: str) -> DuplicateError:
    return DuplicateError(
        f"the chunk {chunk_id:.200} belongs to the document {doc_id:.200}",
        hint="give chunks ids that differ across documents, such as DOCUMENT:1",
    )
