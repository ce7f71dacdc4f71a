"""What follows from the figures, in sentences: are targets met, and which groups differ most?

Sentences speak of what a reader sees: values are rounded to 4 decimals before they are compared. A
target is met by a value above it (``P@5>0.65``), or at least equal to it (``P@5>=0.65``, for which
``P@5=0.65`` is short); 65% is 0.65. Of measures for which less is better, such as
``EmptyResultRate``, targets are ``<`` and ``<=``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.errors import UsageError
from assay.evaluation.defaults import WORKFLOW_TARGETS
from assay.evaluation.scores import rounded
from assay.measures.base import Measure
from assay.measures.parse import parse_measure
from assay.plural import counted

WORTH_SAYING = 0.03  # a difference between groups that a reader should hear of
FEW_QUERIES = 10
TOO_FEW = 3  # groups smaller than this say nothing
SHOWN_GROUPS = 3
MOST_GAPS = 2  # measures that are spoken of for each kind of group
NO_GROUP = "(none)"
_TARGET = re.compile(r"(?P<measure>.*?\S)\s*+(?P<sign>>=|≥|>|<=|≤|<|=)\s*(?P<amount>[^<>=≥≤]*)")


@dataclass(frozen=True, slots=True)
class MeasureTarget:
    """The value that a measure should reach, or where ``beyond`` is set do better than.

    Nothing is said of a ``usual`` target whose measure has no value.
    """

    measure: Measure
    value: float
    beyond: bool = False
    usual: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        sign = "<" if self.measure.definition.lower_is_better else ">"
        return f"{self.measure} {sign}{'' if self.beyond else '='} {self.value:g}"

    def met(self, value: float) -> bool:
        """Whether a value, as it is read, meets the target."""
        read = rounded(value)
        assert read is not None
        if read == self.value:
            return not self.beyond
        return (read < self.value) == self.measure.definition.lower_is_better


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """The means of one group of queries, by text form."""

    name: str
    values: Mapping[str, float | None]
    queries: int


@dataclass(frozen=True, slots=True)
class Insight:
    """One sentence; ``good`` is None where it is neither good nor bad news."""

    text: str
    good: bool | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """A measure by which the best and the worst of several groups differ."""

    measure: str
    best: GroupMeans
    worst: GroupMeans

    @property
    def points(self) -> float:
        """How far they are apart, in hundredths."""
        return 100 * abs(
            (self.best.values[self.measure] or 0) - (self.worst.values[self.measure] or 0)
        )


def usual_targets(texts: Iterable[str] = WORKFLOW_TARGETS) -> tuple[MeasureTarget, ...]:
    """Targets that hold where nobody asked for them."""
    return tuple(replace(target, usual=True) for target in parse_targets(texts))


def parse_targets(texts: Iterable[str]) -> tuple[MeasureTarget, ...]:
    """Targets as they are written; the last word on a measure counts."""
    found: dict[Measure, MeasureTarget] = {}
    for text in texts:
        form = _TARGET.fullmatch(text.strip())
        value = _share(form["amount"]) if form else None
        if form is None or value is None:
            raise UsageError(
                f"{text!r:.80} is not a target",
                hint='write it as "P@5>0.65" (above) or "P@5>=0.65" (at least; = is short for it)',
            )
        measure, sign = parse_measure(form["measure"]), form["sign"]
        _check_direction(text, measure, sign)
        found[measure] = MeasureTarget(measure, value, beyond=sign in ("<", ">"))
    return tuple(found.values())


def _check_direction(text: str, measure: Measure, sign: str) -> None:
    lower = measure.definition.lower_is_better
    if sign != "=" and lower != (sign in ("<", "<=", "≤")):
        raise UsageError(
            f"{text!r:.80}: of {measure.name}, {'less' if lower else 'more'} is better",
            hint=f"write it with {'<' if lower else '>'} or {'<=' if lower else '>='}",
        )


def _share(text: str) -> float | None:
    """A number between 0 and 1, or a percentage."""
    number, percent, rest = text.partition("%")
    try:
        value = float(number)
    except ValueError:
        return None
    if percent:
        value = round(value / 100, 12)  # 7.5% is 0.075, whatever floating point says
    known = math.isfinite(value) and 0.0 <= value <= 1.0 and "_" not in text and not rest
    return value if known else None


def insights(
    overall: Mapping[str, float | None],
    groups: Mapping[str, Sequence[GroupMeans]],
    targets: Sequence[MeasureTarget] = (),
) -> tuple[Insight, ...]:
    """Sentences about targets, then about groups; ``groups`` by what they are groups of."""
    found = target_insights(overall, targets)
    for kind, members in groups.items():
        large, left_out = large_enough(kind, members)
        found += [*(_gap_insight(kind, gap) for gap in widest_gaps(large)), *left_out]
    return tuple(found)


def target_insights(
    overall: Mapping[str, float | None], targets: Sequence[MeasureTarget], decimals: int = 4
) -> list[Insight]:
    """Whether the targets are met; a reader sees so many decimals of the values."""
    return [
        _target_insight(target, overall.get(str(target.measure)), decimals)
        for target in targets
        if not target.usual or overall.get(str(target.measure)) is not None
    ]


def large_enough(
    kind: str, members: Sequence[GroupMeans]
) -> tuple[list[GroupMeans], list[Insight]]:
    """The groups that have queries enough to be compared, and a sentence about the others."""
    named = [group for group in members if group.name != NO_GROUP]
    large = [group for group in named if group.queries >= TOO_FEW]
    small = [f"{g.name} ({counted(g.queries, 'query')})" for g in named if g.queries < TOO_FEW]
    if not small or len(named) < 2:
        return large, []
    listed = ", ".join([*small[:SHOWN_GROUPS], *(["..."] if len(small) > SHOWN_GROUPS else [])])
    return large, [
        Insight(f"By {kind}, groups of fewer than {TOO_FEW} queries are not compared: {listed}")
    ]


def widest_gaps(members: Sequence[GroupMeans]) -> list[Gap]:
    """The measures that tell the groups apart best; one of several cutoffs stands for all."""
    measures = dict.fromkeys(name for group in members for name in group.values)
    gaps = [gap for name in measures if (gap := _gap(name, members)) is not None]
    gaps.sort(key=lambda gap: -gap.points)  # as wide as another: in the order of the measures
    widest: dict[str, Gap] = {}
    for gap in gaps:
        if gap.points >= 100 * WORTH_SAYING - 1e-9:
            widest.setdefault(parse_measure(gap.measure).name, gap)
    return list(widest.values())[:MOST_GAPS]


def _gap(measure: str, members: Sequence[GroupMeans]) -> Gap | None:
    known = [
        (value, group)
        for group in members
        if (value := rounded(group.values.get(measure))) is not None
    ]
    if len(known) < 2:
        return None
    sign = -1 if parse_measure(measure).definition.lower_is_better else 1
    best = max(known, key=lambda pair: sign * pair[0])[1]
    worst = min(known, key=lambda pair: sign * pair[0])[1]
    return Gap(measure, best, worst)


def _target_insight(target: MeasureTarget, value: float | None, decimals: int) -> Insight:
    if value is None:
        return Insight(f"Target of {target} is not checked: {target.measure} has no value", False)
    met = target.met(value)
    word, mark = ("meets", "✓") if met else ("misses", "✗")
    unseen = "" if target.met(round(value, decimals)) == met else f" (it is {value:.4f})"
    return Insight(f"Overall system {word} target of {target} {mark}{unseen}", met)


def _gap_insight(kind: str, gap: Gap) -> Insight:
    few = min(gap.best.queries, gap.worst.queries) < FEW_QUERIES
    return Insight(
        f"By {kind}, {gap.measure} is best for {_group(gap.best, gap.measure)} and worst for "
        f"{_group(gap.worst, gap.measure)}: a gap of {gap.points:.1f} points"
        + (", of few queries" if few else "")
    )


def _group(group: GroupMeans, measure: str) -> str:
    return f"{group.name} ({group.values[measure]:.4f}, {counted(group.queries, 'query')})"
