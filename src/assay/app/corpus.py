"""Which documents are there, and how do more get in or out?"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay import extras
from assay.app import index as indexes
from assay.app.engine import Progress, lacking_models, made_by, silent, words_only
from assay.app.layout import Layout
from assay.app.rows import document_ids, document_rows
from assay.app.vectors import take_vectors
from assay.durable import write_atomically
from assay.errors import (
    AssayError,
    InputError,
    LimitError,
    MissingFileError,
    PlacedError,
    UsageError,
)
from assay.model.document import DocumentRow, StoredDocument
from assay.plural import counted

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.ingest.watch import Progress as Step
    from assay.model.document import Chunk, Document
    from assay.store.corpus import Written

BATCH_DOCUMENTS = 200
UPLOAD = "document.jsonl"
GO_ON = "--keep-going passes over what cannot be read and names it at the end"
MOST_PROBLEMS = 100  # that a result tells; the others are counted


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some of the documents in the order of their ids, and how many there are in all."""

    total: int
    documents: tuple[DocumentRow, ...]


@dataclass(frozen=True, slots=True)
class DocumentsWritten:
    """What became of documents; ``generation`` of the index has it, None where none was written.

    ``failed`` counts files and documents that could not be read and were passed over, and
    ``problems`` says what was wrong with the first of them. ``left_out`` names every file that is
    in no known format, empty or beside the others, and was not read. ``lacking`` says which vectors
    the index goes without because a service gave none.
    """

    added: int
    replaced: int
    unchanged: int
    deleted: int
    chunks: int
    generation: int | None
    failed: int = 0
    problems: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    lacking: str = ""


def list_documents(
    workspace: Workspace, *, limit: int = 50, offset: int = 0, text: str = ""
) -> DocumentPage:
    """A page of the documents in the order of their ids.

    With ``text``, only those with each of its words in their id or title.
    """
    workspace.require()
    inventory = workspace.store.inventory
    rows = inventory.documents(limit=limit, offset=offset, text=text)
    return DocumentPage(inventory.count(text), rows)


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


def delete(
    workspace: Workspace, doc_ids: str | Iterable[str], progress: Progress = silent
) -> DocumentsWritten:
    """Delete documents and bring the index up to date; an unknown id is refused before that."""
    ids = document_ids(doc_ids)
    require_documents(workspace, ids)
    return remove_documents(workspace, ids, progress)


def remove_documents(
    workspace: Workspace, doc_ids: Sequence[str], progress: Progress = silent
) -> DocumentsWritten:
    """The same; what is gone already is passed over, so that an interrupted job can go on."""
    return _indexed(workspace, workspace.store.delete(doc_ids), progress)


def keep_upload(layout: Layout, name: str, data: bytes) -> str:
    """Keep a file that was sent until a job reads it; what the job names it by."""
    if not data:
        raise InputError(f"{name!r:.80} is empty", hint="choose a file with content")
    path = layout.upload(secrets.token_hex(8), name)
    write_atomically(path, data)
    return str(path.relative_to(layout.uploads))


def ingest_upload(
    workspace: Workspace, kept: str, *, progress: Progress = silent
) -> DocumentsWritten:
    """Read a file that ``keep_upload`` kept, in any format that ``ingest`` reads, and remove it.

    One that cannot be read is removed as well. Any other error leaves it there, for another try.
    """
    path = workspace.layout.uploads / kept
    with _naming(path) as told:
        try:
            written = ingest(workspace, path, keep_going=True, progress=progress)
        except InputError:
            _remove_upload(path)
            raise
    _remove_upload(path)
    return replace(
        written,
        problems=tuple(map(told, written.problems)),
        left_out=tuple(map(told, written.left_out)),
    )


def _remove_upload(path: Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[Callable[[str], str]]:
    """Let messages name a file that was sent by its name, and not by where it is kept here."""

    def told(text: str) -> str:
        return text.replace(f"{path.parent}{os.sep}", "")

    try:
        yield told
    except AssayError as error:
        error.message = told(error.message)
        error.hint = told(error.hint) if error.hint else None
        raise


def ingest(
    workspace: Workspace,
    path: str | Path,
    *,
    format: str = "auto",  # noqa: A002 - the word that users know
    profile: str = "auto",
    skip_empty: bool = False,
    keep_going: bool = False,
    strict: bool = False,
    id_field: str = "",
    text_field: Sequence[str] = (),
    title_field: str = "",
    vectors: Sequence[str | Path] = (),
    index: bool = True,
    progress: Progress = silent,
    note: Callable[[str], None] = lambda text: None,
    stopped: Callable[[int], None] = lambda stored: None,
) -> DocumentsWritten:
    """Read a file or folder into the workspace and, with ``index``, make it searchable.

    With ``keep_going``, a file or document that cannot be read is passed over and counted. With
    ``strict``, a file that would be left out is an error. What the corpus itself lists as deleted
    (updates of MEDLINE) is deleted. ``id_field``, ``text_field`` and ``title_field`` name fields of
    rows (JSON, CSV). ``vectors`` are files that ``assay encode`` wrote: their texts are not encoded
    again. ``note`` is called with what was left out or read differently; ``stopped``,
    where it ends half-way, with the number of documents that are stored and not indexed.
    """
    extras.require("lxml", "nh3", "Stemmer")
    from assay.ingest import read_corpus
    from assay.ingest.watch import Columns

    if strict and keep_going:
        raise UsageError("strict and keep_going exclude each other", hint="choose one of them")
    if index:  # a missing model should be known before anything is read
        workspace.open_encoders()
        if lacking := lacking_models(workspace, made_by(workspace)):
            note(f"indexed {words_only(lacking)}")
    for source in vectors:
        taken = take_vectors(workspace, source, progress)
        note(f"{counted(taken.vectors, 'vector')} taken from {source}")
        if taken.damaged:
            note(f"{counted(taken.damaged, 'vector')} in {source} damaged: encoded here instead")
    problems: list[str] = []
    withdrawn: list[str] = []
    left_out: list[str] = []

    def told(step: Step) -> None:
        withdrawn.extend(step.withdrawn)
        left_out.extend(step.left_out)
        if step.problem:
            problems.append(step.problem)
        elif step.note:
            note(step.note)

    documents = read_corpus(
        path,
        format,
        profile,
        told,
        skip_empty=skip_empty,
        keep_going=keep_going,
        strict=strict,
        columns=Columns(id_field, tuple(text_field), title_field),
    )
    before = workspace.store.last_change()
    try:
        refused = problems.append if keep_going else None
        written = store_documents(workspace, documents, progress, refused)
        written = replace(written, deleted=workspace.store.delete(withdrawn).deleted)
        made = (
            _indexed(workspace, written, progress)
            if index
            else DocumentsWritten(**asdict(written), generation=None)
        )
    except (AssayError, KeyboardInterrupt) as problem:
        if stored := workspace.store.last_change() - before:
            stopped(stored)
        _suggest_going_on(problem, path, keep_going)
        raise
    return replace(
        made,
        failed=len(problems),
        problems=tuple(problems[:MOST_PROBLEMS]),
        left_out=tuple(left_out),
    )


def _suggest_going_on(problem: BaseException, path: str | Path, keep_going: bool) -> None:
    """Add to what is wrong with one file of a folder that the others can be read."""
    if isinstance(problem, InputError) and not keep_going and Path(path).is_dir():
        problem.hint = "; ".join(filter(None, (problem.hint, GO_ON)))


def add(
    workspace: Workspace,
    documents: Iterable[Mapping[str, Any]] | Mapping[str, Any] | Any,
    *,
    profile: str = "auto",
    keep_going: bool = False,
    progress: Progress = silent,
) -> DocumentsWritten:
    """Store documents and make them searchable: rows, an iterator, one row or a data frame.

    They go the way of a file, so that both are read by the same rules; an iterator is read once,
    and never held in memory. With ``keep_going``, those that cannot be read are passed over and
    counted.
    """
    with tempfile.TemporaryDirectory(prefix="assay-upload-") as folder:
        path = Path(folder) / UPLOAD
        with path.open("w", encoding="utf-8") as file:
            for count, row in enumerate(document_rows(documents), 1):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                if count % BATCH_DOCUMENTS == 0:
                    progress("given", count, 0)
        try:
            made = ingest(
                workspace,
                path,
                format="jsonl",
                profile=profile,
                keep_going=keep_going,
                progress=progress,
            )
            told = tuple(_as_given(text, path) for text in made.problems)
            return replace(made, problems=told, left_out=())
        except (PlacedError, LimitError) as error:
            kind = LimitError if isinstance(error, LimitError) else InputError
            hint = _as_given(error.hint, path) if error.hint else None
            raise kind(_as_given(error.message, path), hint=hint) from None


def _as_given(text: str, path: Path) -> str:
    """What was said of a line of the file, said of a document that was given."""
    from assay.ingest.columns import NAME_FIELDS
    from assay.ingest.watch import SKIP_EMPTY

    said = re.sub(rf"{re.escape(str(path))}:(\d+)", r"document \1", text)
    said = said.replace(str(path), "the documents")
    said = said.replace(NAME_FIELDS, "give it a doc_id, or name its fields")
    return said.replace(SKIP_EMPTY, "pass it over with keep_going")


def store_documents(
    workspace: Workspace,
    documents: Iterable[tuple[Document, tuple[Chunk, ...]]],
    progress: Progress = silent,
    refused: Callable[[str], None] | None = None,
) -> Written:
    """Store documents in batches; each batch is durable when the next one begins.

    What the store does not take (a chunk's id may belong to another document) is an error or, with
    ``refused``, told there and passed over.
    """
    from assay.store.corpus import Written

    total = Written()
    seen = 0
    for batch in _batches(documents, BATCH_DOCUMENTS):
        try:
            total += _put(workspace, batch)
        except InputError:
            if refused is None:
                raise
            for one in batch:
                try:
                    total += _put(workspace, [one])
                except InputError as problem:
                    refused(f"the document {one[0].doc_id}: {problem}")
        seen += len(batch)
        progress("read", seen, 0)
    return total


def _put(workspace: Workspace, batch: Sequence[tuple[Document, tuple[Chunk, ...]]]) -> Written:
    """Store documents, unless one would replace a file of the same name and another format."""
    from assay.ingest.folders import NAMED_BY_FILE

    named = {one.doc_id: one.source for one, _ in batch if one.source in NAMED_BY_FILE}
    for doc_id, before in workspace.store.sources(named).items() if named else ():
        if before in NAMED_BY_FILE and before != named[doc_id]:
            raise InputError(
                f"{doc_id} was read from {before} and would be replaced by {named[doc_id]}",
                hint=f"rename the file, or first: assay corpus delete {doc_id}",
            )
    return workspace.store.put(batch)


def _indexed(workspace: Workspace, written: Written, progress: Progress) -> DocumentsWritten:
    manifest, lacking = indexes.updated(workspace, progress)
    return DocumentsWritten(**asdict(written), generation=manifest.generation, lacking=lacking)


def _batches(
    documents: Iterable[tuple[Document, tuple[Chunk, ...]]], size: int
) -> Iterator[list[tuple[Document, tuple[Chunk, ...]]]]:
    waiting = iter(documents)
    while batch := list(islice(waiting, size)):
        yield batch


def _unknown(doc_id: str) -> MissingFileError:
    return MissingFileError(
        f"there is no document {doc_id!r:.140}", hint="assay corpus list lists the documents"
    )
