"""How does a table look in a terminal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.cli.console import emit_text, note, stdout_console, stdout_room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table as RichTable

    from assay.cli.fitting import Block
    from assay.render.tables import Table

VERDICT_STYLES = {"better": "green", "worse": "red", "equivalent": "cyan", "inconclusive": "yellow"}


def show_tables(tables: Sequence[Table], color: str) -> None:
    """Tables to stdout, their notes to stderr; what a narrow terminal has no room for is named."""
    from assay.cli.fitting import WIDE_GAP, fitted

    room = stdout_room()
    left_out: dict[str, None] = {}
    for table in tables:
        layout = fitted(table, room)
        for block in layout.blocks:
            console = stdout_console(color, at_least=block.width)
            console.print(_drawn(table, block, wide=block.gap == WIDE_GAP))
        if layout.below is not None:
            for row in table.rows:
                emit_text(f"  {row[0]}: {row[layout.below]}")
            emit_text("")
        left_out |= dict.fromkeys(layout.left_out)
        for line in table.notes:
            note(f"note: {line}")
    if left_out:
        note(f"note: no room for {', '.join(left_out)}: a wider terminal or --json has them")


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
