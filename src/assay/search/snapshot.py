"""What does one search run on?

A snapshot is one open generation of the index, with its components and the chunks behind their
keys. A response comes from exactly one snapshot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from assay.model.arrays import BoolArray, IntArray
from assay.model.document import Chunk, ChunkLabels, KeyedChunk
from assay.model.query import Component


class Words(Protocol):
    """What an index of words knows of one."""

    def frequency(self, word: str) -> int:
        """The number of chunks that have it."""

    def having(self, word: str) -> IntArray | None:
        """The keys of those chunks, in order; None where they are too many."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One generation. ``absent`` says why a configured component is missing.

    ``chunks`` returns the chunks behind keys; one that was deleted meanwhile has no text.
    ``labels`` returns only their labels, which boosts need for every candidate. ``find`` returns
    the chunks of this generation with the id of a document or chunk. ``content`` tells apart two
    indexes that have the same generation. ``words`` says which chunks have a word, where the index
    can tell.
    """

    generation: str
    components: Mapping[str, Component]
    chunks: Callable[[Sequence[int]], Mapping[int, Chunk]]
    labels: Callable[[Sequence[int]], Mapping[int, ChunkLabels]]
    find: Callable[[str], Sequence[KeyedChunk]]
    absent: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    content: str = ""
    words: Words | None = None

    def rarity(self, word: str) -> float:
        """How rare a word is among the chunks: about 0 where all have it."""
        assert self.words is not None
        return math.log((1 + self.size) / (1 + self.words.frequency(word)))

    def having(self, term: str, keys: IntArray) -> BoolArray:
        """Which of the chunks with these keys have all words of a term; all where too many do."""
        assert self.words is not None
        found = np.ones(len(keys), dtype=np.bool_)
        for those in map(self.words.having, term.split()):
            if those is not None and len(those):
                found &= those.take(np.searchsorted(those, keys), mode="clip") == keys
            elif those is not None:
                found[:] = False
        return found
