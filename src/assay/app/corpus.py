"""Which documents are there, and how do more get in or out?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app import index as indexes
from assay.app.engine import Progress, silent
from assay.errors import AssayError, InputError, MissingFileError, PlacedError
from assay.model.document import DocumentRow, StoredDocument

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.model.document import Chunk, Document
    from assay.store.corpus import Written

BATCH_DOCUMENTS = 200
UPLOAD = "upload.jsonl"


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some of the documents in the order of their ids, and how many there are in all."""

    total: int
    documents: tuple[DocumentRow, ...]


@dataclass(frozen=True, slots=True)
class DocumentsWritten:
    """What became of documents; ``generation`` of the index has it, None where none was written."""

    added: int
    replaced: int
    unchanged: int
    deleted: int
    chunks: int
    generation: int | None


def list_documents(workspace: Workspace, *, limit: int = 50, offset: int = 0) -> DocumentPage:
    """A page of the documents in the order of their ids."""
    workspace.require()
    rows = workspace.store.inventory.documents(limit=limit, offset=offset)
    return DocumentPage(workspace.store.counts()["documents"], rows)


def document(workspace: Workspace, doc_id: str) -> StoredDocument:
    """A document with its sections and chunks."""
    workspace.require()
    found = workspace.store.document(doc_id)
    if found is None:
        raise _unknown(doc_id)
    return found


def require_documents(workspace: Workspace, doc_ids: Iterable[str]) -> None:
    """Refuse ids that name no document."""
    workspace.require()
    if lacking := workspace.store.lacking(doc_ids):
        raise _unknown(lacking[0])


def delete_documents(
    workspace: Workspace, doc_ids: Sequence[str], progress: Progress = silent
) -> DocumentsWritten:
    """Delete documents and bring the index up to date; an unknown id is refused before that."""
    require_documents(workspace, doc_ids)
    return remove_documents(workspace, doc_ids, progress)


def remove_documents(
    workspace: Workspace, doc_ids: Sequence[str], progress: Progress = silent
) -> DocumentsWritten:
    """The same; what is gone already is passed over, so that an interrupted job can go on."""
    return _indexed(workspace, workspace.store.delete(doc_ids), progress)


def ingest(
    workspace: Workspace,
    path: str | Path,
    *,
    format: str = "auto",  # noqa: A002 - the word that users know
    profile: str = "auto",
    skip_empty: bool = False,
    index: bool = True,
    progress: Progress = silent,
    note: Callable[[str], None] = lambda text: None,
    stopped: Callable[[int], None] = lambda stored: None,
) -> DocumentsWritten:
    """Read a file or folder into the workspace and, with ``index``, make it searchable.

    ``note`` is called with what was left out or read differently; ``stopped``, where it ends
    half-way, with the number of documents that are stored and not indexed.
    """
    from assay.ingest import read_corpus

    if index:  # a missing model should be known before anything is read
        workspace.open_encoders()
    documents = read_corpus(
        path,
        format,
        profile,
        lambda step: note(step.note) if step.note else None,
        skip_empty=skip_empty,
    )
    before = workspace.store.last_change()
    try:
        written = store_documents(workspace, documents, progress)
        if index:
            return _indexed(workspace, written, progress)
    except (AssayError, KeyboardInterrupt):
        if stored := workspace.store.last_change() - before:
            stopped(stored)
        raise
    return DocumentsWritten(**asdict(written), generation=None)


def add_documents(
    workspace: Workspace,
    documents: Iterable[Mapping[str, Any]],
    *,
    profile: str = "auto",
    progress: Progress = silent,
) -> DocumentsWritten:
    """Store documents that are given as JSON, and make them searchable.

    They go the way of a file, so that both are read by the same rules.
    """
    with tempfile.TemporaryDirectory(prefix="assay-upload-") as folder:
        path = Path(folder) / UPLOAD
        with path.open("w", encoding="utf-8") as file:
            for row in documents:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        try:
            return ingest(workspace, path, format="jsonl", profile=profile, progress=progress)
        except PlacedError as error:
            raise InputError(error.message.replace(f"{folder}/", ""), hint=error.hint) from None


def store_documents(
    workspace: Workspace,
    documents: Iterable[tuple[Document, tuple[Chunk, ...]]],
    progress: Progress = silent,
) -> Written:
    """Store documents in batches; each batch is durable when the next one begins."""
    from assay.store.corpus import Written

    total = Written()
    seen = 0
    for batch in _batches(documents, BATCH_DOCUMENTS):
        total += workspace.store.put(batch)
        seen += len(batch)
        progress("read", seen, 0)
    return total


def _indexed(workspace: Workspace, written: Written, progress: Progress) -> DocumentsWritten:
    generation = indexes.update_index(workspace, progress).generation
    return DocumentsWritten(**asdict(written), generation=generation)


def _batches(
    documents: Iterable[tuple[Document, tuple[Chunk, ...]]], size: int
) -> Iterator[list[tuple[Document, tuple[Chunk, ...]]]]:
    waiting = iter(documents)
    while batch := list(islice(waiting, size)):
        yield batch


def _unknown(doc_id: str) -> MissingFileError:
    return MissingFileError(
        f"there is no document {doc_id!r:.140}", hint="assay corpus list names those there are"
    )
