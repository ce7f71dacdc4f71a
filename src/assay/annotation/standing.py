"""Are there enough grades yet?

The interval of nDCG of one pooled list, at rank 10 or as deep as the pool is, drawn over queries.
At its low end, what nobody has judged is irrelevant where this list has it, and as good as the best
of its query so far (grade 1 where there is none) where only other lists do, which raises the ideal;
at its high end it is the other way round. More queries narrow the one part of its width, more
grades the other. Passages that a budget left out of the pool are as unjudged as the others. Judging
may stop once the width is at most the goal of the round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.annotation.active import DEPTH
from assay.evaluation.scores import rounded
from assay.model.annotation import Grade, Item, ItemKey, Order, Round
from assay.stats.bootstrap import bootstrap_means

HYBRID = "hybrid"  # the list whose figure counts, where it was pooled
CUT = "cut"
"""Where the source of a round says how many passages a budget left out of the pool."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How sure a figure is with the grades so far.

    ``unjudged`` counts passages of all lists, ``cut`` those that a budget left out of the pool.
    """

    measure: str
    list: str
    queries: int
    judged: int
    unjudged: int
    low: float | None
    high: float | None
    goal: float | None = None
    cut: int = 0

    @property
    def width(self) -> float | None:
        """How wide the interval is."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def enough(self) -> bool:
        """Whether judging may stop: by the width; without a goal, when everything is judged."""
        if self.goal is None or self.width is None:
            return not self.unjudged
        return self.width <= self.goal

    def __str__(self) -> str:
        width = self.width
        cut = f", {self.cut} left out by the budget" if self.cut else ""
        counts = f"{self.judged} judged, {self.unjudged} not{cut}"
        if width is None:
            return f"{counts}; no interval from so few queries"
        goal = "" if self.goal is None else f", goal {self.goal:.2f}"
        return (
            f"{counts}; the interval of {self.measure} "
            f"({self.list}, {self.queries} queries) is {width:.2f} wide{goal}"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "measure": self.measure,
            "list": self.list,
            "queries": self.queries,
            "judged": self.judged,
            "unjudged": self.unjudged,
            "cut": self.cut,
            "low": rounded(self.low),
            "high": rounded(self.high),
            "width": rounded(self.width),
            "goal": self.goal,
            "enough": self.enough,
        }


def standing(held: Round, items: Sequence[Item], grades: Iterable[Grade]) -> Standing:
    """How sure the figure of the hybrid list is, by the grades of the first person."""
    said = {one.key: one.grade for one in grades if one.annotator == held.annotators[0]}
    name, depth = counted_list(held, items)
    cut = int(held.source.get(CUT, 0))
    drawn = cut > 0 and held.plan.order is Order.ACTIVE  # else a whole depth was left out
    pairs = [_between(own, said, name, depth, drawn=drawn) for own in by_query(items).values()]
    known = [pair for pair in pairs if pair is not None]
    low = high = None
    if len(known) > 1:
        ends = bootstrap_means(known, seed=held.seed)
        low, high = ends[0].low, ends[1].high
    judged = sum(item.key in said for item in items)
    return Standing(
        f"nDCG@{depth}",
        name,
        len(known),
        judged,
        len(items) - judged,
        low,
        high,
        held.plan.until,
        cut,
    )


def counted_list(held: Round, items: Iterable[Item]) -> tuple[str, int]:
    """The pooled list whose figure counts, and how deep it is judged."""
    names = sorted({name for item in items for name in item.found_by})
    depth = min(DEPTH, int(held.source.get("depth", DEPTH)))
    return HYBRID if HYBRID in names else names[0], depth


def by_query(items: Iterable[Item]) -> dict[str, list[Item]]:
    """The items of each query."""
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(item.query_id, []).append(item)
    return found


def _between(
    items: Sequence[Item],
    said: Mapping[ItemKey, int | None],
    name: str,
    depth: int,
    *,
    drawn: bool,
) -> tuple[float, float] | None:
    """The worst and the best that a query may come to; None where nothing in it is relevant.

    ``drawn``: the pool is a draw, so that ranks of the list may be missing from it.
    """
    ranks = {item.key: rank for item in items if (rank := item.found_by.get(name, depth + 1))}
    judged = [(ranks[item.key], said[item.key] or 0) for item in items if item.key in said]
    best = max([1, *(grade for _, grade in judged)])
    waiting = [ranks[item.key] for item in items if item.key not in said]
    if drawn:
        waiting += sorted(set(range(1, depth + 1)).difference(ranks.values()))
    mine = [(rank, best) for rank in waiting if rank <= depth]
    others = [(rank, best) for rank in waiting if rank > depth]
    if drawn:  # and of other lists nobody knows how many
        others += [(depth + 1, best)] * depth
    low = ndcg([*judged, *((rank, 0) for rank, _ in mine), *others], depth)
    high = ndcg([*judged, *mine], depth)
    if low is None and high is None:
        return None
    return low or 0.0, max(high or 0.0, low or 0.0)


def ndcg(graded: Sequence[tuple[int, int]], depth: int) -> float | None:
    """NDCG of ranks and grades, those below ``depth`` in the ideal only; None: none is relevant."""
    ideal = sorted((grade for _, grade in graded), reverse=True)[:depth]
    total = sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(ideal, 1))
    gained = sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in graded if rank <= depth)
    return gained / total if total else None
