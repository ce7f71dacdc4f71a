"""Do tables read well as text, and keep their spans as markup?"""

from __future__ import annotations

import pytest

from assay import limits
from assay.errors import LimitError
from assay.ingest.parsed import FileLocation
from assay.ingest.tables import (
    Cell,
    Table,
    kind_of_table,
    simple_table,
    table_kind,
    table_markup,
    table_text,
)

HERE = FileLocation("c", 1)


def test_caption_header_rows_notes() -> None:
    rows = [["Rash", "1", ""], ["Fever", "", "3"]]
    table = simple_table("Table 2. Harms", ["Event", "A", "B"], rows, ["a: any"])
    assert table_text(table, HERE) == (
        "Table 2. Harms\nEvent | A | B\n\nRash | 1\nFever | | 3\na: any"
    )
    assert table_kind(table) == "adverse_events"


def test_spans_are_laid_out() -> None:
    head = (
        (Cell("Event", True, rows=2), Cell("Group", True, columns=2)),
        (Cell("A", True), Cell("B", True)),
    )
    body = (
        (Cell("Skin", columns=3),),
        (Cell("Rash", rows=2), Cell("1"), Cell("2")),
        (Cell("3"), Cell("4")),
    )
    text = table_text(Table((*head, *body), 2), HERE)
    assert text == "Event | Group A | Group B\n\nSkin\nRash | 1 | 2\nRash | 3 | 4"
    markup = table_markup(Table((*head, *body), 2), HERE)
    assert '<th rowspan="2">Event</th><th colspan="2">Group</th>' in markup
    assert '<td colspan="3">Skin</td>' in markup


def test_a_table_of_headers_only_still_says_them() -> None:
    assert table_text(simple_table("", ["A", "B"], []), HERE) == "A | B"
    assert table_text(Table(()), HERE) == ""


def test_words_are_escaped_in_markup() -> None:
    markup = table_markup(simple_table("<b>", ["<script>"], [["a & b"]]), HERE)
    assert "<script>" not in markup
    assert "<caption>&lt;b&gt;</caption>" in markup
    assert "a &amp; b" in markup


def test_spans_cannot_blow_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_TABLE_CELLS", 5000)
    wide = (Cell("x", columns=1000, rows=1000),)
    with pytest.raises(LimitError, match="cells"):
        table_text(Table((wide, *((Cell("y"),) for _ in range(1000)))), HERE)


@pytest.mark.parametrize(
    ("caption", "header", "kind"),
    [
        ("Table 2. Pre-dose morning flow (L/min)", "Week\nA\nB", ""),
        ("Glucose absorption: post-dose", "", ""),
        ("Plasma levels", "Time after dose (h)\n5 mg", ""),
        ("Plasma levels", "Pre-dose (ng/mL)", ""),
        ("Recommended dose by weight", "", "dosage"),
        ("", "Weight\nDose (mg)", "dosage"),
        ("Dosing schedule", "", "dosage"),
    ],
)
def test_a_time_before_or_after_a_dose_is_no_dosage(caption: str, header: str, kind: str) -> None:
    assert kind_of_table(caption, header) == kind
