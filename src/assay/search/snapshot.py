"""What does one search run on?

A snapshot is one open generation of the index, with its components and the chunks behind their
keys. A response comes from exactly one snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.model.document import Chunk, ChunkLabels, KeyedChunk
from assay.model.query import Component


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One generation. ``absent`` says why a configured component is missing.

    ``chunks`` returns the chunks behind keys; one that was deleted meanwhile has no text.
    ``labels`` returns only their labels, which boosts need for every candidate. ``find`` returns
    the chunks of this generation with the id of a document or chunk. ``content`` tells apart two
    indexes that have the same generation. ``chunk_ids`` are all chunks by key, where that is known:
    a component that returns another one is left out.
    """

    generation: str
    components: Mapping[str, Component]
    chunks: Callable[[Sequence[int]], Mapping[int, Chunk]]
    labels: Callable[[Sequence[int]], Mapping[int, ChunkLabels]]
    find: Callable[[str], Sequence[KeyedChunk]]
    absent: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    content: str = ""
    chunk_ids: Mapping[int, str] | None = None
