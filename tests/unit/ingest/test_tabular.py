"""Is each row of a table a document, with its other cells as metadata?"""

from __future__ import annotations

import datetime
from pathlib import Path

import polars
import pytest

from assay.errors import DuplicateError, FormatError, InputError
from assay.ingest import detect, read_documents, tabular
from assay.ingest.watch import Columns, Progress
from assay.model.document import Document


def read(path: Path) -> list[Document]:
    return [one.document for one in read_documents(path)]


def table(folder: Path, text: str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
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
        (
            'id,text\na,"b\nc,d\n',
            r"rows.csv:2: not CSV: .*goes on to line 3.*a closing quote missing",
        ),
        (",\na,b\n", "the first row does not name the columns"),
        ("year,words\n1,b\n", "no field is known as an id or a text .*its fields: year, words"),
        ("Export of 5 May\n\nid,text\na,b\n", "3: 2 cells, but 1 column .*it is 'Export of 5 May'"),
        ("id;text\na;b;c\n", "quote cells that hold semicolons"),
        ("id,text\na,b\0\n", "NUL"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(table(tmp_path, text))


def test_the_line_of_an_error_counts_lines_within_cells(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"rows\.csv:4: 1 cell, but 2 columns"):
        read(table(tmp_path, 'id,text\na,"b\nc"\nd\n'))


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"62,b", "2 cells, but 3 columns"),
        (b"62,b,c,d", "4 cells"),
        (b"62,\xff,1", "UTF-8"),
        (b"62,b\0,1", "NUL"),
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


def test_rows_without_ids_are_called_after_their_file_and_content(tmp_path: Path) -> None:
    path = table(tmp_path, "Question,Text\nWhy?,Itch.\nHow?,Rash.\n", "my rows.csv")
    notes: list[str] = []
    found = list(read_documents(path, progress=lambda step: notes.append(step.note)))
    ids = [one.document.doc_id for one in found]
    assert all(name.startswith("my-rows-") for name in ids)
    assert sum("no ids" in note for note in notes) == 1
    path = table(tmp_path, "Question,Text\nWho?,Fever.\nWhy?,Itch.\n", "my rows.csv")
    later = [one.doc_id for one in read(path)]
    assert later[1] == ids[0], "a row above it does not change an id"
    assert later[0] not in ids, "another row never replaces one"


def told(path: Path) -> list[str]:
    notes: list[str] = []
    list(read_documents(path, progress=lambda step: notes.append(step.note)))
    return [note for note in notes if note]


def test_quotes_between_tabs_are_signs_unless_they_hold_a_cell(tmp_path: Path) -> None:
    rows = (
        ('1\t"Itch', '"Itch'), ("2\tFever", "Fever"), ('3\tCough"', 'Cough"'),
        ('4\t"Aspirin" lowers fever', '"Aspirin" lowers fever'),
        ('5\t"a ""good"" day"', 'a "good" day'),
        ('6\t"two\nlines"', "two\nlines"), ('7\t"a\ttab"', "a\ttab"), ("8\tlast", "last"),
    )  # fmt: skip
    text = "pmid\tabstract\n" + "".join(f"{row}\n" for row, _ in rows)
    found = read(table(tmp_path, text, "rows.tsv"))
    assert [one.text for one in found] == [wanted for _, wanted in rows]
    assert [one.doc_id for one in found] == list("12345678")
    with pytest.raises(FormatError, match=r"rows\.tsv:3: 1 cell, but 2 columns"):
        read(table(tmp_path, 'pmid\tabstract\n1\tx\n2"\n3\ty\n', "rows.tsv"))


def test_a_quote_that_swallows_rows_is_told(tmp_path: Path) -> None:
    path = table(tmp_path, 'id,text\n1,"Itch\n2,Fever\n3,Cough"\n4,ok\n')
    assert any("rows.csv:2: one row goes on to line 4" in note for note in told(path))
    assert told(table(tmp_path, 'id,text\n1,"Itch\nand more"\n')) == []


def test_line_ends_of_older_programs(tmp_path: Path) -> None:
    found = read(table(tmp_path, 'id,text\r1,Itch\r2,"Fever\ror not"\r'))
    assert [one.text for one in found] == ["Itch", "Fever\nor not"]
    found = read(table(tmp_path, "id,text\r\n1,Itch\r\n"))
    assert [one.text for one in found] == ["Itch"]


def test_a_table_without_rows_is_named(tmp_path: Path) -> None:
    path = table(tmp_path, "id,text\n")
    assert told(path) == [f"{path}: no rows"]
    with pytest.raises(InputError, match="no rows"):
        list(read_documents(path, strict=True))
    empty = tmp_path / "rows.parquet"
    polars.DataFrame({"doc_id": [], "text": []}).write_parquet(empty)
    assert told(empty) == [f"{empty}: no rows"]


def test_columns_without_a_name_of_their_own_get_one(tmp_path: Path) -> None:
    path = table(tmp_path, ",pmid,text,note,note,\n0,61,Itch.,a,b,\n")
    (document,) = read(path)
    known = document.metadata
    assert (known["column_1"], known["note"], known["note_2"]) == (0, "a", "b")
    assert "column_6" not in known
    assert f"{path}: column 5 is another 'note': it is called note_2" in told(path)
    (document,) = read(table(tmp_path, "sep=;\nid;text\n61;Itch, or not\n"))
    assert document.text == "Itch, or not"


def test_cells_of_digits_are_texts_titles_and_ids(tmp_path: Path) -> None:
    (document,) = read(table(tmp_path, "pmid,abstract,title\n61.0,12345,2020\n"))
    assert (document.doc_id, document.text, document.title) == ("61", "12345", "2020")
    assert document.metadata["identifiers"] == ("61",)
    path = tmp_path / "rows.parquet"
    polars.DataFrame({"pmid": [61.0, None], "text": ["x", "y"]}).head(1).write_parquet(path)
    (document,) = read(path)
    assert (document.doc_id, document.metadata["identifiers"]) == ("61", ("61",))


def test_braces_in_a_name_are_no_format(tmp_path: Path) -> None:
    path = table(tmp_path, "pmid,ab{stract},text\n1,x,Itch\n")
    assert told(path) == [f"{path}: the id is pmid, the text text; other fields are metadata"]
    (document,) = read_documents(path, columns=Columns("pmid", ("ab{stract}",)))
    assert document.document.text == "x"


@pytest.mark.parametrize("name", ["rows.csv", "rows.txt"])
@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_is_read_as_excel_saves_it(tmp_path: Path, name: str, order: str) -> None:
    path = tmp_path / name
    path.write_bytes("\ufeffid\ttext\r\n1\tSjögren 😀\r\n".encode(f"utf-16-{order}"))
    (document,) = read(path)
    assert (document.doc_id, document.text) == ("1", "Sjögren 😀")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FormatError, match="starts as UTF-16"):
        read(path)


def test_other_encodings_are_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("id;text\n1;Übelkeit\n".encode("cp1252"))
    with pytest.raises(FormatError, match=r"rows\.csv:2: not UTF-8 .*Excel: CSV UTF-8"):
        read(path)


def test_rows_of_one_id_that_differ_in_metadata_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DuplicateError, match="another title, text or metadata"):
        read(table(tmp_path, "id,text,year\n1,Itch,2020\n1,Itch,2021\n"))


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
