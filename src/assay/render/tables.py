"""How does a table read as Markdown, as CSV, or in aligned columns?"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.measures.elsewhere import gain_note, gain_note_of
from assay.render.escape import csv_cell, markdown_cell

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as people read them. ``text_columns`` are aligned left, all others right.

    For narrow terminals: ``optional`` columns are left out one by one in this order, ``wrapped``
    ones hold running text that may be broken over lines, and ``below`` are rulings that may go
    below the table, together.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    text_columns: frozenset[int] = frozenset({0})
    notes: tuple[str, ...] = field(default=())
    optional: tuple[int, ...] = ()
    wrapped: frozenset[int] = frozenset()
    below: tuple[int, ...] = ()


def markdown(tables: Sequence[Table]) -> str:
    """GitHub's tables, one after the other, notes as lists."""
    return "\n\n".join(_markdown(table) for table in tables)


def footnoted(text: str) -> str:
    """Markdown with a last line on the gain of nDCG, where a table of it shows that measure."""
    note = gain_note_of(text)
    line = "" if note is None else f"- {markdown_cell(note)}"
    return text if line in text else f"{text.rstrip()}\n\n{line}\n"


def footnote(tables: Sequence[Table]) -> str | None:
    """The same line for tables that are shown otherwise."""
    return gain_note(
        cell for table in tables for cell in (*table.columns, *(row[0] for row in table.rows))
    )


def _markdown(table: Table) -> str:
    lines = [f"**{markdown_cell(table.title)}**", ""] if table.title else []
    lines.append(_line(table.columns))
    marks = [":--" if at in table.text_columns else "--:" for at in range(len(table.columns))]
    lines.append("| " + " | ".join(marks) + " |")
    lines += [_line(row) for row in table.rows]
    if table.notes:
        lines += ["", *(f"- {markdown_cell(note)}" for note in table.notes)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(markdown_cell(cell) for cell in cells) + " |"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side; the last one is as long as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def comma_separated(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """CSV with Unix line ends; cells that look like formulas are defused."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return out.getvalue().rstrip("\n")
