"""How does a ``<table>`` in XML become rows of cells?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, chain
from typing import TypeAlias

from assay import limits
from assay.ingest.parsed import FileLocation
from assay.ingest.tables import Cell, Table
from assay.ingest.xml_input import Element, ElementRules, children, markup, one_line

_Row: TypeAlias = tuple[Cell, ...]
_NUMBERS = re.compile(r"[\d.,%()±<>=/–−\s-]+")


def xml_table(
    table: Element,
    reading: ElementRules,
    location: FileLocation,
    *,
    caption: str = "",
    notes: tuple[str, ...] = (),
) -> Table:
    """The table; without a marked head, the first row is the head if it looks like one."""
    parts: dict[str, list[_Row]] = {"thead": [], "tbody": [], "tfoot": []}
    cells = 0
    for part, elements in _parts(table):
        rows: list[_Row] = []
        for element in elements:
            row = tuple(_cell(cell, reading) for cell in children(element, "td", "th"))
            rows.append(row)
            cells += len(row)
            if cells > limits.MAX_TABLE_CELLS:
                raise location.limit_error(f"a table of more than {limits.MAX_TABLE_CELLS:,} cells")
        parts[part] += _filled(rows)
    found = tuple(chain.from_iterable(parts.values()))
    return Table(found, len(parts["thead"]) or _guessed_head(found), caption, notes)


def is_within_table(table: Element) -> bool:
    """Is this table nested in a cell of another one?"""
    return next(table.iterancestors("table"), None) is not None


def _parts(table: Element) -> Iterator[tuple[str, list[Element]]]:
    """The rows of each part; tables within cells are left to the cell's text."""
    yield "tbody", list(children(table, "tr"))
    for part in children(table, "thead", "tbody", "tfoot"):
        yield str(part.tag), list(children(part, "tr"))


def _filled(rows: list[_Row]) -> list[_Row]:
    """The rows that hold text or span down; cells span only these, within their part."""
    kept = [any(cell.text or cell.rows > 1 for cell in row) for row in rows]
    before = [0, *accumulate(kept)]
    return [
        tuple(
            replace(cell, rows=before[min(at + cell.rows, len(rows))] - before[at])
            if cell.rows > 1
            else cell
            for cell in row
        )
        for at, row in enumerate(rows)
        if kept[at]
    ]


def _cell(cell: Element, reading: ElementRules) -> Cell:
    return Cell(
        one_line(cell, reading),
        head=cell.tag == "th",
        columns=_span(cell.get("colspan")),
        rows=_span(cell.get("rowspan")),
        markup=markup(cell, reading) if len(cell) else "",
    )


def _span(value: str | None) -> int:
    """A span as browsers read it: 1 if it is not a number, and 1,000 at most."""
    if value is None or value == "1" or not re.fullmatch(r"\s*\d{1,6}\s*", value):
        return 1
    return min(max(int(value), 1), 1000)


def _guessed_head(rows: tuple[_Row, ...]) -> int:
    """How many rows at the top name the columns, in a table without ``thead``."""
    marked = 0
    while marked < len(rows) - 1 and all(cell.head for cell in rows[marked]):
        marked += 1
    if marked or len(rows) < 2:
        return marked
    filled = [cell.text for cell in rows[0] if cell.text]
    return int(len(filled) > 1 and not any(_NUMBERS.fullmatch(text) for text in filled))
