"""Is each row of a table a document, with its other cells as metadata?"""

from __future__ import annotations

import datetime
from pathlib import Path

import polars
import pytest

from assay.errors import FormatError
from assay.ingest import detect, read_documents, tabular
from assay.ingest.watch import Progress
from assay.model.document import Document


def read(path: Path) -> list[Document]:
    return [one.document for one in read_documents(path)]


def table(folder: Path, text: str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_cells_may_hold_commas_and_lines(tmp_path: Path) -> None:
    path = table(tmp_path, 'pmid,title,abstract,year\n1,Itch,"Adults,\ntoo.",2019\n2,Fever,,\n')
    first, second = read(path)
    assert (first.doc_id, first.title, first.text) == ("1", "Itch", "Adults,\ntoo.")
    assert first.metadata["year"] == 2019
    assert (second.text, "year" in second.metadata) == ("Fever", False)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, separator: str) -> None:
    path = table(tmp_path, "id,text,year\na,b c,2019\n".replace(",", separator))
    (document,) = read(path)
    assert (document.doc_id, document.text) == ("a", "b c")


def test_a_mark_at_the_start_and_windows_lines_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_bytes(b"\xef\xbb\xbfid\ttext\r\na\tb\r\n")
    (document,) = read(path)
    assert (document.doc_id, document.text) == ("a", "b")


def test_codes_with_leading_zeros_stay_text(tmp_path: Path) -> None:
    (document,) = read(table(tmp_path, "id,text,ndc,n\na,b,0054,-3\n"))
    assert (document.metadata["ndc"], document.metadata["n"]) == ("0054", -3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,text\na,b,c\n", "rows.csv:2: 3 cells, but 2 columns"),
        ('id,text\na,"b\n', "not CSV"),
        ("id,\na,b\n", "the first row names the columns"),
        ("id,id\na,b\n", "the first row names the columns"),
        ("year,words\n1,b\n", "no doc_id"),
        ("id,text\na,b\0\n", "NUL"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(table(tmp_path, text))


def test_the_line_of_an_error_counts_lines_within_cells(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"rows\.csv:4: 1 cells"):
        read(table(tmp_path, 'id,text\na,"b\nc"\nd\n'))


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"62,b", "2 cells, but 3 columns"),
        (b"62,b,c,d", "4 cells"),
        (b"62,\xff,1", "UTF-8"),
        (b"62,b\0,1", "NUL"),
        (b'62,"b"b,1', "not CSV"),
        (b",b,1", "no doc_id"),
    ],
)
def test_a_bad_row_is_named_and_the_rest_is_read(
    tmp_path: Path, separator: str, bad: bytes, said: str
) -> None:
    path = tmp_path / "rows.csv"
    text = b"id,text,year\n61,a,2001\n%s\n63,c,2000\n%s\n64,d,2001\n" % (bad, bad)
    path.write_bytes(text.replace(b",", separator.encode()))
    problems: list[str] = []

    def told(step: Progress) -> None:
        if step.problem:
            problems.append(step.problem)

    found = [one.document.doc_id for one in read_documents(path, progress=told, keep_going=True)]
    assert found == ["61", "63", "64"]
    assert [problem.partition("rows.csv:")[2][:1] for problem in problems] == ["3", "5"]
    assert all(said in problem for problem in problems)


def test_rows_without_ids_are_called_after_their_file_and_line(tmp_path: Path) -> None:
    path = table(tmp_path, "Question,Text\nWhy?,Itch.\nHow?,Rash.\n", "my rows.csv")
    notes: list[str] = []
    found = list(read_documents(path, progress=lambda step: notes.append(step.note)))
    assert [one.document.doc_id for one in found] == ["my-rows-2", "my-rows-3"]
    assert sum("no ids" in note for note in notes) == 1


def test_parquet_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabular, "ROWS", 2)
    path = tmp_path / "rows.parquet"
    polars.DataFrame({
        "doc_id": ["a", "b", "c"],
        "text": ["one", "two", "three"],
        "seen": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
        "tags": [["x", "y"], [], ["z"]],
    }).write_parquet(path)  # fmt: skip
    found = read(path)
    assert [one.text for one in found] == ["one", "two", "three"]
    assert (found[0].metadata["seen"], found[0].metadata["tags"]) == ("2020-01-01", ("x", "y"))


def test_a_note_on_parquet_is_given_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    rows = {"pmid": [1, 2, 3], "title": ["a", "b", "c"], "odd": [{"x": [1]}] * 3}
    polars.DataFrame(rows).write_parquet(path)
    notes: list[str] = []
    list(read_documents(path, progress=lambda step: notes.append(step.note)))
    notes = [note for note in notes if note]
    assert len(notes) == len({note.partition(": ")[2] for note in notes}) == 3


def test_broken_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    assert detect(path) == "table"
    with pytest.raises(FormatError, match="not parquet"):
        read(path)
