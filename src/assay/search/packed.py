"""How are many lists of hits remembered at little cost?

Four hundred thousand hits as objects would take a tenth of a second to look through each time that
Python searches for garbage; as columns they are three objects a list.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from assay.model.query import Hit


@dataclass(frozen=True, slots=True)
class Packed:
    """One list of hits as columns."""

    keys: array[int]
    chunk_ids: tuple[str, ...]
    scores: array[float]

    def hits(self) -> tuple[Hit, ...]:
        """The list as it was."""
        return tuple(map(Hit, self.keys, self.chunk_ids, self.scores))


def pack(hits: Sequence[Hit]) -> Packed:
    """A list of hits, made small."""
    keys, chunk_ids, scores = zip(*hits, strict=True) if hits else ((), (), ())
    return Packed(array("q", keys), chunk_ids, array("d", scores))
