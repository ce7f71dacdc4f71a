"""How does a ``<table>`` in XML become rows of cells?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay import limits
from assay.ingest.entry import Place
from assay.ingest.tables import Cell, Table
from assay.ingest.xml_input import Element, Reading, markup, one_line

_NUMBERS = re.compile(r"[\d.,%()±<>=/–−\s-]+")


def xml_table(
    table: Element,
    reading: Reading,
    place: Place,
    *,
    caption: str = "",
    notes: tuple[str, ...] = (),
) -> Table:
    """The table; where nothing is marked as its head, the first row is, if it looks like one."""
    heads: list[tuple[Cell, ...]] = []
    body: list[tuple[Cell, ...]] = []
    feet: list[tuple[Cell, ...]] = []
    cells = 0
    for part, row in _rows(table):
        found = tuple(_cell(cell, reading) for cell in row if cell.tag in {"td", "th"})
        cells += len(found)
        if cells > limits.MAX_TABLE_CELLS:
            raise place.too_large(f"a table of more than {limits.MAX_TABLE_CELLS:,} cells")
        if any(cell.text for cell in found):
            (heads if part == "thead" else feet if part == "tfoot" else body).append(found)
    rows = (*heads, *body, *feet)
    return Table(rows, len(heads) or _guessed_head(rows), caption, notes)


def _rows(table: Element) -> Iterator[tuple[str, Element]]:
    """Each row with the part it stands in; tables within cells are left to the cell's text."""
    for child in table:
        if child.tag == "tr":
            yield "tbody", child
        elif child.tag in {"thead", "tbody", "tfoot"}:
            yield from ((child.tag, row) for row in child if row.tag == "tr")


def _cell(cell: Element, reading: Reading) -> Cell:
    return Cell(
        one_line(cell, reading),
        head=cell.tag == "th",
        columns=_span(cell.get("colspan")),
        rows=_span(cell.get("rowspan")),
        markup=markup(cell, reading) if len(cell) else "",
    )


def _span(value: str | None) -> int:
    """As browsers read it: what is no number is 1, and nothing spans more than 1,000."""
    if value is None or value == "1" or not re.fullmatch(r"\s*\d{1,6}\s*", value):
        return 1
    return min(max(int(value), 1), 1000)


def _guessed_head(rows: tuple[tuple[Cell, ...], ...]) -> int:
    """How many rows at the top name the columns, in a table without ``thead``."""
    marked = 0
    while marked < len(rows) - 1 and all(cell.head for cell in rows[marked]):
        marked += 1
    if marked or len(rows) < 2:
        return marked
    filled = [cell.text for cell in rows[0] if cell.text]
    return int(len(filled) > 1 and not any(_NUMBERS.fullmatch(text) for text in filled))
