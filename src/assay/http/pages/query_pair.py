"""One query in two runs: where did each result go, and what moved it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.app.comparison import QueryPair
from assay.model.document import Label
from assay.model.runs import QueryOutcome, RankedResult

DEPTH = 10
ROW = 52
GAP = 70


@dataclass(frozen=True, slots=True)
class RankedLine:
    """One result of one side.

    ``grade`` is None if nobody judged it; ``other`` is its rank on the other side, None if it is
    not there.
    """

    rank: int
    result: RankedResult
    grade: int | None
    other: int | None


def ranked_lines(
    outcome: QueryOutcome, grades: Mapping[int, int], other: QueryOutcome
) -> list[RankedLine]:
    """The first results of one side."""
    elsewhere = _ranks(other)
    return [
        RankedLine(rank, result, grades.get(rank), elsewhere.get(result.chunk_id))
        for rank, result in enumerate(outcome.results[:DEPTH], 1)
    ]


def slope_chart(left: Sequence[RankedLine], right: Sequence[RankedLine]) -> Markup:
    """A line from each result of A to the same one of B; it stops short for what left or came."""
    height = ROW * max(len(left), len(right), 1)
    parts = [
        f'<svg class="slopes" viewBox="0 0 {GAP} {height}" width="{GAP}" height="{height}" '
        'preserveAspectRatio="none" aria-hidden="true">'
    ]
    shown = {line.result.chunk_id: line for line in right}
    for line in left:
        y = _middle(line.rank)
        there = shown.get(line.result.chunk_id)
        if there is None:
            parts.append(_segment(0, y, GAP * 0.3, y + 6, line.grade, "gone"))
        else:
            parts.append(_segment(0, y, GAP, _middle(there.rank), line.grade, _way(line, there)))
    before = {line.result.chunk_id for line in left}
    parts += [
        _segment(GAP * 0.7, _middle(line.rank) + 6, GAP, _middle(line.rank), line.grade, "new")
        for line in right
        if line.result.chunk_id not in before
    ]
    return Markup("".join(parts) + "</svg>")  # noqa: S704 - numbers and our own words only


def explanation(pair: QueryPair, labels: Mapping[str, Label]) -> str:
    """What happened to the relevant result that moved most, component by component."""
    before, after = _ranks(pair.a), _ranks(pair.b)
    relevant = {
        outcome.results[rank - 1].chunk_id: grade
        for outcome, grades in ((pair.a, pair.grades_a), (pair.b, pair.grades_b))
        for rank, grade in grades.items()
        if grade > 0 and rank <= len(outcome.results)
    }
    if not relevant:
        return "neither run found anything relevant"
    beyond = 1 + max(len(pair.a.results), len(pair.b.results))
    name = max(
        sorted(relevant),
        key=lambda one: (
            abs(before.get(one, beyond) - after.get(one, beyond)),
            relevant[one],
        ),
    )
    if before.get(name) == after.get(name):
        return "the relevant results have not moved"
    title = f"“{labels[name].title}”" if name in labels and labels[name].title else name
    move = (
        f"{title} (grade {relevant[name]}) went from {_rank(before, name)} to {_rank(after, name)}"
    )
    moves = _component_moves(_find(pair.a, name), _find(pair.b, name))
    return f"{move}; {', '.join(moves)}" if moves else move


def _component_moves(a: RankedResult | None, b: RankedResult | None) -> list[str]:
    one, other = (dict(result.ranks) if result else {} for result in (a, b))
    if not one and not other:
        return []
    return [
        f"{name} {one.get(name, '—')} → {other.get(name, '—')}"
        for name in dict.fromkeys((*one, *other))
    ]


def _ranks(outcome: QueryOutcome) -> dict[str, int]:
    return {result.chunk_id: rank for rank, result in enumerate(outcome.results, 1)}


def _find(outcome: QueryOutcome, name: str) -> RankedResult | None:
    return next((result for result in outcome.results if result.chunk_id == name), None)


def _rank(ranks: Mapping[str, int], name: str) -> str:
    return f"rank {ranks[name]}" if name in ranks else "not found"


def _middle(rank: int) -> float:
    return ROW * (rank - 0.5)


def _way(line: RankedLine, there: RankedLine) -> str:
    return "same" if line.rank == there.rank else "up" if there.rank < line.rank else "down"


def _segment(x1: float, y1: float, x2: float, y2: float, grade: int | None, way: str) -> str:
    heavy = " hit" if grade else ""
    return f'<line class="{way}{heavy}" x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"/>'
