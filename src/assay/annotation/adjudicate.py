"""Which grade counts if the annotators differ?

A third person decides, or one of the rules below; both are recorded. Undecided items stay open, and
a query with an open item enters no test set. If an annotator could not judge an item, a rule leaves
it without a grade; only a person may give it one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.annotation.agreement import Difference, by_annotator
from assay.errors import UsageError
from assay.model.annotation import Decision, Grade, Item, ItemKey, Round

RULES: Mapping[str, Callable[[int, int], int]] = {
    "mean-down": lambda a, b: (a + b) // 2,
    "higher": max,
    "lower": min,
}


@dataclass(frozen=True, slots=True)
class Settled:
    """The final grades; ``open`` items await a decision or a grade, ``without`` get none."""

    grades: Mapping[ItemKey, int]
    open: tuple[ItemKey, ...]
    without: tuple[ItemKey, ...]


def settle(
    held: Round, items: Sequence[Item], grades: Iterable[Grade], decisions: Iterable[Decision]
) -> Settled:
    """The grade of every item: what both agreed on, else what was decided."""
    said = by_annotator(grades)
    first, second = (said.get(name, {}) for name in held.annotators)
    decided = {one.key: one for one in decisions}
    settled: dict[ItemKey, int] = {}
    waiting: list[ItemKey] = []
    without: list[ItemKey] = []
    for item in items:
        key = item.key
        if key not in first or key not in second:
            waiting.append(key)
            continue
        grade = first[key].grade
        if grade is None or grade != second[key].grade:
            if key not in decided:
                waiting.append(key)
                continue
            grade = decided[key].grade
        if grade is None:
            without.append(key)
        else:
            settled[key] = grade
    return Settled(settled, tuple(waiting), tuple(without))


def by_rule(
    differences: Iterable[Difference], rule: str, by: str, *, at: str = ""
) -> tuple[Decision, ...]:
    """A decision on every difference; ``by`` is the person who chose the rule."""
    if rule not in RULES:
        raise UsageError(
            f"there is no rule {rule!r:.40}", hint=f"it is one of {', '.join(sorted(RULES))}"
        )
    found = []
    for one in differences:
        a, b = one.grades
        grade = None if a is None or b is None else RULES[rule](a, b)
        found.append(Decision(one.query_id, one.chunk_id, grade, by, rule, "", at))
    return tuple(found)


def undecided(
    differences: Iterable[Difference], decisions: Iterable[Decision]
) -> tuple[Difference, ...]:
    """Differences that nobody has decided yet."""
    done = {one.key for one in decisions}
    return tuple(one for one in differences if one.key not in done)
