"""Are tables of Markdown sections of their own, with the text as it was written?"""

from __future__ import annotations

from pathlib import Path

from assay.ingest import read_corpus
from assay.model.document import Document
from tests.unit.ingest.samples import only, parts

TABLE = "| Event | Drug | Placebo |\n|:---|---:|---|\n| Rash | 3 (6%) | 1 |\n| A \\| B | 2 |\n"


def read(folder: Path, text: str) -> Document:
    path = folder / "notes.md"
    path.write_text(text, encoding="utf-8")
    return only("text", path)


def test_a_table_parts_its_section(tmp_path: Path) -> None:
    text = f"# Itch\n\n## Safety\n\nBefore.\n\nTable 1. Adverse events\n\n{TABLE}\nAfter.\n"
    document = read(tmp_path, text)
    assert document.text == text
    assert [(label, heading, words.strip()) for label, heading, words in parts(document)] == [
        ("other", "Itch", "# Itch"),
        ("adverse_events", "Itch > Safety",
         "## Safety\n\nBefore.\n\nTable 1. Adverse events"),
        ("adverse_events", "Itch > Safety", TABLE.strip()),
        ("adverse_events", "Itch > Safety", "After."),
    ]  # fmt: skip
    table = document.sections[2]
    assert (table.is_table, table.intent_hint) == (True, "ae")
    assert "<th>Event</th><th>Drug</th>" in table.table_html
    assert "<th>A | B</th><td>2</td><td></td>" in table.table_html


def test_a_text_that_is_a_table_is_one(tmp_path: Path) -> None:
    ((_, (chunk,)),) = read_corpus(_written(tmp_path, TABLE))
    assert chunk.is_table


def test_bars_without_dashes_and_code_are_no_tables(tmp_path: Path) -> None:
    text = f"a | b\nc | d\n\n```\n{TABLE}```\n"
    assert read(tmp_path, text).sections == ()


def test_a_rule_below_a_line_is_no_table(tmp_path: Path) -> None:
    assert not any(one.is_table for one in read(tmp_path, "a | b\n---\n\nwords\n").sections)


def _written(folder: Path, text: str) -> Path:
    path = folder / "t.md"
    path.write_text(text, encoding="utf-8")
    return path
