"""How is a list of hits remembered? As columns.

Four hundred thousand hits as objects would slow every garbage collection by a tenth of a second; as
columns they are three objects per list.
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
        """The original list."""
        return tuple(map(Hit, self.keys, self.chunk_ids, self.scores))


def pack(hits: Sequence[Hit]) -> Packed:
    """A list of hits as columns."""
    keys, chunk_ids, scores = zip(*hits, strict=True) if hits else ((), (), ())
    return Packed(array("q", keys), chunk_ids, array("d", scores))
