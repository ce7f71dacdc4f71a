"""What does one search look into?

A snapshot is one generation of the index, opened, with the components over it and the chunks behind
their keys. An answer comes from exactly one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.model.document import Chunk, ChunkLabels, KeyedChunk
from assay.model.query import Component


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One generation. ``absent`` says why a component that was configured is not there.

    ``chunks`` gives the chunks behind keys; one that was deleted meanwhile has no text. ``labels``
    gives only what they are about, which boosts ask of every candidate.
    ``find`` gives the chunks of this generation that a document's or a chunk's id names.
    """

    generation: str
    components: Mapping[str, Component]
    chunks: Callable[[Sequence[int]], Mapping[int, Chunk]]
    labels: Callable[[Sequence[int]], Mapping[int, ChunkLabels]]
    find: Callable[[str], Sequence[KeyedChunk]]
    absent: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
