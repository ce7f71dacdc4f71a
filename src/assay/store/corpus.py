"""Which documents and chunks are stored, and what changed since a given change?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    and_,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.engine.interfaces import DBAPICursor

from assay.errors import InputError
from assay.model.codec import decode
from assay.model.document import (
    Chunk,
    ChunkLabels,
    Document,
    IngestionMode,
    KeyedChunk,
    LoggedChange,
    MetadataValue,
    Section,
    SpeakerRole,
    StoredDocument,
)
from assay.model.names import names_of
from assay.store.database import BUSY_SECONDS, open_database, shown, writing
from assay.store.database_errors import translated_error
from assay.store.inventory import ChunkInventory, refuse_foreign
from assay.store.schema import PRESENT, changes, chunks, documents
from assay.store.seals import UNREADABLE, damaged, seal
from assay.store.upsert import insert_or_replace

PAGE = 2_000
PART = 500  # keys in one statement
MARKED = 50  # chunks, and changes, that tell this store from another with as many changes
SEAL = "crc"
_SEALED = ("doc_id", "digest", "title", "text", "source", "profile", "chunker_version", "seq")
# listed explicitly: a field added later must not make older documents look damaged
_SEALED_OF_CHUNK = (
    *("chunk_id", "doc_id", "text", "title", "section_label", "intent_hint", "is_table"),
    *("table_html", "spans", "chunker_version", "speaker_role", "ingestion_mode", "interview_id"),
    *("start_time", "end_time", "source", "metadata", "added"),
)
_LABELS = (
    *(chunks.c.key, chunks.c.section_label, chunks.c.intent_hint, chunks.c.is_table),
    *(chunks.c.doc_id, chunks.c.title, chunks.c.metadata),
)


@dataclass(frozen=True, slots=True)
class Written:
    """The effect of a batch: documents new, replaced, unchanged or deleted; chunks written."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    deleted: int = 0
    chunks: int = 0

    def __add__(self, other: Written) -> Written:
        return Written(*map(sum, zip(_COUNTS(self), _COUNTS(other), strict=True)))


_COUNTS = attrgetter(*(field.name for field in fields(Written)))


class CorpusStore:
    """Documents and chunks of one workspace. When a method returns, its changes are on disk."""

    def __init__(self, place: Path | str) -> None:
        self._engine = open_database(place)

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    @property
    def inventory(self) -> ChunkInventory:
        """Which chunks and documents there are, without their text."""
        return ChunkInventory(self._engine)

    def put(self, batch: Sequence[tuple[Document, Sequence[Chunk]]]) -> Written:
        """Store documents with their chunks in one transaction; unchanged ones are skipped."""
        with writing(self._engine) as connection:
            known = _digests(connection, [document.doc_id for document, _ in batch])
            plan = _Plan(known, _last(connection))
            for document, parts in batch:
                plan.add(document, parts)
            plan.carry_out(connection)
        return plan.written

    def delete(self, doc_ids: Iterable[str]) -> Written:
        """Remove documents and their chunks in one transaction; unknown ids are ignored."""
        total = Written()
        with writing(self._engine) as connection:
            for doc_id in doc_ids:
                gone = connection.execute(documents.delete().where(documents.c.doc_id == doc_id))
                if gone.rowcount:
                    seq = _last(connection) + 1
                    connection.execute(insert(changes), _change(seq, doc_id, "delete"))
                    removed = _archive(connection, {doc_id: seq})
                    total += Written(deleted=1, chunks=removed)
        return total

    def last_change(self) -> int:
        """The number of the newest change; 0 if nothing was ever written."""
        with self._engine.connect() as connection:
            return _last(connection)

    def mark(self, seq: int) -> str:
        """A digest of the newest chunks at change ``seq``, which never changes later."""
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(chunks.c.key, chunks.c.chunk_id, chunks.c.added, chunks.c.spans)
                .where(chunks.c.added <= seq)
                .order_by(chunks.c.key.desc())
                .limit(MARKED)
            )
            facts = [tuple(row) for row in rows]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]

    def newest(self, seq: int) -> list[LoggedChange]:
        """The last changes up to ``seq``; a document that was changed since has no digest."""
        same = and_(documents.c.doc_id == changes.c.doc_id, documents.c.seq == changes.c.seq)
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(changes.c.seq, changes.c.doc_id, changes.c.kind, documents.c.digest)
                .select_from(changes.outerjoin(documents, same))
                .where(changes.c.seq <= seq)
                .order_by(changes.c.seq.desc())
                .limit(MARKED)
            )
            return [
                (number, doc_id, kind, text and text[:16]) for number, doc_id, kind, text in rows
            ]

    def added_since(self, seq: int, until: int) -> Iterator[list[KeyedChunk]]:
        """Chunks added after change ``seq``, up to ``until``, that still exist; in pages."""
        key = 0
        while True:
            with self._engine.connect() as connection:
                rows = connection.execute(
                    select(chunks)
                    .where(*_added(seq, until), chunks.c.key > key)
                    .order_by(chunks.c.key)
                    .limit(PAGE)
                ).all()
            if not rows:
                return
            key = rows[-1].key
            yield [KeyedChunk(row.key, _chunk(row)) for row in rows]

    def count_since(self, seq: int, until: int) -> int:
        """How many chunks were added after change ``seq``, up to ``until``, and still exist."""
        with self._engine.connect() as connection:
            found = select(func.count()).select_from(chunks).where(*_added(seq, until))
            return int(connection.execute(found).scalar() or 0)

    def change_within(self, seq: int, until: int, many: int) -> int:
        """The last change before which no more chunks than this were added after ``seq``.

        Always one after ``seq``, and ``until`` at most.
        """
        with self._engine.connect() as connection:
            later = connection.execute(
                select(chunks.c.added)
                .where(chunks.c.added > seq, chunks.c.added <= until)
                .order_by(chunks.c.added)
                .offset(many)
                .limit(1)
            ).scalar()
        return until if later is None else max(seq + 1, int(later) - 1)

    def removed_since(self, seq: int, until: int) -> list[int]:
        """Keys of chunks that existed at ``seq`` and are gone at ``until``."""
        with self._engine.connect() as connection:
            found = connection.execute(
                select(chunks.c.key).where(
                    chunks.c.removed > seq, chunks.c.removed <= until, chunks.c.added <= seq
                )
            )
            return [row.key for row in found]

    def chunks_by_key(self, keys: Sequence[int]) -> dict[int, Chunk]:
        """The chunks with these keys, including removed ones (without text)."""
        return {row[0]: _chunk(row) for row in _chunk_rows(self._engine, keys, *chunks.c)}

    def labels_by_key(self, keys: Sequence[int]) -> dict[int, ChunkLabels]:
        """The labels of the chunks with these keys; much faster than reading the chunks."""
        rows = _chunk_rows(self._engine, keys, *_LABELS)
        return {
            key: ChunkLabels(section, hint, bool(table), names_of(doc_id, title, json.loads(more)))
            for key, section, hint, table, doc_id, title, more in rows
        }

    def metadata_by_key(self, keys: Sequence[int]) -> dict[int, dict[str, MetadataValue]]:
        """The metadata of the chunks with these keys."""
        rows = _chunk_rows(self._engine, keys, chunks.c.key, chunks.c.metadata)
        return {key: _metadata(text) for key, text in rows}

    def find(self, name: str) -> list[KeyedChunk]:
        """The current chunks of the document, or the chunk, with this id, in order."""
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(chunks)
                .where((chunks.c.doc_id == name) | (chunks.c.chunk_id == name))
                .where(PRESENT)
                .order_by(chunks.c.key)
            )
            return [KeyedChunk(row.key, _chunk(row)) for row in rows]

    def lacking(self, doc_ids: Iterable[str]) -> list[str]:
        """Those of the ids that name no document, each once."""
        wanted = list(dict.fromkeys(doc_ids))
        with self._engine.connect() as connection:
            known = _digests(connection, wanted)
        return [doc_id for doc_id in wanted if doc_id not in known]

    def sources(self, doc_ids: Iterable[str]) -> dict[str, str]:
        """The formats from which those of these documents were read that are there."""
        with self._engine.connect() as connection:
            return _of_documents(connection, documents.c.source, list(doc_ids))

    def document(self, doc_id: str) -> StoredDocument | None:
        """A document with its present chunks in order; None where it is not there."""
        with self._engine.connect() as connection:
            row = connection.execute(
                select(documents).where(documents.c.doc_id == doc_id)
            ).one_or_none()
            if row is None:
                return None
            parts = connection.execute(
                select(chunks).where(chunks.c.doc_id == doc_id, PRESENT).order_by(chunks.c.key)
            )
            stored = tuple(_chunk(part) for part in parts)
        columns = dict(row._mapping)
        try:
            body = json.loads(columns.pop("body"))
            document = decode(StoredDocument, {**columns, **body})
        except (InputError, *UNREADABLE) as problem:
            raise damaged(f"the document {doc_id}", problem) from None
        return replace(document, chunks=stored)

    def has_id(self, name: str) -> bool:
        """Whether a document or chunk with this id is stored."""
        chunk = select(chunks.c.key).where(chunks.c.chunk_id == name, PRESENT)
        document = select(documents.c.doc_id).where(documents.c.doc_id == name)
        with self._engine.connect() as connection:
            return any(connection.execute(one.limit(1)).first() for one in (chunk, document))

    def history(self, chunk_id: str) -> list[Chunk]:
        """Every version of a chunk that ever existed, newest first; old ones have no text."""
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(chunks).where(chunks.c.chunk_id == chunk_id).order_by(chunks.c.key.desc())
            )
            return [_chunk(row) for row in rows]

    def counts(self) -> dict[str, int]:
        """The number of documents, chunks, and archived chunks."""
        with self._engine.connect() as connection:
            return {
                "documents": connection.execute(
                    select(func.count()).select_from(documents)
                ).scalar_one(),
                "chunks": connection.execute(select(func.count()).where(PRESENT)).scalar_one(),
                "archived_chunks": connection.execute(
                    select(func.count()).where(~PRESENT)
                ).scalar_one(),
            }


class _Plan:
    """What a batch will write, collected so that each table is written once."""

    def __init__(self, known: dict[str, str], last: int) -> None:
        self.written = Written()
        self._known = known
        self._seq = last
        self._replaced: dict[str, int] = {}
        self._changes: list[dict[str, Any]] = []
        self._documents: dict[str, dict[str, Any]] = {}
        self._chunks: dict[str, list[dict[str, Any]]] = {}

    def add(self, document: Document, parts: Sequence[Chunk]) -> None:
        digest = document_digest(document, parts)
        before = self._known.get(document.doc_id)
        if before == digest:
            self.written += Written(unchanged=1)
            return
        self._seq += 1
        if before is not None:
            self._replaced[document.doc_id] = self._seq
        self._known[document.doc_id] = digest
        self._changes.append(_change(self._seq, document.doc_id, "put"))
        rows = [_chunk_row(part, self._seq) for part in parts]
        self._documents[document.doc_id] = _document_row(document, rows, digest, self._seq)
        self._chunks[document.doc_id] = rows
        self.written += Written(
            added=before is None, replaced=before is not None, chunks=len(parts)
        )

    def carry_out(self, connection: Connection) -> None:
        if not self._changes:
            return
        connection.execute(insert(changes), self._changes)
        _archive(connection, self._replaced)
        insert_or_replace(connection, documents, list(self._documents.values()))
        rows = [row for part in self._chunks.values() for row in part]
        if rows:
            refuse_foreign(connection, rows)
            connection.execute(insert(chunks), rows)


_DOCUMENT_FIELDS = attrgetter(
    *(field.name for field in fields(Document) if field.name != "sections")
)
_SECTION_NAMES = tuple(field.name for field in fields(Section))
_SECTION_FIELDS = attrgetter(*_SECTION_NAMES)
_CHUNK_NAMES = tuple(field.name for field in fields(Chunk))
_CHUNK_FIELDS = attrgetter(*_CHUNK_NAMES)
_TABLE, _SPANS, _ROLE, _MODE, _METADATA = map(
    _CHUNK_NAMES.index, ("is_table", "spans", "speaker_role", "ingestion_mode", "metadata")
)
# a row of the table is the key, these fields in order, and two change numbers
assert tuple(column.name for column in chunks.c)[1:-2] == _CHUNK_NAMES


def document_digest(document: Document, parts: Sequence[Chunk]) -> str:
    """A digest of a document's content and its chunks."""
    content = [
        _DOCUMENT_FIELDS(document),
        [_SECTION_FIELDS(section) for section in document.sections],
        [_CHUNK_FIELDS(part) for part in parts],
    ]
    text = json.dumps(content, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()


def _last(connection: Connection) -> int:
    return connection.execute(select(func.max(changes.c.seq))).scalar() or 0


def _added(seq: int, until: int) -> tuple[ColumnElement[bool], ...]:
    """Chunks added after ``seq``, up to ``until``, that still existed then."""
    alive = PRESENT | (chunks.c.removed > until)
    return chunks.c.added > seq, chunks.c.added <= until, alive


def _change(seq: int, doc_id: str, kind: str) -> dict[str, Any]:
    return {"seq": seq, "doc_id": doc_id, "kind": kind}


def _digests(connection: Connection, doc_ids: list[str]) -> dict[str, str]:
    return _of_documents(connection, documents.c.digest, doc_ids)


def _of_documents(
    connection: Connection, column: Column[Any], doc_ids: list[str]
) -> dict[str, str]:
    """What a column has for those of these documents that are there."""
    found: dict[str, str] = {}
    for start in range(0, len(doc_ids), 500):
        part = doc_ids[start : start + 500]
        rows = connection.execute(
            select(documents.c.doc_id, column).where(documents.c.doc_id.in_(part))
        )
        found.update((row[0], row[1]) for row in rows)
    return found


def _archive(connection: Connection, replaced: dict[str, int]) -> int:
    """Mark the chunks of these documents as removed by these changes, and drop their text."""
    count = 0
    for doc_id, seq in replaced.items():
        gone = connection.execute(
            update(chunks)
            .where(chunks.c.doc_id == doc_id, PRESENT)
            .values(removed=seq, text="", table_html="")
        )
        count += gone.rowcount
    return count


def _document_row(
    document: Document, parts: Sequence[Mapping[str, Any]], digest: str, seq: int
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "sections": [_section(one) for one in document.sections],
        "interview_id": document.interview_id,
        "ingestion_mode": document.ingestion_mode.value,
        "metadata": dict(document.metadata),
    }
    row = {
        "doc_id": document.doc_id,
        "digest": digest,
        "title": document.title,
        "text": document.text,
        "source": document.source,
        "profile": document.profile,
        "chunker_version": parts[0]["chunker_version"] if parts else "",
        "seq": seq,
    }
    body[SEAL] = document_seal(row, body, parts)
    return {**row, "body": json.dumps(body, ensure_ascii=False)}


def _section(one: Section) -> dict[str, Any]:
    return {
        **dict(zip(_SECTION_NAMES, _SECTION_FIELDS(one), strict=True)),
        "metadata": {**one.metadata},
    }


def document_seal(
    row: Mapping[str, Any], body: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]
) -> int:
    """The CRC of what is stored of a document and its chunks; see ``check.py``."""
    rest = json.dumps({name: body[name] for name in body if name != SEAL}, sort_keys=True)
    values = [row[name] for name in _SEALED] + [rest]
    return seal([*values, *(part[name] for part in parts for name in _SEALED_OF_CHUNK)])


def _chunk_row(chunk: Chunk, seq: int) -> dict[str, Any]:
    row = dict(zip(_CHUNK_NAMES, _CHUNK_FIELDS(chunk), strict=True))
    row["is_table"] = int(chunk.is_table)
    row["spans"] = json.dumps(chunk.spans)
    row["metadata"] = json.dumps(dict(chunk.metadata), ensure_ascii=False)
    row["speaker_role"] = chunk.speaker_role.value
    row["ingestion_mode"] = chunk.ingestion_mode.value
    row["added"] = seq
    return row


def _chunk(row: Sequence[Any]) -> Chunk:
    try:
        return _read_chunk(row)
    except UNREADABLE as problem:
        raise damaged(f"the chunk {row[1]}", problem) from None


def _read_chunk(row: Sequence[Any]) -> Chunk:
    """A chunk from a row, by position: names take three times as long."""
    values = [*row[1:-2]]
    values[_TABLE] = bool(values[_TABLE])
    values[_SPANS] = tuple((start, end) for start, end in json.loads(values[_SPANS]))
    values[_ROLE] = SpeakerRole(values[_ROLE])
    values[_MODE] = IngestionMode(values[_MODE])
    values[_METADATA] = _metadata(values[_METADATA])
    return Chunk(*values)


def _metadata(text: str) -> dict[str, MetadataValue]:
    """Metadata from JSON; lists become tuples, as everywhere in values."""
    found = json.loads(text)
    if "[" not in text:  # most of it
        return cast("dict[str, MetadataValue]", found)
    return {key: tuple(one) if isinstance(one, list) else one for key, one in found.items()}


def _chunk_rows(engine: Engine, keys: Sequence[int], *columns: Column[Any]) -> list[Sequence[Any]]:
    """Columns of the chunks that have one of the keys, in any order.

    Every search ends with this. Building a statement, beginning a transaction and adapting values
    takes SQLAlchemy four times as long as the database takes to answer, so each statement is built
    once per number of keys and goes straight to the driver. All rows are fetched before the
    connection goes back to the pool.
    """
    try:
        connection = engine.raw_connection()
        try:
            # a cursor left half-read would keep its transaction open for the next reader
            with closing(connection.cursor()) as cursor:
                return _rows(cursor, engine.dialect, keys, columns)
        except Exception as problem:
            gone = connection.dbapi_connection
            if engine.dialect.is_disconnect(problem, gone, None):  # type: ignore[arg-type]
                connection.invalidate()
            raise
        finally:
            connection.close()  # back to the pool
    except Exception as problem:
        complaint = translated_error(problem, shown(engine), BUSY_SECONDS)
        if complaint is None:
            raise
        raise complaint from problem


def _rows(
    cursor: DBAPICursor, dialect: Dialect, keys: Sequence[int], columns: tuple[Column[Any], ...]
) -> list[Sequence[Any]]:
    found: list[Sequence[Any]] = []
    for start in range(0, len(keys), PART):
        part = tuple(keys[start : start + PART])
        cursor.execute(_statement(dialect, len(part), columns), part)
        found += cursor.fetchall()
    return found


def _statement(dialect: Dialect, count: int, columns: tuple[Column[Any], ...]) -> str:
    mark = "?" if dialect.paramstyle == "qmark" else "%s"
    return f'{_all_rows(columns)} WHERE chunks."key" IN ({_marks(mark, count)})'


@lru_cache
def _all_rows(columns: tuple[Column[Any], ...]) -> str:
    """The statement without a condition, which is the same text for every database."""
    return str(select(*columns).select_from(chunks))


@lru_cache(maxsize=PART)
def _marks(mark: str, count: int) -> str:
    return ", ".join([mark] * count)
