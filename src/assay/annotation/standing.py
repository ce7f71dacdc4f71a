"""Are there enough grades yet?

The interval of nDCG@10 of one pooled list, drawn over queries. Its low end takes every passage that
nobody has judged for irrelevant, its high end for as good as the best of its query so far (grade 1
where there is none): more queries narrow the one part of its width, more grades the other. Judging
may stop once the width is at most the goal of the round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.annotation.active import DEPTH
from assay.evaluation.scores import rounded
from assay.model.annotation import Grade, Item, ItemKey, Round
from assay.stats.bootstrap import bootstrap_means

HYBRID = "hybrid"  # the list whose figure counts, where it was pooled
MEASURE = f"nDCG@{DEPTH}"


@dataclass(frozen=True, slots=True)
class Standing:
    """How sure a figure is with the grades so far; ``unjudged`` counts passages of all lists."""

    measure: str
    list: str
    queries: int
    judged: int
    unjudged: int
    low: float | None
    high: float | None
    goal: float | None = None

    @property
    def width(self) -> float | None:
        """How wide the interval is."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def enough(self) -> bool:
        """Whether judging may stop: everything is judged, or the interval is narrow enough."""
        narrow = self.goal is not None and self.width is not None and self.width <= self.goal
        return narrow or not self.unjudged

    def __str__(self) -> str:
        width = self.width
        if width is None:
            return f"{self.judged} judged, {self.unjudged} not; no interval from so few queries"
        goal = "" if self.goal is None else f", goal {self.goal:.2f}"
        return (
            f"{self.judged} judged, {self.unjudged} not; the interval of {self.measure} "
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
            "low": rounded(self.low),
            "high": rounded(self.high),
            "width": rounded(self.width),
            "goal": self.goal,
            "enough": self.enough,
        }


def standing(held: Round, items: Sequence[Item], grades: Iterable[Grade]) -> Standing:
    """How sure the figure of the hybrid list is, by the grades of the first person."""
    said = {one.key: one.grade for one in grades if one.annotator == held.annotators[0]}
    names = sorted({name for item in items for name in item.found_by})
    name = HYBRID if HYBRID in names else names[0]
    queries: dict[str, list[Item]] = {}
    for item in items:
        queries.setdefault(item.query_id, []).append(item)
    pairs = [_between(own, said, name) for own in queries.values()]
    known = [pair for pair in pairs if pair is not None]
    low = high = None
    if len(known) > 1:
        drawn = bootstrap_means(known, seed=held.seed)
        low, high = drawn[0].low, drawn[1].high
    judged = sum(item.key in said for item in items)
    return Standing(
        MEASURE, name, len(known), judged, len(items) - judged, low, high, held.plan.until
    )


def _between(
    items: Sequence[Item], said: Mapping[ItemKey, int | None], name: str
) -> tuple[float, float] | None:
    """The worst and the best that a query may come to; None where nothing in it is relevant."""
    grades = [said[item.key] or 0 for item in items if item.key in said]
    best = max([*grades, 1])
    worst = _value(items, {item.key: said.get(item.key) or 0 for item in items}, name)
    filled = {item.key: (said[item.key] or 0) if item.key in said else best for item in items}
    hopeful = _value(items, filled, name)
    return None if hopeful is None else (worst or 0.0, max(hopeful, worst or 0.0))


def _value(items: Sequence[Item], grades: Mapping[ItemKey, int], name: str) -> float | None:
    """nDCG@10 of one list by these grades; None where nothing is relevant."""
    ideal = sorted(grades.values(), reverse=True)[:DEPTH]
    total = sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(ideal, 1))
    ranks = ((item.found_by.get(name), grades[item.key]) for item in items)
    gained = sum(
        (2**grade - 1) / math.log2(rank + 1) for rank, grade in ranks if rank and rank <= DEPTH
    )
    return gained / total if total else None
