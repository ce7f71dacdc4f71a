"""How do two runs differ that asked the same questions of different data?

Not every query can be asked of both: what is judged may all have come one way. So the difference of
a measure is the mean over the queries that both sides answered, and the others are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from assay.evaluation.result import EvaluationResult
from assay.evaluation.scores import Scores, rounded
from assay.measures.base import Measure
from assay.plural import counted

SHOWN_IDS = 5


@dataclass(frozen=True, slots=True)
class ModeDifference:
    """The second side minus the first, over the queries that both were asked.

    ``only`` names the other queries, by side. A measure is None where no query defines it on both
    sides, or where it looks at all queries at once and these are not the same.
    """

    shared: tuple[str, ...]
    only: Mapping[str, tuple[str, ...]]
    values: Mapping[Measure, float | None]

    @property
    def title(self) -> str:
        """The sides in words: ``LIVE - OFFLINE``."""
        return " - ".join(reversed(tuple(self.only)))

    def warnings(self) -> list[str]:
        """Which queries stand on one side only."""
        if not any(self.only.values()):
            return []
        sides = "; ".join(f"only {name}: {_listed(ids)}" for name, ids in self.only.items() if ids)
        if not self.shared:
            return [f"no query was asked on both sides, so there is no difference to show; {sides}"]
        count = counted(len(self.shared), "query", "was")
        return [f"{count} asked on both sides, and the difference is over these; {sides}"]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "of": self.title,
            "metrics": {m.key: rounded(value) for m, value in self.values.items()},
            "queries": len(self.shared),
            "only": {name: list(ids) for name, ids in self.only.items()},
        }


def mode_difference(sides: Mapping[str, EvaluationResult]) -> ModeDifference:
    """The difference of two sides, by their names."""
    (first, a), (second, b) = sides.items()
    of_a, of_b = a.scores.queries, b.scores.queries
    shared = tuple(name for name in of_a if name in set(of_b))
    left = {name: tuple(q for q in ids if q not in set(shared))
            for name, ids in ((first, of_a), (second, of_b))}  # fmt: skip
    same = not any(left.values())
    measures = [m for m in a.scores.measures if m in b.scores.measures]
    return ModeDifference(
        shared, left, {m: _difference(a.scores, b.scores, m, shared, same) for m in measures}
    )


def _difference(
    a: Scores, b: Scores, measure: Measure, shared: tuple[str, ...], same: bool
) -> float | None:
    if measure not in a.columns:
        of_a, of_b = a[measure], b[measure]
        return of_b - of_a if same and of_a is not None and of_b is not None else None
    of = a.per_query(measure), b.per_query(measure)
    pairs = [(of[0][name], of[1][name]) for name in shared]
    known = [y - x for x, y in pairs if x is not None and y is not None]
    return fmean(known) if known else None


def _listed(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    return ", ".join(ids[:SHOWN_IDS]) + more
