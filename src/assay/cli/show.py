"""How does a table look in a terminal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.cli.console import note, stdout_console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.report.tables import Table

VERDICT_STYLES = {"better": "green", "worse": "red", "equivalent": "cyan", "inconclusive": "yellow"}


def show_tables(tables: Sequence[Table], color: str) -> None:
    """Tables to stdout, their notes to stderr."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    console = stdout_console(color)
    for table in tables:
        # ids and run names are foreign text: Text keeps rich from reading markup in them
        rich = RichTable(
            box=box.SIMPLE_HEAD,
            title=Text(table.title) if table.title else None,
            title_justify="left",
        )
        for at, name in enumerate(table.columns):
            left = at in table.text_columns
            rich.add_column(
                Text(name), justify="left" if left else "right", no_wrap=not left or at == 0
            )
        for row in table.rows:
            rich.add_row(*(Text(cell, style=VERDICT_STYLES.get(cell, "")) for cell in row))
        console.print(rich)
        for line in table.notes:
            note(f"note: {line}")
