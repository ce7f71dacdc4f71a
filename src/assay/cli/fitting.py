"""Which columns of a table fit into a terminal, and how wide may each be?

Nothing is ever cut. What is too wide stands closer together at first; then columns that can be
done without are left out, the ruling goes below the table, and what is still too wide is shown in
several tables, each with the first column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from assay.render.tables import Table

WIDE_GAP, TIGHT_GAP = 3, 2  # characters between two columns
LEAST_TEXT = 10  # a column of running text is broken over lines, but not narrower than this


@dataclass(frozen=True, slots=True)
class Block:
    """Columns that stand side by side, with their widths."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]
    gap: int

    @property
    def width(self) -> int:
        """Characters from edge to edge."""
        return sum(self.widths) + self.gap * len(self.widths) + 1


@dataclass(frozen=True, slots=True)
class Layout:
    """Blocks one below the other, the column below them, and what found no room."""

    blocks: tuple[Block, ...]
    below: int | None = None
    left_out: tuple[str, ...] = ()


def fitted(table: Table, room: int | None) -> Layout:
    """The layout for so many characters; ``None`` is room without end."""
    full = _widths(table)
    every = tuple(range(len(table.columns)))
    if room is None or _block(every, full, WIDE_GAP).width <= room:
        return Layout((_block(every, full, WIDE_GAP),))
    least = [min(w, LEAST_TEXT) if at in table.wrapped else w for at, w in enumerate(full)]
    kept = list(every)
    left_out = []
    for at in table.optional:
        if _block(kept, least, TIGHT_GAP).width <= room:
            break
        kept.remove(at)
        left_out.append(table.columns[at])
    below = table.below
    if _block(kept, least, TIGHT_GAP).width <= room:
        below = None
    elif below is not None:
        kept.remove(below)
    blocks = [_grown(block, full, room) for block in _split(kept, least, room)]
    return Layout(tuple(blocks), below, tuple(dict.fromkeys(left_out)))


def _widths(table: Table) -> list[int]:
    columns = zip(*(table.columns, *table.rows), strict=True)
    return [max(map(cell_len, cells)) for cells in columns]


def _block(columns: Sequence[int], widths: Sequence[int], gap: int) -> Block:
    return Block(tuple(columns), tuple(widths[at] for at in columns), gap)


def _split(columns: Sequence[int], widths: Sequence[int], room: int) -> list[Block]:
    """As few blocks as hold all columns; the first column begins each of them."""
    first, *others = columns
    blocks = []
    held = [first]
    for at in others:
        if len(held) > 1 and _block([*held, at], widths, TIGHT_GAP).width > room:
            blocks.append(_block(held, widths, TIGHT_GAP))
            held = [first]
        held.append(at)
    return [*blocks, _block(held, widths, TIGHT_GAP)]


def _grown(block: Block, full: Sequence[int], room: int) -> Block:
    """The block with its spare room given to the columns that need it, the narrowest first."""
    widths = list(block.widths)
    for _ in range(room - block.width):
        short = [at for at, column in enumerate(block.columns) if widths[at] < full[column]]
        if not short:
            break
        widths[min(short, key=lambda at: widths[at])] += 1
    return Block(block.columns, tuple(widths), block.gap)
