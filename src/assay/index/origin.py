"""Was this index made of this store?

The number of changes tells an index that is ahead. A database that was lost, or put back from a
copy, may reach the same number with other documents: then the mark is another one, or the last
changes are of other documents, or of another text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from assay.model.document import LoggedChange

MARK = "made_of"
NEWEST = "newest_changes"
FOREIGN = "the index was made of another database"
BEHIND = "behind the store"  # how the only complaint ends that an update mends


class Origin(Protocol):
    """What tells one store from another."""

    def last_change(self) -> int:
        """The number of the newest change."""

    def mark(self, seq: int) -> str:
        """What the store was like at change ``seq``, in few letters; the same for ever."""

    def newest(self, seq: int) -> list[LoggedChange]:
        """The last changes up to ``seq``; a document that was changed since has no digest."""


def origin_of(store: Origin, seq: int) -> dict[str, Any]:
    """What an index that is complete up to ``seq`` keeps of its store."""
    return {MARK: store.mark(seq), NEWEST: [list(one) for one in store.newest(seq)]}


def is_foreign(applied: int, kept: Mapping[str, Any], store: Origin) -> bool:
    """Whether an index that is complete up to ``applied`` knows of what never was in this store.

    ``kept`` is what it kept of its own store; older indexes lack some of it.
    """
    if applied > store.last_change():
        return True
    mark, newest = kept.get(MARK), kept.get(NEWEST)
    if mark is not None and mark != store.mark(applied):
        return True
    return newest is not None and _differ(newest, store.newest(applied))


def _differ(written: Sequence[Sequence[Any]], found: Sequence[LoggedChange]) -> bool:
    """Whether these are other changes; a digest that one side no longer knows says nothing."""
    if len(written) != len(found):
        return True
    return any(
        tuple(old[:3]) != new[:3] or (old[3] and new[3] and old[3] != new[3])
        for old, new in zip(written, found, strict=True)
    )
