"""Does table markup lose everything that could do harm, and keep what it shows?"""

from __future__ import annotations

import pytest

from assay import limits
from assay.errors import FormatError, LimitError
from assay.ingest.parsed import FileLocation
from assay.ingest.table_html import sanitised

HERE = FileLocation("c.jsonl", 3)


def clean(html: str) -> str:
    return sanitised(html, HERE)


def test_what_a_table_shows_stays() -> None:
    html = (
        "<table><caption>C</caption><thead><tr>"
        '<th scope="col" colspan="2">H</th></tr></thead>'
        '<tbody><tr><td rowspan="2">10<sup>6</sup></td><td>CO<sub>2</sub><br>x</td></tr></tbody>'
        "</table>"
    )
    assert clean(html) == html


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)">',
        "<svg onload=alert(1)><script>alert(1)</script></svg>",
        '<div style="background:url(javascript:alert(1))">',
        "<iframe src=//evil></iframe>",
        "<style>td{background:url(//evil)}</style>",
        "<math><mtext></mtext><mglyph><style><img src onerror=alert(1)>",
        "<form action=//evil><input></form>",
        "<base href=//evil><meta http-equiv=refresh content=0>",
        "<!--[if IE]><script>alert(1)</script><![endif]-->",
        "<scr<script>ipt>alert(1)</script>",
        "<object data=//evil></object><embed src=//evil>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    ],
)
def test_attacks_go(attack: str) -> None:
    for html in (
        f"<table><tr><td>before{attack}after</td></tr></table>",
        f"<table>{attack}<tr><td>x</td></tr></table>",
    ):
        left = clean(html).lower()
        for trace in ("script", "onerror", "onload", "javascript", "svg", "style", "url(", "evil",
                      "iframe", "form", "meta", "base", "img", "href", "src"):  # fmt: skip
            assert trace not in left, left


@pytest.mark.parametrize(
    "attribute",
    ['onclick="x()"', 'style="background:url(x)"', 'class="x"', 'id="x"', 'colspan="9e9"',
     'colspan="0"', 'rowspan="-1"', 'colspan="99999"', 'scope="javascript:x"', "width=5"],
)  # fmt: skip
def test_only_known_attributes_with_sane_values_stay(attribute: str) -> None:
    html = f"<table><tbody><tr><td {attribute}>x</td></tr></tbody></table>"
    assert clean(html) == "<table><tbody><tr><td>x</td></tr></tbody></table>"


def test_what_holds_no_table_is_nothing() -> None:
    assert clean("<p>hello</p>") == ""
    assert clean("plain") == ""


def test_unclosed_tables_are_closed() -> None:
    assert clean("<table><tr><td>a<td>b") == (
        "<table><tbody><tr><td>a</td><td>b</td></tr></tbody></table>"
    )


def test_size_is_bounded() -> None:
    with pytest.raises(LimitError, match=r"c\.jsonl:3: a table of more than"):
        clean("<table>" + "x" * limits.MAX_TABLE_HTML_CHARS)


def test_cleaning_twice_changes_nothing() -> None:
    once = clean("<table><tr><td>a & b < c<td colspan=2>&lt;script&gt;</table>")
    assert clean(once) == once
    assert "&lt;script&gt;" in once


def test_nesting_is_bounded() -> None:
    nested = "<table><tr><td>" * limits.MAX_TABLE_NESTING
    assert clean(nested).count("<table>") == limits.MAX_TABLE_NESTING
    with pytest.raises(FormatError, match=r"c\.jsonl:3: tables nested more than 4 deep"):
        clean(nested + "<table><tr><td>")
