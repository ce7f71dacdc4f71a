"""Do headings of text and Markdown become sections, and the text stay as it is?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import FormatError
from assay.ingest import detect
from tests.unit.ingest.samples import entries, only, parts

MARKDOWN = """Before all.

# Drug A

Intro words.

## Methods ##

```sh
# not a heading
```

### Patients

Adults.

Results
-------

Better.

| a | b |
| --- | --- |
| 1 | 2 |
"""

PLAIN = """A note about itch

METHODS

We looked.

2. Results

It helped. Results
were fine.

Some sentence that is not a heading.
"""


def test_markdown(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(MARKDOWN)
    document = only("text", path)
    assert document.text == MARKDOWN
    assert document.title == "Drug A"
    assert [(label, heading, text[:12]) for label, heading, text in parts(document)] == [
        ("", "", "Before all.\n"),
        ("other", "Drug A", "# Drug A\n\nIn"),
        ("methods", "Drug A > Methods", "## Methods #"),
        ("eligibility", "Drug A > Methods > Patients", "### Patients"),
        ("results", "Drug A > Results", "Results\n----"),
        ("results", "Drug A > Results", "| a | b |\n| "),
    ]


def test_plain_text_has_headings_that_name_sections(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(PLAIN)
    assert [(label, heading) for label, heading, _ in parts(only("text", path))] == [
        ("", ""),
        ("methods", "METHODS"),
        ("results", "2. Results"),
    ]


def test_sections_cover_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(MARKDOWN)
    document = only("text", path)
    assert "".join(text for _, _, text in parts(document)) == MARKDOWN


def test_ids_come_from_paths(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b c.txt").write_text("x")
    (tmp_path / "a.md").write_text("y")
    assert [entry.document.doc_id for entry in entries("text", tmp_path)] == ["a", "sub.b-c"]


def test_names_that_make_no_id_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ü.txt").write_text("x")
    with pytest.raises(FormatError, match="doc_id '' is not allowed"):
        entries("text", tmp_path)


def test_other_encodings_are_refused_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("gut\nschön".encode("latin-1"))
    with pytest.raises(FormatError, match=r"a\.txt:2: not UTF-8"):
        entries("text", tmp_path)


def test_front_matter_is_metadata_and_not_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        '---\ntitle: "About itch"\ntags: [x, y]\nyear: 2020\nreviewed:\n---\n'
        "First words.\n\n## Methods\nWe asked.\n"
    )
    document = only("text", path)
    assert document.title == "About itch"
    assert document.text.startswith("First words.")
    assert (document.metadata["tags"], document.metadata["year"]) == (("x", "y"), 2020)
    assert [section.heading for section in document.sections] == ["", "Methods"]
    path.write_text("---\ntitle: never closed\n\n# Drug A\nWords.\n")
    assert only("text", path).title == "Drug A"


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: About itch\nyear: 2020\n...\n",
        '+++\ntitle = "About itch"\nyear = 2020\n+++\n',
        "---\r\ntitle: >\r\n  About\r\n  itch\r\nyear: 2020\r\n---\r\n",
    ],
    ids=["dots", "toml", "crlf"],
)
def test_the_title_of_front_matter_comes_before_a_heading(tmp_path: Path, front: str) -> None:
    path = tmp_path / "a.qmd"
    path.write_text(f"{front}# Methods\nWe asked.\n", newline="")
    assert detect(path) == "text"
    document = only("text", path)
    assert (document.title, document.metadata["year"]) == ("About itch", 2020)
    assert document.text == "# Methods\nWe asked.\n"


def test_a_list_between_rules_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("---\n- dose\n- route\n---\nWords.\n")
    assert only("text", path).text == path.read_text()


@pytest.mark.parametrize(
    ("front", "note"),
    [
        ("---\ntitle: [x\n---\n", "a.md:3: not valid YAML"),
        ("+++\ntitle = [x\n+++\n", "a.md: not valid TOML"),
    ],
)
def test_front_matter_that_cannot_be_read_is_noted(tmp_path: Path, front: str, note: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"{front}# Drug A\nWords.\n")
    notes: list[str] = []
    (entry,) = entries("text", path, notes)
    assert entry.document.text == "# Drug A\nWords.\n"
    assert note in notes[0]
    assert "the front matter is left out" in notes[0]


def test_text_in_utf_16_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Sjögren\n", encoding="utf-16")
    assert detect(path) == "text"
    assert only("text", path).text == "Sjögren\n"


def test_a_rule_at_the_top_of_a_markdown_file_hides_no_headings(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("---\n \n# Methods\n\nWe asked.\n\n---\n\n# Results\n\nNobody knew.\n")
    headings = [section.heading for section in only("text", path).sections]
    assert headings == ["", "Methods", "Results"]


def test_a_conversation_is_read_turn_by_turn(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text("Doctor: Any pain?\nPatient: In my knee.\n[01:05] Doctor: Since when?\n")
    for reader in ("text", "transcript"):
        document = only(reader, path)
        assert document.interview_id == "talk"
        assert [
            (section.speaker_role, document.text[section.start : section.end])
            for section in document.sections
        ] == [
            ("CLINICIAN", "Any pain?"), ("PATIENT", "In my knee."), ("CLINICIAN", "Since when?"),
        ]  # fmt: skip
        assert document.sections[2].start_time == 65.0
