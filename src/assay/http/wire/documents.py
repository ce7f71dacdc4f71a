"""What do routes about documents, the index and the models take?"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay import limits
from assay.http.wire.base import DocumentId, Json, Wire


class IngestRequest(Wire):
    """Documents as JSON, each in the form of a line of a JSON-lines corpus."""

    documents: Annotated[
        list[Annotated[Json, Field(max_length=100)]],
        Field(
            min_length=1,
            max_length=limits.MAX_BATCH_IDS,
            examples=[
                [{"doc_id": "note-1", "title": "A note", "text": "Aspirin eased the headache."}]
            ],
        ),
    ]
    profile: Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,40}$")] = "auto"
    keep_going: Annotated[
        bool,
        Field(description="Skip documents that cannot be read, and count them as `failed`."),
    ] = False


Ids = Annotated[list[DocumentId], Field(min_length=1, max_length=limits.MAX_BATCH_IDS)]
Version = Annotated[str, Field(min_length=1, max_length=200)]


class PlacesRequest(Wire):
    """Chunks, and the versions of the chunkers that cut them."""

    chunk_ids: Ids
    versions: Annotated[list[Version], Field(min_length=1, max_length=100)]


class DeleteRequest(Wire):
    """Documents to delete."""

    doc_ids: Ids


class PresentRequest(Wire):
    """Chunks and documents."""

    ids: Ids


class IndexRequest(Wire):
    """What to do with the index: bring it up to date, or rewrite it."""

    action: Literal["update", "compact", "rebuild", "reencode"] = "update"
