"""Which grade counts if the annotators differ?

A third person decides, or one of the rules below; both are recorded. Undecided items stay open, and
a query with an open item enters no test set. If an annotator could not judge an item, a rule leaves
it without a grade; only a person may give it one. In the round of a first set the first person's
grade counts unless a decision says otherwise, and only what they have not judged is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.annotation.agreement import Difference, by_annotator
from assay.errors import UsageError
from assay.model.annotation import Decision, Grade, Item, ItemKey, Purpose, Round

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
    decided = {one.key: one for one in decisions}
    if held.purpose is Purpose.FIRST:
        return _settle_first(items, said.get(held.annotators[0], {}), decided)
    first, second = (said.get(name, {}) for name in held.annotators)
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


def _settle_first(
    items: Sequence[Item], first: Mapping[ItemKey, Grade], decided: Mapping[ItemKey, Decision]
) -> Settled:
    counts = {key: one.grade for key, one in first.items()}
    counts |= {key: one.grade for key, one in decided.items()}
    keys = [item.key for item in items]
    return Settled(
        {key: grade for key in keys if (grade := counts.get(key)) is not None},
        tuple(key for key in keys if key not in counts),
        tuple(key for key in keys if key in counts and counts[key] is None),
    )


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
