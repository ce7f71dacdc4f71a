"""A small workspace for tests of search: real store, real index, real components.

The encoders hash words, so that nothing is downloaded; tests that need meaning use the real models.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.app.workspace import Workspace
from assay.model.document import Chunk, Document
from assay.settings import configure
from assay.testing.component import sample
from assay.testing.encoders import GivenModels, HashingDense, HashingSparse


def workspace(home: Path, **settings: object) -> Workspace:
    """A workspace without documents, with encoders that need no model."""
    flags = {"home": home, "component_timeout_ms": 20_000, **settings}  # machines may be busy
    opened = Workspace(configure(flags, environ={}, folder=home.parent))
    # what cached_property would have made
    opened.__dict__["opened_models"] = GivenModels(HashingDense(), HashingSparse())
    return opened


def documents(chunks: Sequence[Chunk]) -> list[tuple[Document, tuple[Chunk, ...]]]:
    """Chunks under the documents that they name."""
    grouped: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        grouped.setdefault(chunk.doc_id, []).append(chunk)
    return [
        (Document(doc_id, "\n".join(one.text for one in parts), parts[0].title), tuple(parts))
        for doc_id, parts in grouped.items()
    ]


def filled(home: Path, chunks: Sequence[Chunk] | None = None, **settings: object) -> Workspace:
    """A workspace with chunks in it, indexed."""
    opened = workspace(home, **settings)
    rows = [row.chunk for row in sample()] if chunks is None else chunks
    opened.store_documents(documents(rows))
    opened.update_index()
    return opened
