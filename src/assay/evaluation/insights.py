"""What do the numbers say, in sentences: groups that differ, targets that are met or missed?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.errors import UsageError
from assay.measures.base import Measure
from assay.measures.parse import parse_measure
from assay.plural import counted

WORTH_SAYING = 0.03  # a difference between groups that a reader should hear of
FEW_QUERIES = 10
TOO_FEW = 3  # groups smaller than this say nothing
HEADLINES = 2  # of the measures, the first ones are spoken of
NO_GROUP = "(none)"

Value = float | None


@dataclass(frozen=True, slots=True)
class Target:
    """The value that a measure should reach."""

    measure: Measure
    value: float


@dataclass(frozen=True, slots=True)
class Group:
    """The means of one group of queries, by text form."""

    name: str
    values: Mapping[str, Value]
    queries: int


@dataclass(frozen=True, slots=True)
class Insight:
    """One sentence; ``good`` is None where it is neither good nor bad news."""

    text: str
    good: bool | None = None


DEFAULT_TARGETS = ("P@5=0.65", "Recall@10=0.75", "nDCG@10=0.70")


def parse_targets(texts: Iterable[str] = DEFAULT_TARGETS) -> tuple[Target, ...]:
    """Targets written as ``P@5=0.65``; the last word on a measure counts."""
    found: dict[Measure, Target] = {}
    for text in texts:
        name, equals, amount = text.rpartition("=")
        try:
            value = float(amount) if equals else math.nan
        except ValueError:
            value = math.nan
        if not 0.0 <= value <= 1.0 or "_" in amount:
            raise UsageError(f"{text!r:.80} is not a target", hint='write it as "P@5=0.65"')
        measure = parse_measure(name)
        found[measure] = Target(measure, value)
    return tuple(found.values())


def insights(
    overall: Mapping[str, Value],
    groups: Mapping[str, Sequence[Group]],
    targets: Sequence[Target] = (),
) -> tuple[Insight, ...]:
    """Sentences about targets, then about groups; ``groups`` by what they are groups of.

    The first measures of ``overall`` are the ones by which groups are compared.
    """
    found = [
        _target(target, value)
        for target in targets
        if (value := overall.get(str(target.measure))) is not None
    ]
    for kind, members in groups.items():
        large = [g for g in members if g.queries >= TOO_FEW and g.name != NO_GROUP]
        found += _groups(kind, large, list(overall)[:HEADLINES])
    return tuple(found)


def _target(target: Target, value: float) -> Insight:
    met = value >= target.value - 1e-12
    word = "meets" if met else "misses"
    return Insight(
        f"Overall {target.measure} of {value:.4f} {word} the target of {target.value:g}"
        f" {'✓' if met else '✗'}",
        met,
    )


def _groups(kind: str, members: Sequence[Group], names: Sequence[str]) -> list[Insight]:
    """The best and the worst group by each measure that tells them apart."""
    found = []
    for name in names:
        known = [(group, v) for group in members if (v := group.values.get(name)) is not None]
        if len(known) < 2:
            continue
        best = max(known, key=lambda pair: pair[1])
        worst = min(known, key=lambda pair: pair[1])
        gap = best[1] - worst[1]
        if gap < WORTH_SAYING:
            continue
        few = min(best[0].queries, worst[0].queries) < FEW_QUERIES
        found.append(
            Insight(
                f"By {kind}, {name} is best for {best[0].name} ({best[1]:.4f}, "
                f"{_queries(best[0])}) and worst for {worst[0].name} ({worst[1]:.4f}, "
                f"{_queries(worst[0])}): a gap of {100 * gap:.1f} points"
                + (", of few queries" if few else "")
            )
        )
    return found


def _queries(group: Group) -> str:
    return counted(group.queries, "query")
