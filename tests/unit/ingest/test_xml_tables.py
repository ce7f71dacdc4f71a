"""Are the rows, heads and spans of XML tables found?"""

from __future__ import annotations

import pytest

from assay import limits
from assay.errors import LimitError
from assay.ingest.parsed import FileLocation
from assay.ingest.tables import Table, table_markup, table_text
from assay.ingest.xml_input import ElementRules, parse_xml
from assay.ingest.xml_tables import xml_table

HERE = FileLocation("a.xml")


def table(xml: str) -> Table:
    return xml_table(parse_xml(xml.encode(), HERE), ElementRules(), HERE)


def texts(found: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in found.rows]


def test_parts_come_in_reading_order() -> None:
    found = table(
        "<table><tfoot><tr><td>sum</td></tr></tfoot><tbody><tr><td>b</td></tr></tbody>"
        "<thead><tr><th>h</th></tr></thead></table>"
    )
    assert texts(found) == [["h"], ["b"], ["sum"]]
    assert found.head_rows == 1


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        ("<tr><td>Age</td><td>Dose</td></tr><tr><td>adult</td><td>5 mg</td></tr>", 1),
        ("<tr><td>Supine</td><td>7.4</td></tr><tr><td>Standing</td><td>6.0</td></tr>", 0),
        ("<tr><th>A</th></tr><tr><th>B</th></tr><tr><td>1</td></tr>", 2),
        ("<tr><td>alone</td><td>here</td></tr>", 0),
        ("<tr><td>One cell</td><td/></tr><tr><td>a</td><td>b</td></tr>", 0),
    ],
)
def test_heads_are_guessed_where_none_is_marked(rows: str, head: int) -> None:
    assert table(f"<table>{rows}</table>").head_rows == head


def test_empty_rows_go_and_inner_tables_stay_in_their_cell() -> None:
    found = table(
        "<table><tr><td/></tr><tr><td>a<table><tr><td>in</td></tr></table></td></tr></table>"
    )
    assert texts(found) == [["ain"]]


@pytest.mark.parametrize(
    ("span", "columns"), [("2", 2), ("0", 1), ("-3", 1), ("x", 1), ("999999", 1000), ("9" * 50, 1)]
)
def test_spans_are_read_as_browsers_do(span: str, columns: int) -> None:
    found = table(f'<table><tr><td colspan="{span}">a</td></tr></table>')
    assert found.rows[0][0].columns == columns


def test_cells_have_a_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_TABLE_CELLS", 3)
    with pytest.raises(LimitError, match="cells"):
        table("<table>" + "<tr><td>a</td><td>b</td></tr>" * 2 + "</table>")


def test_what_spans_rows_ends_with_its_part_and_passes_over_rows_that_are_dropped() -> None:
    """Else the cells of the next row would stand in the wrong columns."""
    found = table(
        "<table><thead><tr><th rowspan='3'>Arm</th><th>n</th></tr><tr><th/></tr></thead>"
        "<tbody><tr><td rowspan='2'>A</td><td>1</td></tr><tr><td/></tr>"
        "<tr><td>B</td><td>2</td></tr></tbody></table>"
    )
    assert table_text(found, HERE) == "Arm | n\n\nA | 1\nB | 2"
    assert "rowspan" not in table_markup(found, HERE)


def test_an_empty_cell_that_reaches_below_keeps_its_column() -> None:
    found = table("<table><tr><td rowspan='2'/><td/></tr><tr><td>x</td></tr></table>")
    assert table_text(found, HERE) == "| x"
