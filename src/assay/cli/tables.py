"""How does a table look in a terminal, and which of its columns fit?

Nothing is ever cut. What is too wide stands closer together at first; then columns that can be
done without are left out, the ruling goes below the table, and what is still too wide is shown in
several tables, each with the first column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.cli.console import emit_text, note, stdout_console, stdout_room

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from assay.render.tables import Table

VERDICT_STYLES = {"better": "green", "worse": "red", "equivalent": "cyan", "inconclusive": "yellow"}
WIDE_GAP, TIGHT_GAP = 3, 2  # characters between two columns
LEAST_TEXT = 10  # a column of running text is broken over lines, but not narrower than this


def show_tables(tables: Sequence[Table], color: str) -> None:
    """Tables to stdout, their notes to stderr; what a narrow terminal has no room for is named."""
    from assay.render.tables import footnote

    room = stdout_room()
    left_out: dict[str, None] = {}
    for table in tables:
        layout = fitted(table, room)
        for block in layout.blocks:
            console = stdout_console(color, at_least=block.width)
            console.print(_drawn(table, block, wide=block.gap == WIDE_GAP))
        if layout.below:
            for row in table.rows:
                emit_text(f"  {row[0]}: {_rulings(table, row, layout.below)}")
            emit_text("")
        left_out |= dict.fromkeys(layout.left_out)
        for line in table.notes:
            note(f"note: {line}")
    if (last := footnote(tables)) is not None:
        note(f"note: {last}")
    if left_out:
        note(f"note: no room for {', '.join(left_out)}: a wider terminal or --json has them")


def _rulings(table: Table, row: Sequence[str], below: Sequence[int]) -> str:
    """One ruling as it is; several each by its name."""
    if len(below) == 1:
        return row[below[0]]
    return ", ".join(f"{table.columns[at]} {row[at]}" for at in below)


def _drawn(table: Table, block: Block, *, wide: bool) -> RichTable:
    """One block; ids and names are foreign text, which Text keeps rich from reading markup in."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    rich = RichTable(
        box=box.SIMPLE_HEAD,
        title=Text(table.title) if table.title else None,
        title_justify="left",
        padding=(0, 1) if wide else (0, 1, 0, 0),
    )
    for at, width in zip(block.columns, block.widths, strict=True):
        rich.add_column(
            Text(table.columns[at]),
            justify="left" if at in table.text_columns else "right",
            no_wrap=at not in table.wrapped,
            overflow="fold",
            width=width,
        )
    for row in table.rows:
        cells = (row[at] for at in block.columns)
        rich.add_row(*(Text(cell, style=VERDICT_STYLES.get(cell, "")) for cell in cells))
    return rich


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
    """Blocks one below the other, the columns below them, and what found no room."""

    blocks: tuple[Block, ...]
    below: tuple[int, ...] = ()
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
        below = ()
    kept = [at for at in kept if at not in below]
    blocks = [_grown(block, full, room) for block in _split(kept, least, room)]
    return Layout(tuple(blocks), below, tuple(dict.fromkeys(left_out)))


def _widths(table: Table) -> list[int]:
    from rich.cells import cell_len

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
