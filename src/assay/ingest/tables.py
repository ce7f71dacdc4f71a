"""How does a table read as text and as markup, and what does it show?

As text, the caption and one line of column headers come first: the head. A blank line ends it. One
line per row follows, then the notes::

    Table 2. Adverse events
    Event | Placebo (n=50) | Drug (n=52)

    Nausea | 3 (6%) | 11 (21%)
    a: any grade

The chunker splits a long table between rows and repeats its head, so the head must be recognisable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from assay import limits
from assay.ingest.parsed import FileLocation
from assay.ingest.table_html import sanitised

JOIN = " | "
HEAD_END = "\n\n"
_Hanging: TypeAlias = dict[int, tuple[int, str | None]]  # column: rows still covered, and by what


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, its safe markup (if it differs from the text), and what it spans.

    While a table is read, ``inside`` holds the rows of a table in the cell (``nested_tables.py``).
    """

    text: str
    head: bool = False
    columns: int = 1
    rows: int = 1
    markup: str = ""
    inside: tuple[Row, ...] = ()


Row: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, the first ``head_rows`` of which name the columns."""

    rows: tuple[Row, ...]
    head_rows: int = 0
    caption: str = ""
    notes: tuple[str, ...] = ()


def simple_table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()
) -> Table:
    """A table without spans, from plain words; the first cell of each row names it."""
    body = [tuple(Cell(text, head=not column) for column, text in enumerate(row)) for row in rows]
    return Table((tuple(Cell(text, head=True) for text in header), *body), 1, caption, tuple(notes))


def table_text(table: Table, location: FileLocation) -> str:
    """The readable text of the table; see the module's docstring."""
    grid = _grid(table, location)
    head = [table.caption, _line(_headers(grid[: table.head_rows]))]
    body = [_line(row) for row in grid[table.head_rows :]]
    parts = ("\n".join(filter(None, head)), "\n".join(filter(None, [*body, *table.notes])))
    return HEAD_END.join(filter(None, parts))


def table_markup(table: Table, location: FileLocation) -> str:
    """The table as sanitised HTML; notes are left to the text."""
    head = "".join(_row_markup(row) for row in table.rows[: table.head_rows])
    body = "".join(_row_markup(row) for row in table.rows[table.head_rows :])
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    thead = f"<thead>{head}</thead>" if head else ""
    return sanitised(f"<table>{caption}{thead}<tbody>{body}</tbody></table>", location)


def table_kind(table: Table) -> str:
    """The section label that caption and header suggest, or an empty text."""
    header = [cell.text for row in table.rows[: table.head_rows] for cell in row]
    return kind_of_table(table.caption, "\n".join(header))


def _grid(table: Table, location: FileLocation) -> list[list[str | None]]:
    """The cells laid out: a cell's text in each row it covers and, in the head, in each column.

    ``None`` marks a position below the head that a cell to the left covers.
    """
    grid: list[list[str | None]] = []
    below: _Hanging = {}
    total = 0
    for number, cells in enumerate(table.rows):
        hanging, below = below, {}
        row: list[str | None] = []
        queue = list(reversed(cells))
        while queue or hanging:
            column = len(row)
            if column in hanging:
                left, text = hanging.pop(column)
                row.append(text)
                if left > 1:
                    below[column] = (left - 1, text)
            elif queue:
                _lay(queue.pop(), row, hanging, below, head=number < table.head_rows)
            else:
                row.append(None)
            if total + len(row) > limits.MAX_TABLE_CELLS:
                raise location.limit_error(f"a table of more than {limits.MAX_TABLE_CELLS:,} cells")
        total += len(row)
        grid.append(row)
    return grid


def _lay(
    cell: Cell, row: list[str | None], hanging: _Hanging, below: _Hanging, *, head: bool
) -> None:
    """Put a cell into the row; a wide one replaces what reaches down from above."""
    for offset in range(cell.columns):
        text = cell.text if head or not offset else None
        hanging.pop(len(row), None)
        if cell.rows > 1:
            below[len(row)] = (cell.rows - 1, text)
        row.append(text)


def _headers(head: list[list[str | None]]) -> list[str | None]:
    """One header per column: the cells above it, from the top, without repetition."""
    width = max((len(row) for row in head), default=0)
    headers: list[str | None] = []
    for column in range(width):
        stack = [row[column] for row in head if column < len(row)]
        headers.append(" ".join(dict.fromkeys(text for text in stack if text)))
    return headers


def _line(row: list[str | None]) -> str:
    """The cells separated by bars; empty cells at the end are dropped."""
    return JOIN.join(text or "" for text in row).replace("  ", " ").lstrip().rstrip(" |")


def _row_markup(row: Row) -> str:
    return f"<tr>{''.join(_cell_markup(cell) for cell in row)}</tr>"


def _cell_markup(cell: Cell) -> str:
    tag = "th" if cell.head else "td"
    columns = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
    rows = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    return f"<{tag}{columns}{rows}>{cell.markup or escape(cell.text)}</{tag}>"


LOOKED_AT = 2_000  # characters of caption or header: matching takes time
# a time before or after a dose is no dose, nor are gene dosage and low-dose arms
DOSE = (
    r"(?<!\w-)(?<!\w–)(?<!\bpre )(?<!\bpost )(?<!after )(?<!before )(?<!gene )\bdos(?:es?|age|ing)"
)
_CAPTION = (
    ("adverse_events", r"adverse|side[- ]effect|toxicit|tolerab|\bharms?\b"
     r"|\bsafety\b(?! (?:analysis )?(?:population|set|sample|cohort|data ?set))"  # who, not what
     r"|(?-i:\bS?AEs?\b)|treatment-emergent|complication"),
    ("eligibility", r"(in|ex)clusion criteria|eligib"),
    # Changes from baseline, or comparisons with it, are no longer about the start.
    ("baseline", r"demograph|characteristics|\A(?!.*(?:\bchange|from (?:the )?baseline|\bafter\b"
     r"|baseline (?:and(?! (?:clinical|operative|medical|social|laboratory|disease))|to)\b"
     r"|follow-?up|\bpost(?!-?(?:menopaus|trauma|natal))|improve|over time)).*\bbaseline"),
    ("dosage", rf"{DOSE}\b(?!.*(respon|outcome|effect))|titration"),
    ("outcomes", r"outcome|end-?point|efficacy|effects? of|respon[sd]|survival|changes? "
     r"|comparison of|results of|mean difference|odds ratio|hazard ratio|relative risk"),
)  # fmt: skip
_HEADER = (
    ("adverse_events", r"adverse (event|effect|reaction)|side[- ]effect|toxicit|grade [1-5]"
     r"|any grade|(?-i:\bAEs?\b)|preferred term|system organ class"),
    ("outcomes", r"\bp[- ]?values?\b|95 ?% ?ci|confidence interval|hazard ratio|odds ratio|outcome"
     r"|difference|(?-i:\b(HR|OR|RR)\b)"),
    ("dosage", rf"\b(starting|maximum|daily|recommended) dos(e|age)\b|^dos(e|age)\b(?!-)"
     rf"|{DOSE} \("),
    ("baseline", r"characteristic|demographic|\bbaseline variable"),
)  # fmt: skip
_FLAGS = re.IGNORECASE | re.MULTILINE
_CAPTIONS = tuple((kind, re.compile(pattern, _FLAGS)) for kind, pattern in _CAPTION)
_HEADERS = tuple((kind, re.compile(pattern, _FLAGS)) for kind, pattern in _HEADER)


def kind_of_table(caption: str, header: str) -> str:
    """The section label that fits the table, or an empty text; the caption is tried first.

    ``header`` holds one header cell per line.
    """
    for patterns, text in ((_CAPTIONS, caption[:LOOKED_AT]), (_HEADERS, header[:LOOKED_AT])):
        for kind, pattern in patterns:
            if pattern.search(text):
                return kind
    return ""
