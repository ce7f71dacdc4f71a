"""How does a ``<table>`` in XML become rows of cells?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, chain

from assay import limits
from assay.ingest.nested_tables import unfolded
from assay.ingest.parsed import FileLocation
from assay.ingest.table_heads import head_rows
from assay.ingest.tables import Cell, Row, Table
from assay.ingest.xml_input import ElementRules, children, markup, one_line
from assay.ingest.xml_tree import Element


def xml_table(
    table: Element,
    reading: ElementRules,
    location: FileLocation,
    *,
    caption: str = "",
    notes: tuple[str, ...] = (),
) -> Table:
    """The table; without a marked head, the first row is one if there is reason to think so."""
    parts: dict[str, list[Row]] = {"thead": [], "tbody": [], "tfoot": []}
    cells = 0
    for part, elements in _parts(table):
        rows: list[Row] = []
        for element in elements:
            row = tuple(_cell(cell, reading, location) for cell in children(element, "td", "th"))
            rows.append(row)
            cells += len(row)
            if cells > limits.MAX_TABLE_CELLS:
                raise location.limit_error(f"a table of more than {limits.MAX_TABLE_CELLS:,} cells")
        parts[part] += _filled(rows)
    found = tuple(chain.from_iterable(parts.values()))
    head = len(parts["thead"]) or head_rows(found, table)
    rows, became = unfolded(found, location)
    inner = dict.fromkeys(_captions(table, reading))  # no cells, so they stand with the notes
    return Table(tuple(rows), sum(became[:head]), caption, (*inner, *notes))


def is_within_table(table: Element) -> bool:
    """Is this table nested in a cell of another one?"""
    return next(table.iterancestors("table"), None) is not None


def _parts(table: Element) -> Iterator[tuple[str, list[Element]]]:
    """The rows of each part; tables within cells are left to the cell's text."""
    yield "tbody", list(children(table, "tr"))
    for part in children(table, "thead", "tbody", "tfoot"):
        yield str(part.tag), list(children(part, "tr"))


def _filled(rows: list[Row]) -> list[Row]:
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


def _cell(cell: Element, reading: ElementRules, location: FileLocation) -> Cell:
    inner = [table for table in cell.iter("table") if _owner(table) is cell] if len(cell) else []
    if inner:
        return _holder(cell, inner, reading, location)
    return Cell(
        one_line(cell, reading),
        head=cell.tag == "th",
        columns=_span(cell.get("colspan")),
        rows=_span(cell.get("rowspan")),
        markup=markup(cell, reading) if len(cell) else "",
    )


def _owner(table: Element) -> Element | None:
    """The cell that a table stands in."""
    return next(table.iterancestors("td", "th"), None)


def _holder(
    cell: Element, inner: list[Element], reading: ElementRules, location: FileLocation
) -> Cell:
    """A cell with tables in it: the words beside them come first, then their rows."""
    apart = replace(reading, skip=reading.skip | {"table"})
    rows: list[Row] = []
    said = one_line(cell, apart)
    for table in inner:
        rows += xml_table(table, reading, location).rows
    beside = [(Cell(said, head=cell.tag == "th"),)] if said else []
    text = " ".join(one.text for row in (*beside, *rows) for one in row)
    columns, high = _span(cell.get("colspan")), _span(cell.get("rowspan"))
    if not text:
        return Cell("", columns=columns, rows=high)
    wide = max((sum(one.columns for one in row) for row in rows), default=1)
    named = [(replace(one, columns=wide),) for (one,) in beside]
    return Cell(text, columns=columns, rows=high, inside=(*named, *rows))


def _captions(table: Element, reading: ElementRules) -> Iterator[str]:
    """What stands above the tables in its cells: their own captions, or of their wraps there."""
    apart = replace(reading, skip=reading.skip | {"table"})
    for inner in table.iter("table"):
        if inner is table:
            continue
        wrap = next(inner.iterancestors("table-wrap", "td", "th"), None)
        for holder in (inner, wrap if wrap is not None and wrap.tag == "table-wrap" else None):
            if holder is not None and (found := one_line(holder.find("caption"), apart)):
                yield found
                break


def _span(value: str | None) -> int:
    """A span as browsers read it: 1 if it is not a number, and 1,000 at most."""
    if value is None or value == "1" or not re.fullmatch(r"\s*\d{1,6}\s*", value):
        return 1
    return min(max(int(value), 1), 1000)
