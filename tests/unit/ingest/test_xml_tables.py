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
        ("<tr><td>5 mg</td><td>twice daily</td></tr><tr><td>10 mg</td><td>once</td></tr>", 0),
        ("<tr><td>Warfarin</td><td>Check INR</td></tr><tr><td>Digoxin</td><td>Less</td></tr>", 0),
        ("<tr><td>• fever</td><td>• rash</td></tr><tr><td>• cough</td><td>• itch</td></tr>", 0),
        ("<tr><td>Severe</td><td>not studied</td></tr><tr><td>Mild</td><td>5 mg</td></tr>", 0),
        ("<tr><td>Event</td><td>Drug</td></tr><tr><td>Rash</td><td>often</td></tr>", 1),
        ("<tr><td>Diet</td><td>Exercise</td></tr><tr><td>N = 5</td><td>N = 6</td></tr>", 1),
        ("<tr><td>Rash</td><td>A (n = 5)</td></tr><tr><td>x</td><td>seen</td></tr>", 1),
        ("<tr><td/><td>10 mg</td><td>b</td></tr><tr><td>x</td><td>y</td><td>z</td></tr>", 1),
        ("<tr><td><b>One</b></td><td><b>2 mg</b></td></tr><tr><td>x</td><td>y</td></tr>", 1),
    ],
)
def test_heads_are_guessed_where_none_is_marked(rows: str, head: int) -> None:
    assert table(f"<table>{rows}</table>").head_rows == head


def test_empty_rows_go() -> None:
    assert texts(table("<table><tr><td/></tr><tr><td>a</td></tr></table>")) == [["a"]]


def read(xml: str) -> tuple[str, str]:
    found = table(f"<table>{xml}</table>")
    return table_text(found, HERE), table_markup(found, HERE)


def inner(*rows: str) -> str:
    cells = ("".join(f"<td>{cell}</td>" for cell in row.split("|")) for row in rows)
    return f"<table><tbody>{''.join(f'<tr>{row}</tr>' for row in cells)}</tbody></table>"


def test_cells_of_a_table_within_a_cell_stay_apart_and_keep_their_row_and_column() -> None:
    schedule = inner("Week 0|150 mg", "Week 4|150 mg")
    text, html = read(
        "<thead><tr><th>Weight</th><th>Schedule</th><th>Route</th></tr></thead>"
        f"<tr><td>50 kg</td><td>{schedule}</td><td>IV</td></tr>"
        "<tr><td>more</td><td>not studied</td><td>-</td></tr>"
    )
    assert text == (
        "Weight | Schedule | Schedule | Route\n\n50 kg | Week 0 | 150 mg | IV\n"
        "50 kg | Week 4 | 150 mg | IV\nmore | not studied | | -"
    )
    assert html == (
        '<table><thead><tr><th>Weight</th><th colspan="2">Schedule</th><th>Route</th></tr></thead>'
        '<tbody><tr><td rowspan="2">50 kg</td><td>Week 0</td><td>150 mg</td>'
        '<td rowspan="2">IV</td></tr><tr><td>Week 4</td><td>150 mg</td></tr>'
        '<tr><td>more</td><td colspan="2">not studied</td><td>-</td></tr></tbody></table>'
    )


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        # words beside an inner table
        (
            f"<tr><td>a</td><td>Adults:{inner('Day 1|5 mg')}</td></tr>",
            "a | Adults:\na | Day 1 | 5 mg",
        ),
        # two in one row, one longer than the other
        (
            f"<tr><td>{inner('1|2', '3|4')}</td><td>{inner('5', '6', '7')}</td></tr>",
            "1 | 2 | 5\n3 | 4 | 6\n3 | 4 | 7",
        ),
        # two in one column, one wider than the other
        (
            f"<tr><td>a</td><td>{inner('1|2|3')}</td><td>x</td></tr>"
            f"<tr><td>b</td><td>{inner('4|5')}</td><td>y</td></tr>",
            "a | 1 | 2 | 3 | x\nb | 4 | 5 | | y",
        ),
        # within a table within a table
        (f"<tr><td>{inner('a|' + inner('b|c', 'd|e'))}</td></tr>", "a | b | c\na | d | e"),
        # an uneven one
        (f"<tr><td>{inner('1|2', '3')}</td><td>x</td></tr>", "1 | 2 | x\n3 | | x"),
        # below a cell that reaches down
        (
            f'<tr><td rowspan="2">a</td><td>1</td></tr><tr><td>{inner("2|3", "4|5")}</td></tr>',
            "a | 1\na | 2 | 3\na | 4 | 5",
        ),
        # an empty one
        ("<tr><td>a</td><td><table><tbody/></table></td></tr>", "a"),
    ],
)
def test_every_shape_of_inner_table(xml: str, text: str) -> None:
    assert read(xml)[0] == text


def test_a_head_may_hold_a_table() -> None:
    text, html = read(
        f"<thead><tr><th>Dose</th><th>{inner('A|B')}</th></tr></thead>"
        "<tr><td>5</td><td colspan='1'>x</td></tr>"
    )
    assert text == "Dose | A | B\n\n5 | x"
    assert html.startswith("<table><thead><tr><th>Dose</th><td>A</td><td>B</td></tr></thead>")


def test_an_inner_table_cannot_be_used_to_take_all_memory() -> None:
    wide = '<td colspan="1000" rowspan="1000">x</td>' * 200
    with pytest.raises(LimitError, match="cells"):
        read(f"<tr>{wide}<td>{inner('a')}</td></tr>")


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
