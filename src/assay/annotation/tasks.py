"""What does an annotator see next, and in which order?

Queries come one after the other, and within a query its passages; both orders are shuffled per
annotator by a hash of the round's seed, so that they reveal neither rank nor the other's order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from assay.model.annotation import Item, ItemKey, Round, RoundQuery, Task


def ordered(held: Round, items: Sequence[Item], annotator: str) -> tuple[Item, ...]:
    """All items of a round, in the order for this annotator."""

    def place(*parts: str) -> bytes:
        text = "\0".join((str(held.seed), annotator, *parts))
        return hashlib.sha256(text.encode()).digest()

    return tuple(sorted(items, key=lambda one: (place(one.query_id), place(*one.key), one.key)))


def next_task(
    held: Round,
    queries: Sequence[RoundQuery],
    items: Sequence[Item],
    done: Collection[ItemKey],
    annotator: str,
    *,
    later: Collection[ItemKey] = (),
) -> Task | None:
    """The first item that this annotator has not graded; None where all are.

    Items they put off (``later``) come last.
    """
    mine = ordered(held, items, annotator)
    waiting = [item for item in mine if item.key not in done]
    if not waiting:
        return None
    first = next((item for item in waiting if item.key not in later), waiting[0])
    texts = {query.query_id: query.query_text for query in queries}
    return task(held, first, texts[first.query_id], len(mine) - len(waiting) + 1, len(mine))


def task(held: Round, item: Item, query_text: str, number: int, total: int) -> Task:
    """An item without anything that could bias the annotator."""
    return Task(
        round_id=held.round_id,
        query_id=item.query_id,
        query_text=query_text,
        chunk_id=item.chunk_id,
        title=item.title,
        section_label=item.section_label,
        text=item.text,
        table_html=item.table_html,
        number=number,
        total=total,
    )
