"""Are articles read section by section, with tables, captions and what they cite left out?"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assay.errors import FormatError
from tests.unit.ingest.samples import ARTICLE, entries, only, parts


@pytest.fixture
def article(tmp_path: Path) -> Path:
    path = tmp_path / "a.nxml"
    path.write_text(ARTICLE, encoding="utf-8")
    return path


def test_sections_stand_in_reading_order(article: Path) -> None:
    assert parts(only("jats", article)) == [
        ("abstract", "Abstract", "Abstract\nAim\nTo learn.\nResults\nWe did."),
        ("introduction", "", "Itch is common and bad [3]."),
        ("eligibility", "Methods > Participants",
         "Methods\nParticipants\nAdults.\n- over 18\n- not pregnant"),
        ("methods", "Methods > Statistics", "Statistics\nWe used 10^6 draws."),
        ("results", "Results", "Results\nFewer itched (Table 1).\nAfter that it went on."),
        ("adverse_events", "Results > Table 1",
         "Table 1. Adverse events\nEvent | Group A | Group B\n\n"
         "Rash [note a] | 1 (2%)\nFever | 0 | 3\na any grade"),
        ("results", "Results > Figure 1", "Figure 1. Itch over time"),
        ("back_matter", "Acknowledgements", "Acknowledgements\nThanks."),
    ]  # fmt: skip


def test_the_table_has_markup_and_an_intent(article: Path) -> None:
    document = only("jats", article)
    (table,) = [section for section in document.sections if section.is_table]
    assert table.intent_hint == "ae"
    assert table.table_html.startswith("<table><caption>Table 1. Adverse events</caption><thead>")
    assert '<th rowspan="2">Event</th><th colspan="2">Group</th>' in table.table_html
    assert "<td>Rash<sup>a</sup></td>" in table.table_html


def test_ids_and_metadata(article: Path) -> None:
    document = only("jats", article)
    assert (document.doc_id, document.title, document.source, document.profile) == (
        "PMC77", "Drug A for itch", "jats", "imrad",
    )  # fmt: skip
    assert document.metadata == {
        "pmcid": "PMC77", "pmid": "5", "article_type": "research-article",
        "journal": "Made-up Letters", "year": 2020, "published_date": "2020",
        "keywords": ("itch",), "names": ("itch", "PMC77", "5"), "identifiers": ("PMC77", "5"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ids", "doc_id"),
    [
        ('<article-id pub-id-type="pmcid">PMC9</article-id>', "PMC9"),
        ('<article-id pub-id-type="pmid">9</article-id>', "PMID9"),
        ('<article-id pub-id-type="doi">10.1/a(b)</article-id>', "10.1-a-b-"),
        ("", "some-file"),
    ],
)
def test_the_best_id_is_taken(tmp_path: Path, ids: str, doc_id: str) -> None:
    path = tmp_path / "some file.xml"
    path.write_text(
        f"<article><front><article-meta>{ids}</article-meta></front><body><p>x</p></body></article>"
    )
    assert only("jats", path).doc_id == doc_id


def test_sets_of_articles_and_folders_are_read(tmp_path: Path) -> None:
    inner = ARTICLE[ARTICLE.index("<article ") :]
    second = inner.replace(">77<", ">78<")
    (tmp_path / "set.xml").write_text(f"<pmc-articleset>{inner}{second}</pmc-articleset>")
    (tmp_path / "more.nxml.gz").write_bytes(gzip.compress(inner.replace(">77<", ">79<").encode()))
    found = [entry.document.doc_id for entry in entries("jats", tmp_path)]
    assert found == ["PMC79", "PMC77", "PMC78"]


def test_floats_and_appendices_at_the_end_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        "<article><body><p>Alone.</p></body><back><app-group><app><title>Appendix 1</title>"
        "<p>More.</p></app></app-group></back><floats-group><fig><caption><p>Seen.</p></caption>"
        "</fig><table-wrap><label>T</label><caption><p>Doses given</p></caption><graphic/>"
        "</table-wrap></floats-group></article>"
    )
    assert parts(only("jats", path)) == [
        ("other", "", "Alone."),
        ("appendix", "Appendix 1", "Appendix 1\nMore."),
        ("other", "Figure", "Seen."),
        ("other", "T", "T. Doses given"),
    ]


def test_other_xml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<html/>")
    with pytest.raises(FormatError, match="a JATS article is expected, but the root is <html>"):
        entries("jats", path)


def test_nothing_that_stands_in_a_section_is_lost(tmp_path: Path) -> None:
    """Speech, footnotes and formulas are text; tables in boxes and captions of groups are kept."""
    path = tmp_path / "a.xml"
    path.write_text(
        "<article><body><sec><title>Methods</title><p>First.</p>"
        "<speech><speaker>Dr X</speaker><p>Hello.</p></speech>"
        "<disp-formula-group><disp-formula>y = 2x</disp-formula></disp-formula-group>"
        "<boxed-text><sec><title>Box</title><p>Inside.</p><table-wrap><label>Table 1</label>"
        "<table><tr><td>cell</td><td>5</td></tr></table></table-wrap></sec></boxed-text>"
        "<fn-group><fn><p>A footnote.</p></fn></fn-group>"
        "<fig-group><caption><p>Both arms</p></caption><fig><label>A</label></fig></fig-group>"
        "<ref-list><title>Read more</title></ref-list></sec></body></article>"
    )
    assert parts(only("jats", path)) == [
        ("methods", "Methods",
         "Methods\nFirst.\nDr X\nHello.\ny = 2x\nBox\nInside.\nA footnote."),
        ("methods", "Methods > Table 1", "Table 1\n\ncell | 5"),
        ("methods", "Methods > Figure", "Both arms"),
        ("methods", "Methods > A", "A"),
    ]  # fmt: skip


def _table(number: int) -> str:
    return (
        f"<table-wrap><label>Table {number}</label>"
        f"<table><tr><td>cell</td><td>{number}</td></tr></table></table-wrap>"
    )


@pytest.mark.parametrize(
    ("article", "expected"),
    [
        ("<body><sec><title>Methods</title><boxed-text><sec><title>Box</title><sec><title>In</title>"
         f"<p>Deep.</p>{_table(1)}</sec></sec></boxed-text></sec></body>",
         [("methods", "Methods", "Methods\nBox\nIn\nDeep."),
          ("methods", "Methods > Table 1", "Table 1\n\ncell | 1")]),
        ("<floats-group><boxed-text><label>Box 1</label><p>Key words.</p></boxed-text>"
         f"{_table(2)}</floats-group>",
         [("other", "", "Box 1 Key words."), ("other", "Table 2", "Table 2\n\ncell | 2")]),
        (f"<back><notes><p>Noted.</p>{_table(3)}<sec><p>More.</p>{_table(4)}</sec></notes></back>",
         [("back_matter", "Notes", "Notes\nNoted.\nMore."),
          ("back_matter", "Notes > Table 3", "Table 3\n\ncell | 3"),
          ("back_matter", "Notes > Table 4", "Table 4\n\ncell | 4")]),
        ("<front><article-meta><abstract><sec><title>Aim</title><p>To learn.</p>"
         f"{_table(5)}</sec></abstract></article-meta></front>",
         [("abstract", "Abstract", "Abstract\nAim\nTo learn."),
          ("abstract", "Abstract > Table 5", "Table 5\n\ncell | 5")]),
        ("<back><app-group><title>Appendices</title><p>Two.</p><app><title>A</title><sec><p>One.</p>"
         f"{_table(6)}</sec></app></app-group></back>",
         [("appendix", "Appendices", "Appendices\nTwo."),
          ("appendix", "Appendices > A", "A\nOne."),
          ("appendix", "Appendices > A > Table 6", "Table 6\n\ncell | 6")]),
    ],
)  # fmt: skip
def test_words_and_tables_are_read_wherever_they_stand(
    tmp_path: Path, article: str, expected: list[tuple[str, str, str]]
) -> None:
    path = tmp_path / "a.xml"
    path.write_text(f"<article>{article}</article>")
    assert parts(only("jats", path)) == expected


def test_a_table_in_a_cell_is_read_once_and_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        "<article><body><sec><title>Doses</title><p>Text.</p><table-wrap><label>Table 1</label>"
        "<table><thead><tr><th>Arm</th><th>Plan</th></tr></thead><tbody><tr><td>A</td><td>"
        "<table-wrap><caption><p>By week</p></caption><table><tr><td>Week 0</td><td>150 mg</td>"
        "</tr><tr><td>Week 4</td><td>75 mg</td></tr></table></table-wrap></td></tr></tbody></table>"
        "</table-wrap></sec></body></article>"
    )
    document = only("jats", path)
    assert [section.is_table for section in document.sections] == [False, True]
    assert document.text.endswith(
        "Table 1\nArm | Plan | Plan\n\nA | Week 0 | 150 mg\nA | Week 4 | 75 mg\nBy week"
    )


def test_the_caption_of_a_table_is_no_cell_of_it(tmp_path: Path) -> None:
    """A table in a cell gained a row with the caption of the outer table."""
    path = tmp_path / "a.xml"
    path.write_text(
        "<article><body><sec><title>Plan</title><table-wrap><label>Table 1</label>"
        "<caption><p>Schedule by group</p></caption><table><thead><tr><th>Group</th><th>Plan</th>"
        "</tr></thead><tbody><tr><td>C</td><td><table><tbody><tr><td>Day 1</td><td>7 mg</td></tr>"
        "<tr><td>Day 8</td><td>9 mg</td></tr></tbody></table></td></tr></tbody></table>"
        "</table-wrap></sec></body></article>"
    )
    assert only("jats", path).text.endswith(
        "Schedule by group\nGroup | Plan | Plan\n\nC | Day 1 | 7 mg\nC | Day 8 | 9 mg"
    )
