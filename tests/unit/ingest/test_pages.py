"""Are the main part, the headings and the tables of a web page read, and nothing around them?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import FormatError
from assay.ingest import detect
from tests.unit.ingest.samples import PAGE, entries, only, parts


def page(folder: Path, body: str, name: str = "itch.html") -> Path:
    path = folder / name
    path.write_text(f"<!DOCTYPE html><html><body>{body}</body></html>", encoding="utf-8")
    return path


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "itch.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_headings_open_sections_and_menus_are_no_text(whole: Path) -> None:
    assert detect(whole) == "html"
    assert parts(only("html", whole)) == [
        ("other", "Itch",
         "Itch\nIntro bold.\nA count of 10^6 cells\non two lines\nloose text\n- one\n- two"),
        ("adverse_events", "Itch > Adverse reactions > Table",
         "Adverse events\nEvent | A\n\nRash | 3 (2%)"),
        ("adverse_events", "Itch > Adverse reactions > Deaths",
         "Adverse reactions\nDeaths\nNone."),
        ("dosage", "Itch > Dosage", "Dosage\n150 mg."),
    ]  # fmt: skip


def test_what_a_page_says_of_itself_is_metadata(whole: Path) -> None:
    document = only("html", whole)
    assert (document.doc_id, document.title) == ("itch", "Itch")
    assert document.metadata == {
        "pmid": "55", "doi": "10.1/itch", "published_date": "2019-03-02", "year": 2019,
        "authors": ("Roe, A", "Poe, B"), "keywords": ("itch", "skin"),
        "names": ("itch", "skin", "55", "10.1/itch"), "identifiers": ("55", "10.1/itch"),
    }  # fmt: skip


def test_a_page_without_a_marked_part_is_read_whole(tmp_path: Path) -> None:
    document = only("html", page(tmp_path, "<nav>Home</nav>Words<p>and more"))
    assert document.text == "Words\nand more"


def test_tables_that_place_parts_of_a_page_are_no_data(tmp_path: Path) -> None:
    body = "<table><tr><td><h2>Dosage</h2><p>150 mg.</p><td>menu</table>"
    assert parts(only("html", page(tmp_path, body)))[0][:2] == ("dosage", "Dosage")


def test_other_encodings_are_read_as_declared(tmp_path: Path) -> None:
    path = tmp_path / "old.htm"
    head = '<html><head><meta charset="iso-8859-1"></head><body><p>'
    path.write_bytes(head.encode() + "fièvre".encode("latin-1") + b"</body></html>")
    assert only("html", path).text == "fièvre"


def test_characters_that_are_none_are_dropped(tmp_path: Path) -> None:
    assert only("html", page(tmp_path, "a&#1;b \x0bc<p>d&#2;e")).text == "ab c\nde"


def test_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.html"
    path.write_text("")
    with pytest.raises(FormatError, match="not HTML"):
        entries("html", path)


def test_a_short_main_part_does_not_hide_the_rest(tmp_path: Path) -> None:
    around = "<h1>Dosage</h1><p>A warning about pregnancy.</p><nav>Menu</nav>"
    short = only("html", page(tmp_path, f"{around}<main><p>More.</p></main>"))
    assert short.text == "Dosage\nA warning about pregnancy.\nMore."
    long = only("html", page(tmp_path, f"{around}<main><p>{'Much more. ' * 20}</p></main>"))
    assert "warning" not in long.text
