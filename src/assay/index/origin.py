"""Was this index built from this store?

An index with more changes than the store was not. A database that was lost or restored from a copy
may reach the same number of changes with other documents: then its mark differs, or its last
changes are to other documents or other text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from assay.model.document import LoggedChange

MARK = "made_of"
NEWEST = "newest_changes"
FOREIGN = "the index was made from another database"
BEHIND = "behind the store"  # the end of the one complaint that an update fixes


class Origin(Protocol):
    """What distinguishes one store from another."""

    def last_change(self) -> int:
        """The number of the newest change."""

    def mark(self, seq: int) -> str:
        """A short digest of the store at change ``seq``, which never changes."""

    def newest(self, seq: int) -> list[LoggedChange]:
        """The last changes up to ``seq``; a document that was changed since has no digest."""


def origin_of(store: Origin, seq: int) -> dict[str, Any]:
    """What an index that includes changes up to ``seq`` records about its store."""
    return {MARK: store.mark(seq), NEWEST: [list(one) for one in store.newest(seq)]}


def is_foreign(applied: int, kept: Mapping[str, Any], store: Origin) -> bool:
    """Whether an index with changes up to ``applied`` was built from another store.

    ``kept`` is what it recorded about its own store; older indexes lack some of it.
    """
    if applied > store.last_change():
        return True
    mark, newest = kept.get(MARK), kept.get(NEWEST)
    if mark is not None and mark != store.mark(applied):
        return True
    return newest is not None and _differ(newest, store.newest(applied))


def _differ(written: Sequence[Sequence[Any]], found: Sequence[LoggedChange]) -> bool:
    """Whether these changes differ; a digest missing on one side is ignored."""
    if len(written) != len(found):
        return True
    return any(
        tuple(old[:3]) != new[:3] or (old[3] and new[3] and old[3] != new[3])
        for old, new in zip(written, found, strict=True)
    )
