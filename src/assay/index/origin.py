"""Was this index made of this store?

The number of changes tells an index that is ahead. A database that was lost, or put back from a
copy, may reach the same number with other documents: then the mark is another one.
"""

from __future__ import annotations

from typing import Protocol

from assay.index.manifest import Manifest

MARK = "made_of"
FOREIGN = "the index was made of another database"


class Origin(Protocol):
    """What tells one store from another."""

    def last_change(self) -> int:
        """The number of the newest change."""

    def mark(self, seq: int) -> str:
        """What the store was like at change ``seq``, in few letters; the same for ever."""


def is_foreign(manifest: Manifest, store: Origin) -> bool:
    """Whether the index knows of things that never were in this store."""
    return made_elsewhere(manifest.applied, manifest.card.get(MARK), store)


def made_elsewhere(applied: int, stated: str | None, store: Origin) -> bool:
    """The same of any index that is complete up to a change and states the mark at it."""
    if applied > store.last_change():
        return True
    return stated is not None and stated != store.mark(applied)
