"""Does reading a corpus check every document, and say what it did?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay import limits
from assay.errors import DuplicateError, FormatError, InputError, LimitError, UsageError
from assay.ingest import PROFILES, Progress, read_corpus, read_documents
from tests.unit.ingest.samples import ARTICLE, LABEL, write_lines


def corpus(tmp_path: Path, *rows: Any) -> Path:
    return write_lines(tmp_path / "c.jsonl", *rows)


def test_documents_come_with_their_chunks(tmp_path: Path) -> None:
    path = corpus(tmp_path, {"id": "a", "text": "x"}, {"id": "b", "text": "y " * 500})
    found = [(document.doc_id, len(chunks)) for document, chunks in read_corpus(path)]
    assert found == [("a", 1), ("b", 2)]


def test_reading_streams(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"id": "a", "text": "x"}\nnot json\n')
    pairs = read_corpus(path)
    assert next(pairs)[0].doc_id == "a"
    with pytest.raises(FormatError, match=r"c\.jsonl:2: not JSON"):
        next(pairs)


def test_progress_is_told_after_every_document(tmp_path: Path) -> None:
    path = corpus(tmp_path, {"id": "a", "text": "x"}, {"id": "b", "text": "y"})
    seen: list[Progress] = []
    list(read_corpus(path, progress=seen.append))
    assert [progress.documents for progress in seen] == [1, 2]
    assert seen[-1].read_bytes == seen[-1].total_bytes == path.stat().st_size
    assert seen[-1].source == str(path)


def test_the_same_document_again_is_noted_and_skipped(tmp_path: Path) -> None:
    path = corpus(tmp_path, {"id": "a", "text": "x"}, {"id": "b", "text": "y"},
                  {"id": "a", "text": "x"})  # fmt: skip
    notes: list[str] = []
    found = list(read_corpus(path, progress=lambda seen: notes.append(seen.note)))
    assert [document.doc_id for document, _ in found] == ["a", "b"]
    assert notes[-1].endswith(f"document a again, the same as at {path}:1: skipped")


def test_another_document_under_the_same_id_names_both_lines(tmp_path: Path) -> None:
    path = corpus(tmp_path, {"id": "a", "text": "x"}, {"id": "b", "text": "y"},
                  {"id": "a", "text": "z"})  # fmt: skip
    with pytest.raises(DuplicateError, match=r"c\.jsonl:3: the document a has .* at .*c\.jsonl:1"):
        list(read_corpus(path))


def test_files_that_name_the_same_document_are_found_out(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(ARTICLE)
    (tmp_path / "b.xml").write_text(ARTICLE.replace("To learn", "To teach"))
    with pytest.raises(DuplicateError, match=r"b\.xml.*PMC77.*a\.xml"):
        list(read_corpus(tmp_path))


@pytest.mark.parametrize("text", ["", "  \n\t", "\u2028\u0085"])
def test_documents_without_text_are_refused_by_name(tmp_path: Path, text: str) -> None:
    path = corpus(tmp_path, {"id": "a", "text": "x"}, {"id": "b", "text": text})
    with pytest.raises(FormatError, match=r"c\.jsonl:2: the document b has no text"):
        list(read_corpus(path))
    notes: list[str] = []
    found = list(read_corpus(path, progress=lambda seen: notes.append(seen.note), skip_empty=True))
    assert len(found) == 1
    assert "the document b has no text: skipped" in notes[-1]


def test_a_missing_text_is_an_empty_one(tmp_path: Path) -> None:
    path = corpus(tmp_path, {"id": "a", "text": "x"}, {"id": "b", "title": "Paper b"}, {"id": "c"})
    with pytest.raises(FormatError, match=r"c\.jsonl:3: the document c has no text .*--skip-empty"):
        list(read_corpus(path))
    found = [document.text for document, _ in read_corpus(path, skip_empty=True)]
    assert found == ["x", "Paper b"]


def test_chunks_without_text_are_refused_or_left_out(tmp_path: Path) -> None:
    rows = [("a", "1", "x"), ("a", "2", " "), ("b", "3", None)]
    path = corpus(tmp_path, *({"doc_id": d, "chunk_id": c, "text": text} for d, c, text in rows))
    with pytest.raises(FormatError, match=r"c\.jsonl:2: the chunk 2 has no text .*--skip-empty"):
        list(read_corpus(path))
    notes: list[str] = []
    ((_, (chunk,)),) = read_corpus(path, progress=lambda seen: notes.append(seen.note),
                                   skip_empty=True)  # fmt: skip
    assert chunk.chunk_id == "1"
    assert [note.partition(": ")[2] for note in notes if note] == [
        "the chunk 2 has no text: skipped", "the chunk 3 has no text: skipped",
    ]  # fmt: skip


TABLE = (
    "<table><caption>Doses</caption><tr><th>Age<th>Dose<br>a day<tr><td>adult<td>5&nbsp;mg</table>"
)


@pytest.mark.parametrize(
    "row",
    [
        {"id": "a", "title": "Table 2", "text": "", "table_html": TABLE, "start_time": 3},
        {"id": "a", "table_html": TABLE, "start_time": 3},
        {"id": "a", "text": None, "sections": [{"table_html": TABLE}]},
        {"doc_id": "a", "chunk_id": "c", "table_html": TABLE},
    ],
)
def test_a_table_without_text_reads_as_its_markup_says(tmp_path: Path, row: Any) -> None:
    ((_, (chunk,)),) = read_corpus(corpus(tmp_path, row), "jsonl")
    assert chunk.text == "Doses\nAge | Dose a day\n\nadult | 5 mg"
    assert chunk.is_table
    assert "<caption>Doses</caption>" in chunk.table_html
    assert chunk.start_time == row.get("start_time")


def test_a_table_without_words_is_no_text(tmp_path: Path) -> None:
    path = corpus(tmp_path, {"id": "a", "table_html": "<table></table>"})
    with pytest.raises(FormatError, match="the document a has no text"):
        list(read_corpus(path, "jsonl"))
    corpus(tmp_path, {"id": "a", "table_html": f"<table><tr><td>{'<sup>' * 5_000}x"})
    with pytest.raises(FormatError, match="nested more than"):
        list(read_corpus(path, "jsonl"))


def test_a_title_that_stands_in_keeps_what_the_row_says(tmp_path: Path) -> None:
    row = {"id": "a", "title": "Rash", "text": "", "speaker_role": "PATIENT", "start_time": 3}
    ((_, (chunk,)),) = read_corpus(corpus(tmp_path, row))
    assert (chunk.text, chunk.speaker_role, chunk.start_time) == ("Rash", "PATIENT", 3.0)


def test_a_title_stands_in_for_an_empty_text(tmp_path: Path) -> None:
    """Collections of abstracts hold papers that have none, and judgments name them."""
    rows = [{"id": name, "title": f"Paper {name}", "text": ""} for name in "ab"]
    notes: list[str] = []
    found = list(
        read_corpus(corpus(tmp_path, *rows), progress=lambda seen: notes.append(seen.note))
    )
    assert [chunk.text for _, (chunk,) in found] == ["Paper a", "Paper b"]
    assert len([note for note in notes if "a title and no text" in note]) == 1


def test_what_is_stored_with_every_chunk_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(ARTICLE.replace("<kwd>", f"<kwd>{'k' * limits.MAX_METADATA_CHARS}"))
    notes: list[str] = []
    ((document, _),) = read_corpus(path, progress=lambda seen: notes.append(seen.note))
    assert "keywords" not in document.metadata
    assert "metadata.keywords is too long and was dropped" in notes[0]
    path.write_text(ARTICLE.replace("<article-title>", f"<article-title>{'T' * 5_000}"))
    ((document, chunks),) = read_corpus(path, progress=lambda seen: notes.append(seen.note))
    assert {document.title, *(chunk.title for chunk in chunks)} == {"T" * limits.MAX_TITLE_CHARS}
    assert f"{path}:3: the title is cut at 4,096 characters" in notes


@pytest.mark.parametrize(
    "row",
    [{"id": "a", "text": "x"}, {"doc_id": "a", "chunk_id": "c", "text": "x"},
     {"interview_id": "a", "segments": [{"segment_id": "s", "text": "x"}]}],
)  # fmt: skip
def test_a_long_title_of_a_row_is_cut_with_a_note(tmp_path: Path, row: Any) -> None:
    path = corpus(tmp_path, {**row, "title": "T" * 5_000})
    notes: list[str] = []
    ((document, (chunk,)),) = read_corpus(path, progress=lambda seen: notes.append(seen.note))
    assert document.title == chunk.title == "T" * limits.MAX_TITLE_CHARS
    assert [note for note in notes if note] == [f"{path}:1: the title is cut at 4,096 characters"]


def test_only_stopwords_are_allowed(tmp_path: Path) -> None:
    ((_, (chunk,)),) = read_corpus(corpus(tmp_path, {"id": "a", "text": "the of and"}))
    assert chunk.text == "the of and"


@pytest.mark.parametrize(
    "row",
    [
        {"id": "a", "text": "half \ud800 pair"},
        {"id": "a", "text": "x", "title": "\udfff"},
        {"id": "a", "text": "x", "metadata": {"k": "\ud800"}},
        {"id": "a", "text": "nul \0 byte"},
        {"id": "a", "text": "x", "title": "\0"},
        {"chunk_id": "c", "doc_id": "a", "text": "x", "table_html": "<table>\ud800"},
        {"chunk_id": "c", "doc_id": "a", "text": "x", "section_label": "\ud800"},
        {"id": "a", "text": "x", "\ud800": 1},
    ],
)
def test_characters_that_cannot_be_kept_are_refused(tmp_path: Path, row: Any) -> None:
    with pytest.raises(FormatError, match=r"c\.jsonl:1: .*(a NUL|half a surrogate)"):
        list(read_corpus(corpus(tmp_path, row)))


def test_characters_that_only_look_like_them_stay(tmp_path: Path) -> None:
    text = "a backslash \\u0000 and \\ud800, and a \U0001f642"
    ((document, _),) = read_corpus(corpus(tmp_path, {"id": "a", "text": text}))
    assert document.text == text


def test_documents_have_a_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_DOCUMENT_CHARS", 10)
    with pytest.raises(LimitError, match=r"c\.jsonl:1: the document a has more than 10"):
        list(read_corpus(corpus(tmp_path, {"id": "a", "text": "x" * 11})))


def test_formats_and_profiles_can_be_named(tmp_path: Path) -> None:
    path = corpus(tmp_path, {"id": "a", "text": "w " * 1000})
    ((_, whole),) = read_corpus(path, "beir", "whole")
    assert len(whole) == 1
    ((_, small),) = read_corpus(path, profile=PROFILES["registry"])
    assert len(small) == 4
    with pytest.raises(UsageError, match="no profile"):
        next(read_corpus(path, profile="tiny"))
    with pytest.raises(UsageError, match="no corpus format"):
        next(read_corpus(path, "doc"))


def test_each_kind_is_cut_by_its_own_profile(tmp_path: Path) -> None:
    for name, content, version in (("a", ARTICLE, "imrad-1-"), ("l", LABEL, "label-1-")):
        path = tmp_path / f"{name}.xml"
        path.write_text(content)
        ((_, chunks),) = read_corpus(path)
        assert {chunk.chunker_version[: len(version)] for chunk in chunks} == {version}


def test_entries_can_be_had_without_chunks(tmp_path: Path) -> None:
    (entry,) = read_documents(corpus(tmp_path, {"id": "a", "text": "x"}))
    assert entry.document.doc_id == "a"
    assert str(entry.location).endswith("c.jsonl:1")


@pytest.mark.parametrize(
    "value",
    ["../../etc/passwd", "a/../b", "a/.",
     "x" * 300, "x" * 120, "-leading", "", " a", "a b", "a\u2028",
     "é", "a\n", None, 1.5, True, ["a"], ".hidden", "a%2e"],
)  # fmt: skip
def test_hostile_ids_are_refused_with_their_line(tmp_path: Path, value: Any) -> None:
    path = corpus(tmp_path, {"id": "a", "text": "x"}, {"id": value, "text": "y"})
    with pytest.raises(FormatError, match=r"c\.jsonl:2: (the|no) doc_id"):
        list(read_corpus(path))


def test_separators_in_text_stay_in_it(tmp_path: Path) -> None:
    text = "one\u2028two\u0085three\x0cfour\u2029five"
    path = tmp_path / "c.jsonl"
    path.write_text(f'{{"id": "a", "text": "{text}"}}\n'.replace("\x0c", "\\f"), encoding="utf-8")
    ((document, (chunk,)),) = read_corpus(path)
    assert document.text == text == chunk.text


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a"}, "the document a has no text"),
        ({"id": "a", "text": None}, "the document a has no text"),
        ({"id": "a", "text": 5}, "text is int"),
        ({"id": "a", "text": [["x"]]}, "text is list"),
        ({"id": "", "text": "x"}, "no doc_id"),
        ({"id": "a", "text": "x", "title": {}}, "title is dict"),
        ({"id": "a", "text": "x", "metadata": "m"}, "metadata is str"),
    ],
)
def test_rows_that_lack_or_mistake_something(tmp_path: Path, row: Any, message: str) -> None:
    path = corpus(tmp_path, {"id": "first", "text": "x"}, row)
    with pytest.raises(FormatError, match=rf"c\.jsonl:2: .*{message}"):
        list(read_corpus(path))


@pytest.mark.parametrize(
    "html",
    ["<table><tr><td><script>alert(1)</script>x</td></tr></table>",
     "<table><tr><td><img src=x onerror=alert(1)>x</td></tr></table>",
     '<table><tr><td><a href="javascript:alert(1)">x</a></td></tr></table>',
     "<table><tr><td><svg onload=alert(1)></svg>x</td></tr></table>",
     '<table style="background:url(//evil)"><tr><td>x</td></tr></table>',
     "<table><tr><td>x"],
)  # fmt: skip
def test_table_markup_of_chunks_is_made_harmless(tmp_path: Path, html: str) -> None:
    row = {"chunk_id": "c", "doc_id": "d", "text": "x", "table_html": html}
    ((_, (chunk,)),) = read_corpus(corpus(tmp_path, row))
    assert chunk.table_html == "<table><tbody><tr><td>x</td></tr></tbody></table>"
    assert chunk.is_table


def test_deeply_nested_tables_in_chunks_are_refused(tmp_path: Path) -> None:
    row = {"chunk_id": "c", "doc_id": "d", "text": "x", "table_html": "<table><tr><td>" * 10_000}
    with pytest.raises(FormatError, match=r"c\.jsonl:1: tables nested"):
        list(read_corpus(corpus(tmp_path, row)))


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder is empty"):
        list(read_corpus(tmp_path))


XML = "<article><front><article-meta>{}</article-meta></front><body>{}</body></article>"


@pytest.mark.parametrize(
    ("name", "broken", "left"),
    [
        ("a.jsonl", '{"id": "a", "text": 5}\n{"id": "b", "text": "x"}\n', ["b"]),
        ("a.jsonl", '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n', ["a"]),
        ("a.jsonl", '{"chunk_id": "c", "doc_id": "a", "text": "x"}\n{"chunk_id": "d"}\n', ["a"]),
        ("a.json", '[{"turns": [5], "id": "a"}, {"turns": [{"text": "x"}], "id": "b"}]', ["b"]),
        (
            "a.jsonl",
            '{"interview_id": "a", "segment_id": "s", "text": "x"}\n'
            '{"segment_id": "t"}\n{"interview_id": "b", "segment_id": "u", "text": "x"}\n',
            ["a", "b"],
        ),
        (
            "a.json",
            '{"studies": [{"protocolSection": 5}, {"protocolSection": '
            '{"identificationModule": {"nctId": "NCT00000001", "briefTitle": "T"}}}]}',
            ["NCT00000001"],
        ),
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n5\n', ["a"]),
    ],
)
def test_what_cannot_be_read_is_told_and_the_rest_is_read(
    tmp_path: Path, name: str, broken: str, left: list[str]
) -> None:
    path = tmp_path / name
    path.write_text(broken)
    with pytest.raises(InputError):
        list(read_corpus(path))
    problems: list[str] = []
    found = read_corpus(path, progress=lambda seen: problems.append(seen.problem), keep_going=True)
    assert [document.doc_id for document, _ in found] == left
    (problem,) = filter(None, problems)
    assert name in problem


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        (
            "a.nxml",
            XML.format("<title-group><article-title>Alone</article-title></title-group>", ""),
            "Alone",
        ),
        (
            "a.xml",
            '<document xmlns="urn:hl7-org:v3"><title>Alone</title><component>'
            "<structuredBody/></component></document>",
            "Alone",
        ),
        (
            "a.json",
            '{"protocolSection": {"identificationModule": {"nctId": "NCT00000001", '
            '"briefTitle": "Alone"}}}',
            "Alone",
        ),
        ("a.jsonl", '{"doc_id": "a", "title": "Alone"}\n', "Alone"),
    ],
)
def test_a_document_with_a_title_only_is_taken(
    tmp_path: Path, name: str, content: str, title: str
) -> None:
    (tmp_path / name).write_text(content)
    ((document, (chunk,)),) = read_corpus(tmp_path / name)
    assert (document.title, document.text, chunk.text) == (title, title, title)


def test_text_beside_other_formats_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "x"}\n')
    (tmp_path / "note.txt").write_text("Stop the aspirin.")
    (tmp_path / "README.txt").write_text("What is here.")
    notes: list[str] = []
    found = read_corpus(tmp_path, progress=lambda seen: notes.append(seen.note))
    assert [document.doc_id for document, _ in found] == ["a", "note"]
    assert any("left out" in note and "README.txt" in note for note in notes)
