"""Are rows with other people's names read as documents, with nothing lost?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import FormatError
from assay.ingest import detect, read_documents
from assay.ingest.watch import Columns, Progress
from assay.model.document import Document


def read(
    folder: Path, *rows: dict[str, Any], columns: Columns | None = None, notes: Any = None
) -> list[Document]:
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def told(step: Progress) -> None:
        if step.note and notes is not None:
            notes.append(step.note.removeprefix(f"{path}: "))

    return [one.document for one in read_documents(path, progress=told, columns=columns)]


@pytest.mark.parametrize(
    ("row", "known"),
    [
        ({"pmid": 5, "abstract": "Itch."}, {"pmid": 5}),
        ({"id": "a", "page_content": "Itch.", "metadata": {"page": 3}}, {"page": 3}),
        ({"page_content": "Itch.", "metadata": {"id": "a", "page": 3}}, {"page": 3}),
        ({"id": None, "page_content": "Itch.", "metadata": {"id": "a", "page": 3}}, {"page": 3}),
        ({"lc": 1, "kwargs": {"id": "a", "page_content": "Itch.", "metadata": {"page": 3}}},
         {"page": 3}),
        ({"id_": "n", "text": "Itch.", "metadata": {"year": 2020}}, {"year": 2020}),
        ({"id": "h", "content": "Itch.", "meta": {"name": "x"}}, {"name": "x"}),
        ({"doc_id": "d", "text": "Itch.", "journal": "Letters"}, {"journal": "Letters"}),
    ],
    ids=["pubmed", "langchain", "id in metadata", "empty id", "class", "llamaindex", "haystack",
         "ours"],
)  # fmt: skip
def test_usual_names_are_known(tmp_path: Path, row: dict[str, Any], known: dict[str, Any]) -> None:
    (document,) = read(tmp_path, row)
    assert document.text == "Itch."
    assert known.items() <= document.metadata.items()


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ({"PMID": 5, "Title": "Of itch", "Abstract": "Itch."}, "Of itch"),
        ({"NCT Number": "NCT00000005", "Study Title": "Of itch", "Brief Summary": "Itch."},
         "Of itch"),
        ({"ID": "a", "Text": "Itch.", "text type": "x"}, ""),
        ({"Doc-Id": "a", "Full Text": "Itch."}, ""),
    ],
    ids=["pubmed", "clinicaltrials.gov", "capitals", "signs"],
)  # fmt: skip
def test_names_are_compared_without_case_and_signs(
    tmp_path: Path, row: dict[str, Any], title: str
) -> None:
    (document,) = read(tmp_path, row)
    assert (document.doc_id, document.title) == (str(next(iter(row.values()))), title)
    assert document.text == "Itch."


def test_identifiers_are_found_under_names_in_capitals(tmp_path: Path) -> None:
    (document,) = read(tmp_path, {"PMID": 5, "Abstract": "Itch.", "DOI": "10.1/x"})
    assert document.metadata["identifiers"] == ("5", "10.1/x")
    assert document.metadata["DOI"] == "10.1/x"


def test_a_name_as_written_comes_before_one_that_reads_like_it(tmp_path: Path) -> None:
    (document,) = read(tmp_path, {"TEXT": "not this", "id": 1, "text": "this"})
    assert document.text == "this"
    columns = Columns("pmid", ("BODY TEXT",))
    (document,) = read(tmp_path, {"PMID": 7, "body_text": "that"}, columns=columns)
    assert (document.doc_id, document.text) == ("7", "that")


def test_an_id_is_made_of_the_source(tmp_path: Path) -> None:
    """LangChain leaves the id empty and names the file that a part of it is from."""
    notes: list[str] = []
    rows = [
        {"id": None, "metadata": {"source": source}, "page_content": text, "type": "Document"}
        for source, text in (("/data/a b.pdf", "One."), ("/data/a b.pdf", "Two."), ("c.md", "x"))
    ]
    found = read(tmp_path, *rows, notes=notes)
    assert [one.doc_id.rpartition("-")[0] for one in found] == ["data-a-b.pdf"] * 2 + ["c.md"]
    assert len({one.doc_id for one in found}) == 3
    assert sum("no ids" in note for note in notes) == 1
    again = read(tmp_path, *reversed(rows))
    assert {one.doc_id: one.text for one in again} == {one.doc_id: one.text for one in found}


def test_rows_of_json_without_ids_get_some(tmp_path: Path) -> None:
    notes: list[str] = []
    one, other = read(tmp_path, {"text": "Itch."}, {"text": "Itch.", "year": 2020}, notes=notes)
    assert one.doc_id.startswith("rows-")
    assert one.doc_id != other.doc_id
    assert notes == ["no ids; they are made of the file's name and the content"]


def test_a_title_in_the_metadata_is_the_title(tmp_path: Path) -> None:
    row = {"id": "d1", "page_content": "Itch.", "metadata": {"title": "My title", "section": "S9"}}
    (document,) = read(tmp_path, row)
    assert (document.title, document.metadata["title"]) == ("My title", "My title")


def test_an_id_that_says_what_it_is_is_found_by_it(tmp_path: Path) -> None:
    (document,) = read(tmp_path, {"pmid": 5, "abstract": "Itch."})
    assert document.doc_id == "5"
    assert document.metadata["identifiers"] == ("5",)


def test_the_choice_is_noted_once(tmp_path: Path) -> None:
    notes: list[str] = []
    read(tmp_path, {"pmid": 5, "abstract": "a"}, {"pmid": 6, "abstract": "b"}, notes=notes)
    assert notes == ["the id is pmid, the text abstract; other fields are metadata"]


def test_our_own_names_need_no_note(tmp_path: Path) -> None:
    notes: list[str] = []
    read(tmp_path, {"id": 5, "text": "a", "title": "t"}, notes=notes)
    assert notes == []


def test_named_fields_win_and_are_joined(tmp_path: Path) -> None:
    row = {"id": 1, "text": "not this", "ident": 7.0, "q": "What?", "a": "That.", "head": "Itch"}
    columns = Columns("ident", ("q", "a"), "head")
    (document,) = read(tmp_path, row, columns=columns)
    assert (document.doc_id, document.title, document.text) == ("7", "Itch", "What?\n\nThat.")


def test_fields_within_fields_are_named_by_their_path(tmp_path: Path) -> None:
    row = {"ids": {"pmid": 7}, "context": {"contexts": ["One.", "Two."], "labels": ["A", "B"]}}
    columns = Columns("ids.pmid", ("context.contexts",))
    (document,) = read(tmp_path, row, columns=columns)
    assert (document.doc_id, document.text) == ("7", "One.\nTwo.")
    with pytest.raises(FormatError, match=r"no field 'context.text'"):
        read(tmp_path, row, columns=Columns("ids.pmid", ("context.text",)))


def test_a_text_that_comes_sentence_by_sentence(tmp_path: Path) -> None:
    (document,) = read(tmp_path, {"doc_id": 4983, "title": "Of itch", "abstract": ["One.", "Two."]})
    assert document.text == "One.\nTwo."


def test_a_row_of_any_fields_is_recognised_where_they_are_named(tmp_path: Path) -> None:
    (document,) = read(tmp_path, {"ident": "x", "q": "What?"}, columns=Columns("ident", ("q",)))
    assert document.text == "What?"
    with pytest.raises(FormatError, match="--id-field and --text-field"):
        detect(tmp_path / "rows.jsonl")


@pytest.mark.parametrize(
    ("row", "columns", "message"),
    [
        ({"id": 1, "text": "x"}, Columns("pmid"), "no field 'pmid' .*its fields: id, text"),
        ({"id": 1, "text": "x"}, Columns(text=("body",)), "no field 'body'"),
        (
            {"id": None, "text": "x"},
            Columns(),
            "no doc_id: id is empty .*--id-field.*its fields: id, text",
        ),
        ({"id": 1, "abstract": 5}, Columns(), "abstract is int, but text"),
        ({"id": 1, "text": "x", "meta": "y"}, Columns(), "metadata is str"),
    ],
)
def test_what_is_missing_is_named_with_what_there_is(
    tmp_path: Path, row: dict[str, Any], columns: Columns, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        read(tmp_path, row, columns=columns)
