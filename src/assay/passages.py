"""Which passages does a retriever of another library find, and where?

``assay.langchain``, ``assay.llamaindex`` and ``assay.haystack`` each have an ``AssayRetriever``
over a workspace or a service; what they have in common is here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.search.request import SearchOptions, changed

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.model.document import Chunk

K = 10
log = logging.getLogger("assay.passages")


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage as another library takes it: an id, a text, a score and flat metadata."""

    chunk_id: str
    doc_id: str
    text: str
    score: float
    metadata: Mapping[str, Any]


def opened(place: Assay | str | Path) -> Assay:
    """The workspace in a folder, the service at an address, or what was opened before."""
    if not isinstance(place, (str, Path)):
        return place
    if isinstance(place, str) and place.startswith(("http://", "https://")):
        from assay.client import Client
        from assay.settings import configure

        settings = configure({"server": place})
        return Client(place, key=settings.api_key, settings=settings)
    from assay.app.workspace import open_workspace

    return open_workspace(place)


def place_of(given: Assay | str | Path) -> str | None:
    """The folder or address that a retriever was made with; None for what was opened before."""
    return str(given) if isinstance(given, str | Path) else None


def written_place(place: str | None) -> str:
    """The place as a file or another process gets it."""
    if place is None:
        raise UsageError(
            "an open workspace cannot be saved to a file",
            hint="create the retriever from the folder or the address",
        )
    return place


def found(assay: Assay, query: str, k: int, options: Mapping[str, Any]) -> list[FoundPassage]:
    """The best passages for a query; none where the search finds nothing about it.

    The document's own metadata comes first, so that none of it can pass for a field of ours.
    """
    response = assay.search(query, **{"k": k, **options})
    for name in response.component_errors:
        log.warning("searched without a component: %s", name)
    return [
        FoundPassage(
            hit.chunk.chunk_id,
            hit.chunk.doc_id,
            hit.chunk.text,
            hit.score,
            {
                **_of_document(hit.chunk),
                "chunk_id": hit.chunk.chunk_id,
                "doc_id": hit.chunk.doc_id,
                "source": hit.chunk.source,
                "score": hit.score,
                "rank": hit.rank,
            },
        )
        for hit in response.results
    ]


def _of_document(chunk: Chunk) -> dict[str, Any]:
    """The document's own metadata, and its title and section where they are known."""
    own = {"title": "", "section": "other", **chunk.metadata}
    if chunk.title:
        own["title"] = chunk.title
    if chunk.section_label not in {"", "other"}:
        own["section"] = chunk.section_label
    return own


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that no search has, when a retriever is made and not at its first query."""
    changed(SearchOptions(), **options)
