"""Which documents are there, and how do more get in or out?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from assay.app.engine import Progress, silent

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.model.document import Chunk, Document
    from assay.store.corpus import Written

BATCH_DOCUMENTS = 200


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


def listed_documents(workspace: Workspace, *, limit: int, offset: int) -> dict[str, Any]:
    """A page of the documents in the order of their ids, and how many there are in all."""
    return {
        "total": workspace.store.counts()["documents"],
        "documents": [
            asdict(row) for row in workspace.store.places.documents(limit=limit, offset=offset)
        ],
    }


def _batches(
    documents: Iterable[tuple[Document, tuple[Chunk, ...]]], size: int
) -> Iterator[list[tuple[Document, tuple[Chunk, ...]]]]:
    waiting = iter(documents)
    while batch := list(islice(waiting, size)):
        yield batch
