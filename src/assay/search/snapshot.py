"""What does one search run on?

A snapshot is one open generation of the index, with its components and the chunks behind their
keys. A response comes from exactly one snapshot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.model.document import Chunk, ChunkLabels, KeyedChunk
from assay.model.query import Component, WordIndex


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One generation. ``absent`` says why a configured component is missing.

    ``chunks`` returns the chunks behind keys; one that was deleted meanwhile has no text.
    ``labels`` returns only their labels, which boosts need for every candidate. ``find`` returns
    the chunks of this generation with the id of a document or chunk. ``content`` tells apart two
    indexes that have the same generation. ``chunk_ids`` are all chunks by key, where that is known:
    a component that returns another one is left out. ``frequency`` is the number of chunks that
    have a word, where the index knows it; ``words`` tells more of them.
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
    frequency: Callable[[str], int] | None = None
    words: WordIndex | None = None

    def rarity(self, word: str) -> float:
        """How rare a word is among the chunks, from about 0; only where ``frequency`` is known."""
        assert self.frequency is not None
        return math.log((1 + self.size) / (1 + self.frequency(word)))
