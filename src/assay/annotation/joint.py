"""What does a pooled list score, by a few queries of a person and a judge's grades of all?

Queries are judged one after the other in a random order, so that those which a person has judged
whole are a random sample. Each has a value by the person's grades, and every query one by the
judge's: what the judge gets wrong on average is taken out. A query in which nothing is relevant
counts 0, and so does a passage that nobody could judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.annotation.standing import by_query, counted_list, ndcg
from assay.evaluation.joint import Joint
from assay.model.annotation import Grade, Item, ItemKey, Order, Round
from assay.stats.prediction_powered import prediction_powered_mean

Ranked = Sequence[tuple[int, int]]  # rank and grade; below the depth where another list has it


def joint(
    held: Round, items: Sequence[Item], grades: Iterable[Grade], person: str, judge: str
) -> tuple[Joint, ...]:
    """NDCG and precision of the list that counts; nothing after a draw of single passages."""
    if held.plan.order is Order.ACTIVE or person != held.annotators[0]:
        return ()
    said: dict[str, dict[ItemKey, int]] = {person: {}, judge: {}}
    for one in grades:
        if one.annotator in said:
            said[one.annotator][one.key] = one.grade or 0
    name, depth = counted_list(held, items)
    queries = [
        own for own in by_query(items).values() if all(item.key in said[judge] for item in own)
    ]
    whole = [own for own in queries if all(item.key in said[person] for item in own)]
    others = [own for own in queries if not all(item.key in said[person] for item in own)]

    def values(
        measure: Callable[[Ranked, int], float], own: Sequence[Sequence[Item]], by: str
    ) -> list[float]:
        return [measure(_ranked(part, said[by], name, depth), depth) for part in own]

    return tuple(
        Joint(
            f"{label}@{depth} of {name}",
            "query",
            prediction_powered_mean(
                values(measure, whole, person),
                values(measure, whole, judge),
                values(measure, others, judge),
            ),
            person,
        )
        for label, measure in MEASURES.items()
    )


def _ranked(
    items: Iterable[Item], grades: Mapping[ItemKey, int], name: str, depth: int
) -> list[tuple[int, int]]:
    return [(item.found_by.get(name, depth + 1), grades[item.key]) for item in items]


def _ndcg(ranked: Ranked, depth: int) -> float:
    return ndcg(ranked, depth) or 0.0


def _precision(ranked: Ranked, depth: int) -> float:
    return sum(rank <= depth and grade > 0 for rank, grade in ranked) / depth


MEASURES: Mapping[str, Callable[[Ranked, int], float]] = {"nDCG": _ndcg, "P": _precision}
