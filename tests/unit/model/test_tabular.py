"""Do rows become frames and pages as they are?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import pandas as pd
import polars as pl
import pytest

from assay import extras
from assay.errors import MissingDependencyError, UsageError
from assay.model.tabular import SHOWN_ROWS, Records, Tabular


class Fruit(StrEnum):
    APPLE = "apple"


@dataclass(frozen=True, slots=True)
class Basket(Tabular):
    rows: Sequence[dict[str, object]]

    def records(self) -> Records:
        return Records.of(self.rows, "a <b>basket</b>", ["5 < 6"])


FULL = Basket(
    [
        {"id": "a", "fruit": Fruit.APPLE, "weight": 1, "tags": ("x", "y"), "ripe": True},
        {"id": "b", "weight": 0.5, "tags": ()},
        {"id": "c", "fruit": None, "more": "late"},
    ]
)


def test_a_frame_has_a_row_for_each_record_whatever_they_lack() -> None:
    frame = FULL.to_frame("polars")
    assert frame.columns == ["id", "fruit", "weight", "tags", "ripe", "more"]
    assert frame["weight"].to_list() == [1.0, 0.5, None]
    assert frame["fruit"].to_list() == ["apple", None, None]
    assert frame["tags"].to_list() == [["x", "y"], [], None]
    other = FULL.to_frame("pandas")
    assert isinstance(other, pd.DataFrame)
    assert other["id"].tolist() == ["a", "b", "c"]
    assert isinstance(FULL.to_frame(), pl.DataFrame)
    assert Basket([]).to_frame().height == 0


def test_print_shows_the_table_that_a_notebook_shows() -> None:
    assert str(FULL).splitlines() == [
        "a <b>basket</b>",
        "id  fruit  weight  tags  ripe  more",
        "a   apple  1       x, y  yes   —",
        "b   —      0.5000        —     —",
        "c   —      —       —     —     late",
        "5 < 6",
    ]
    long = str(Basket([{"id": "a\nb\x1b[31m", "text": "word " * 50}] * (SHOWN_ROWS + 2)))
    assert "a b\ufffd[31m  word" in long
    assert "2 more rows: see to_frame()" in long
    assert max(map(len, long.splitlines())) < 80


def test_the_library_is_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.model.tabular.is_here", lambda name: name == "pandas")
    assert isinstance(FULL.to_frame(), pd.DataFrame)
    with pytest.raises(UsageError, match="is not one of: polars, pandas"):
        FULL.to_frame("arrow")  # type: ignore[call-overload]


def test_where_neither_is_installed_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("assay.model.tabular.is_here", lambda name: False)
    monkeypatch.setattr(extras, "import_module", gone)
    with pytest.raises(MissingDependencyError, match="polars or pandas") as error:
        FULL.to_frame()
    assert "pip install" in str(error.value.hint)
    with pytest.raises(MissingDependencyError, match="the package pandas"):
        FULL.to_frame("pandas")


def test_nothing_of_a_text_is_markup() -> None:
    hostile = '<img src=x onerror="alert(1)">&'
    page = Basket([{hostile: hostile}])._repr_html_()
    assert "<img" not in page
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;" in page
    assert "<caption>a &lt;b&gt;basket&lt;/b&gt;</caption>" in page
    assert "<li>5 &lt; 6</li>" in page


def test_a_page_is_short_and_says_what_is_missing() -> None:
    page = Basket([{"text": "x" * 1_000}] * (SHOWN_ROWS + 3))._repr_html_()
    assert page.count("<tr>") == SHOWN_ROWS + 1
    assert "3 more rows" in page
    assert "x" * 301 not in page
    shown = FULL._repr_html_()
    assert "<td>0.5000</td>" in shown
    assert "<td>yes</td>" in shown
    assert "<td>x, y</td>" in shown
    assert "<td>—</td>" in shown
