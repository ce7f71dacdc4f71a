"""Are documents and ready-made chunks of JSON lines taken as they are?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.errors import DuplicateError, FormatError
from assay.ingest.corpus import read_corpus
from tests.unit.ingest.samples import entries, only, parts, write_lines


def row(chunk_id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"chunk_id": chunk_id, "doc_id": "PMC1", "text": text, **more}


@pytest.mark.parametrize("name", ["doc_id", "_id", "id"])
def test_documents_have_an_id_under_any_usual_name(tmp_path: Path, name: str) -> None:
    path = write_lines(tmp_path / "c.jsonl", {name: "a1", "title": "T", "text": " as it is \n"})
    document = only("jsonl", path)
    assert (document.doc_id, document.title, document.text) == ("a1", "T", " as it is \n")


def test_whole_numbers_are_ids(tmp_path: Path) -> None:
    assert only("jsonl", write_lines(tmp_path / "c.jsonl", {"id": 12, "text": "x"})).doc_id == "12"


def test_sections_may_bring_their_text(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c.jsonl", {"id": "a", "sections": [
        {"heading": "Dosage", "text": "5 mg"},
        {"label": "adverse_events", "text": "Rash | 1", "table_html":
         "<table onclick=x><tr><td>Rash</td><td>1<script>x</script></td></tr></table>"},
    ]})  # fmt: skip
    document = only("jsonl", path)
    assert parts(document) == [
        ("dosage", "Dosage", "5 mg"),
        ("adverse_events", "adverse_events", "Rash | 1"),
    ]
    assert document.text == "5 mg\n\nRash | 1"
    assert document.sections[1].is_table
    assert document.sections[1].table_html == (
        "<table><tbody><tr><td>Rash</td><td>1</td></tr></tbody></table>"
    )


def test_sections_may_be_stretches_of_the_text(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c.jsonl", {"id": "a", "text": "abc def", "sections": [
        {"start": 0, "end": 3, "heading": "Methods"}, {"start": 4, "end": 7, "label": "results"},
    ]})  # fmt: skip
    assert parts(only("jsonl", path)) == [
        ("methods", "Methods", "abc"),
        ("results", "results", "def"),
    ]


@pytest.mark.parametrize(
    "sections",
    [
        [{"start": 3, "end": 1}],
        [{"start": 0, "end": 99}],
        [{"start": 0, "end": 5}, {"start": 3, "end": 6}],
        [{"start": -1, "end": 2}],
        [{"start": "0", "end": 2}],
        [{}],
        [5],
        "x",
    ],
)
def test_sections_that_do_not_fit_are_refused(tmp_path: Path, sections: Any) -> None:
    path = write_lines(tmp_path / "c.jsonl", {"id": "a", "text": "abc def", "sections": sections})
    with pytest.raises(FormatError, match=r"c\.jsonl:1"):
        entries("jsonl", path)


def test_chunks_are_kept_as_they_are(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "c.jsonl",
        row("PMC1:chunk_5", "Rash 3/50 (6%)", title="T", section_label="Adverse Events",
            speaker_role="patient", ingestion_mode="LIVE", interview_id="i1", start_time=1,
            end_time=2.5, source="pmc", chunker_version="mine-3", metadata={"page": 4}),
        row("PMC1:chunk_6", "10 mg.", intent_hint="dose", is_table=True),
    )  # fmt: skip
    ((document, (first, second)),) = read_corpus(path)
    assert (first.chunk_id, first.doc_id, first.text) == ("PMC1:chunk_5", "PMC1", "Rash 3/50 (6%)")
    assert (first.section_label, first.intent_hint) == ("Adverse Events", "ae")
    assert (first.speaker_role.value, first.ingestion_mode.value) == ("PATIENT", "LIVE")
    assert (first.start_time, first.end_time, first.interview_id) == (1.0, 2.5, "i1")
    assert (first.source, first.chunker_version) == ("pmc", "mine-3")
    assert first.metadata["page"] == 4
    assert (second.intent_hint, second.is_table, second.chunker_version) == (
        "dose",
        True,
        "given-1",
    )
    assert document.text == "Rash 3/50 (6%)\n\n10 mg."
    assert (first.spans, second.spans) == (((0, 14),), ((16, 22),))
    assert (document.title, document.profile) == ("T", "given")


def test_chunks_with_spans_are_laid_where_they_say(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "c.jsonl",
        row("c2", "and cde", spans=[[12, 15], [20, 24]]),
        row("c1", "ab é and", spans=[[7, 15]]),
    )
    ((document, (second, first)),) = read_corpus(path)
    assert document.text == " " * 7 + "ab é and" + " " * 5 + " cde"
    for chunk in (first, second):
        assert "".join(document.text[start:end] for start, end in chunk.spans) == chunk.text
    assert [(section.start, section.end) for section in document.sections] == [(7, 15), (15, 24)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("c1", "abc", spans=[[0, 5]])], "the spans cover 5 characters, and the text has 3"),
        ([row("c1", "abc", spans=[[3, 0]])], "is not a span"),
        ([row("c1", "abc", spans=[[0, 10**12]])], "is not a span"),
        ([row("c1", "abc", spans="0-3")], "spans is a list"),
        ([row("c1", "abc", spans=[[0, 3]]), row("c2", "def")], "some chunks have spans"),
        ([row("c1", "abc", spans=[[0, 3]]), row("c2", "xdef", spans=[[2, 6]])], "differ where"),
        ([row("c1", "  ")], "has no text"),
        ([row("c1", "abc", is_table="yes")], "true or false"),
        ([row("c1", "abc", speaker_role="NURSE")], "none of PATIENT, CLINICIAN, UNKNOWN"),
        ([row("a b", "abc")], "chunk_id 'a b' is not allowed"),
        ([{"chunk_id": "c1", "text": "abc"}], "doc_id None"),
        ([row("c1", "abc"), {"doc_id": "d", "text": "abc"}], "a whole document among chunks"),
    ],
)  # fmt: skip
def test_chunks_that_do_not_fit_are_refused(tmp_path: Path, rows: list[Any], message: str) -> None:
    path = write_lines(tmp_path / "c.jsonl", *rows)
    with pytest.raises(FormatError, match=message):
        list(read_corpus(path))


def test_chunks_that_come_twice(tmp_path: Path) -> None:
    notes: list[str] = []
    path = write_lines(tmp_path / "c.jsonl", row("c1", "abc"), row("c1", "abc"))
    (entry,) = entries("jsonl", path, notes)
    assert len(entry.chunks) == 1
    assert "chunk c1 again" in notes[0]
    write_lines(path, row("c1", "abc"), row("c1", "xyz"))
    with pytest.raises(DuplicateError, match=r"c\.jsonl:2: the chunk c1 has other content at .*:1"):
        entries("jsonl", path)
    write_lines(path, row("c1", "abc"), {**row("c1", "abc"), "doc_id": "other"})
    with pytest.raises(DuplicateError, match="is in another document"):
        list(read_corpus(path))
    other = {**row("c2", "abc"), "doc_id": "other"}
    write_lines(path, row("c1", "abc"), other, row("c3", "def"))
    with pytest.raises(DuplicateError, match="chunks of PMC1 are not together"):
        list(read_corpus(path))


def test_an_empty_file_is_noted(tmp_path: Path) -> None:
    notes: list[str] = []
    (tmp_path / "c.jsonl").write_text("")
    assert entries("jsonl", tmp_path, notes) == []
    assert notes[0].endswith("c.jsonl: empty")


def test_a_whole_document_may_have_the_fields_of_a_chunk(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "d.jsonl", {
        "doc_id": "a", "text": "It hurts.", "speaker_role": "patient", "interview_id": "i1",
        "ingestion_mode": "LIVE", "start_time": "00:05", "section_label": "Adverse events",
    })  # fmt: skip
    ((_, (chunk,)),) = read_corpus(path)
    assert (chunk.speaker_role, chunk.interview_id, chunk.start_time) == ("PATIENT", "i1", 5.0)
    assert (chunk.ingestion_mode, chunk.section_label, chunk.intent_hint) == (
        "LIVE", "adverse_events", "",
    )  # fmt: skip
    write_lines(path, {"doc_id": "a", "text": "It hurts.", "speaker_role": "dog"})
    with pytest.raises(FormatError, match=r"d\.jsonl:1: speaker_role 'dog' is none of PATIENT"):
        list(read_corpus(path))


@pytest.mark.parametrize(
    "own",
    [{"is_table": False}, {"start_time": 3}, {"intent_hint": "ae"}, {"speaker_role": "UNKNOWN"}],
)
def test_what_the_fields_of_a_row_leave_open_its_metadata_says(
    tmp_path: Path, own: dict[str, Any]
) -> None:
    about = {"speaker": "Patient", "section": "Adverse events"}
    path = write_lines(
        tmp_path / "d.jsonl", {"id": "a", "text": "Rash 1/9", "metadata": about, **own}
    )
    ((_, (chunk,)),) = read_corpus(path)
    assert (chunk.speaker_role, chunk.section_label) == ("PATIENT", "adverse_events")
    assert (chunk.intent_hint, chunk.metadata["heading"]) == ("ae", "Adverse events")
    write_lines(path, {"id": "a", "text": "5 mg.", "metadata": {"loinc": "34068-7"}, **own})
    ((_, (chunk,)),) = read_corpus(path)
    assert chunk.section_label == "dosage"


def test_words_of_a_table_in_markup_stay_apart_and_those_beside_it_are_kept(tmp_path: Path) -> None:
    html = (
        "<p>Table 2. Harms</p><table><tr><td><p>Grade 3</p><p>neutropenia</p></td>"
        "<td>3</td></tr></table><p>a: any</p>"
    )
    path = write_lines(tmp_path / "tables.jsonl", {"doc_id": "t1", "table_html": html})
    ((document, _),) = read_corpus(path)
    assert document.text == "Grade 3 neutropenia | 3\nTable 2. Harms\na: any"


def test_a_title_in_the_place_of_the_text_is_whole(tmp_path: Path) -> None:
    row = {"doc_id": "t1", "title": "word " * 1000 + "zebra", "text": ""}
    ((document, _),) = read_corpus(write_lines(tmp_path / "c.jsonl", row))
    assert document.text.endswith("zebra")
    assert len(document.title) <= 4096 < len(document.text)


def test_empty_chunks_with_spans_are_empty_first(tmp_path: Path) -> None:
    rows = [row("d:1", "", spans=[[3, 3]]), row("d:2", "words")]
    path = write_lines(tmp_path / "c.jsonl", *rows)
    ((_, chunks),) = read_corpus(path, skip_empty=True)
    assert [chunk.chunk_id for chunk in chunks] == ["d:2"]
    with pytest.raises(FormatError, match="d:1 has no text"):
        list(read_corpus(path))


def test_parts_of_a_document_of_another_library_are_its_chunks(tmp_path: Path) -> None:
    made = ["0b6cf58b-9961-440b-b23d-058ad9191e4c", "a" * 64]
    rows = [
        {"page_content": "Fever at night.", "metadata": {"pmid": "77", "title": "Fever"}},
        {"page_content": "Fever by day.", "metadata": {"pmid": "77", "title": "Fever"}},
        {"id": made[0], "text": "Itch.", "metadata": {"pmid": 88}},
        {"id": made[1], "content": "Cough.", "meta": {"doc_id": "99"}},
        {"id": made[0], "text": "Pain.", "metadata": {"year": 2020}},
        {"id": "own", "text": "Rash.", "metadata": {"pmid": "88"}},
    ]
    path = write_lines(tmp_path / "d.jsonl", *rows)
    found = list(read_corpus(path))
    assert [document.doc_id for document, _ in found] == ["77", "88", "99", made[0], "own"]
    assert [chunk.chunk_id for chunk in found[0][1]] == ["77:chunk_0", "77:chunk_1"]
    assert [chunk.text for chunk in found[0][1]] == ["Fever at night.", "Fever by day."]
    assert found[0][0].title == "Fever"
    assert found[0][0].metadata["pmid"] == "77"


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_utf_16_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"id": "a", "text": "Sjögren"}\n', encoding="utf-16")
    assert only("jsonl", path).text == "Sjögren"
