"""What does an annotator see next, and in which order?

Queries come one after the other, and within a query its passages; both orders are shuffled per
annotator by a hash of the round's seed, so that they reveal neither rank nor the other's order. An
active round draws passages by how much the lists differ about them (``active.py``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from assay.annotation.active import drawn
from assay.model.annotation import Item, ItemKey, Order, Round, RoundQuery, Task


def asked(
    held: Round, items: Sequence[Item], first: Collection[ItemKey], annotator: str
) -> tuple[Item, ...]:
    """What this annotator is asked about: everything, or for the second person a sample.

    The sample is of what the ``first`` has judged: it grows with that.
    """
    share = held.plan.second_share
    if annotator not in held.annotators[1:] or share >= 1:
        return tuple(items)
    return tuple(
        item for item in items if item.key in first and _uniform(held.seed, item.key) < share
    )


def _uniform(seed: int, key: ItemKey) -> float:
    digest = hashlib.sha256("\0".join((str(seed), "second", *key)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def ordered(held: Round, items: Sequence[Item], annotator: str) -> tuple[Item, ...]:
    """These items of a round, in the order for this annotator."""
    if held.plan.order is Order.ACTIVE and annotator == held.annotators[0]:
        return drawn(items, held.seed)

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


def task(
    held: Round,
    item: Item,
    query_text: str,
    number: int,
    total: int,
    *,
    proposed: int | None = None,
) -> Task:
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
        proposed=proposed,
    )
