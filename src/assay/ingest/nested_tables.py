"""How does a table whose cells hold tables become one table?

The inner cells move into the outer rows: a cell beside an inner table of two rows spans both, and a
header above an inner table of two columns spans both. So every inner cell keeps a place of its own,
its outer row and its outer column, as text and as markup::

    Weight | Schedule                 Weight | Schedule | Schedule
    50 kg  | [Week 0 | 150 mg]   ->   50 kg  | Week 0   | 150 mg
           | [Week 4 | 150 mg]        50 kg  | Week 4   | 150 mg
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from assay import limits
from assay.ingest.parsed import FileLocation
from assay.ingest.tables import Cell, Row


@dataclass(frozen=True, slots=True)
class _Placed:
    """A cell with the row and column that it begins at."""

    row: int
    column: int
    cell: Cell


def unfolded(rows: Sequence[Row], location: FileLocation) -> tuple[list[Row], list[int]]:
    """The rows with inner tables moved into them, and how many of them each given row became."""
    if not any(cell.inside for row in rows for cell in row):
        return [*rows], [1] * len(rows)
    if sum(cell.columns for row in rows for cell in row) > limits.MAX_TABLE_CELLS:
        raise location.limit_error(f"a table of more than {limits.MAX_TABLE_CELLS:,} cells")
    placed = [
        replace(at, cell=replace(at.cell, rows=min(at.cell.rows, len(rows) - at.row)))
        for at in _places(rows)
    ]
    columns = max((at.column + at.cell.columns for at in placed), default=0)
    lefts = _starts(columns, ((at.column, at.cell.columns, _width(at.cell)) for at in placed))
    tops = _starts(len(rows), ((at.row, at.cell.rows, len(at.cell.inside)) for at in placed))
    found: list[list[tuple[int, Cell]]] = [[] for _ in range(tops[-1])]
    for at in placed:
        top, left = tops[at.row], lefts[at.column]
        wide = lefts[at.column + at.cell.columns] - left
        high = tops[at.row + at.cell.rows] - top
        for part in _parts(at.cell, wide, high):
            found[top + part.row].append((left + part.column, part.cell))
    ordered = [tuple(cell for _, cell in sorted(row, key=lambda one: one[0])) for row in found]
    return ordered, [below - above for above, below in pairwise(tops)]


def _places(rows: Iterable[Row]) -> list[_Placed]:
    """Where each cell begins, given those from above that reach down."""
    found: list[_Placed] = []
    reaching: dict[int, int] = {}  # column: rows that are still covered
    for number, row in enumerate(rows):
        taken = frozenset(reaching)
        reaching = {column: left - 1 for column, left in reaching.items() if left > 1}
        column = 0
        for cell in row:
            while column in taken:
                column += 1
            found.append(_Placed(number, column, cell))
            if cell.rows > 1:
                reaching |= dict.fromkeys(range(column, column + cell.columns), cell.rows - 1)
            column += cell.columns
    return found


def _starts(count: int, needs: Iterable[tuple[int, int, int]]) -> list[int]:
    """Where each row or column begins when those that hold a table are as large as it needs.

    Of several that a cell spans, the last one makes room.
    """
    sizes = [1] * count
    for at, spans, needed in sorted(needs, key=lambda need: need[1]):
        if needed > 1:
            lacking = needed - sum(sizes[at : at + spans])
            sizes[at + spans - 1] += max(lacking, 0)
    return [0, *accumulate(sizes)]


def _width(cell: Cell) -> int:
    return max((at.column + at.cell.columns for at in _places(cell.inside)), default=1)


def _parts(cell: Cell, wide: int, high: int) -> Iterator[_Placed]:
    """The cell itself, or the cells of its inner table, made to fill this many columns and rows."""
    if not cell.inside:
        yield _Placed(0, 0, replace(cell, columns=wide, rows=high))
        return
    width, height = _width(cell), len(cell.inside)
    ends = [0] * height  # of the cells of each inner row
    for at in _places(cell.inside):
        columns, rows = at.cell.columns, min(at.cell.rows, height - at.row)
        for row in range(at.row, at.row + rows):
            ends[row] = max(ends[row], at.column + columns)
        columns += wide - width if at.column + columns == width else 0
        rows += high - height if at.row + rows == height else 0
        yield replace(at, cell=replace(at.cell, columns=columns, rows=rows))
    for row, end in enumerate(ends):
        if end < width:
            below = high - height if row == height - 1 else 0
            yield _Placed(row, end, Cell("", columns=wide - end, rows=1 + below))
