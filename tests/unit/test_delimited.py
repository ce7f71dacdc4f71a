"""Is a table read the same, however a spreadsheet saves it?"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.annotation.candidates import read_candidates
from assay.annotation.exchange import read_grades
from assay.delimited import read_table
from assay.errors import FormatError
from assay.hits.groups import load_groups
from assay.hits.labels import read_labels
from assay.hits.qrels import load_qrels

Table = list[list[str]]
Save = Callable[[Table], bytes]


def saved(mark: str, encoding: str, first: str = "") -> Save:
    """How a spreadsheet saves a table; where semicolons separate, a comma is the decimal mark."""

    def save(table: Table) -> bytes:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=mark)
        for row in table:
            local = [cell.replace("0.", "0,") if mark == ";" else cell for cell in row]
            writer.writerow(local)
        return (first + out.getvalue()).encode(encoding)

    return save


@pytest.fixture(
    params=[
        saved(",", "utf-8"),
        saved(",", "utf-8-sig"),
        saved(";", "utf-8-sig"),
        saved(";", "utf-8", "sep=;\r\n"),
        saved("\t", "utf-8-sig"),
        saved("\t", "utf-16"),
    ],
    ids=["comma", "Excel", "Excel in Europe", "Excel with sep=", "tab", "Unicode text"],
)
def save(request: pytest.FixtureRequest) -> Save:
    found: Save = request.param
    return found


def test_grades(save: Save) -> None:
    table = [
        ["query_id", "chunk_id", "text", "grade", "comment"],
        ["q1", "d1:chunk_0", 'two\nlines, "quoted"; and more', "3", "é; ok, fine"],
        ["q1", "d2:chunk_0", "plain", "", ""],
    ]
    (one,) = read_grades(save(table), "x.csv")
    assert (one.query_id, one.chunk_id, one.grade) == ("q1", "d1:chunk_0", 3)
    assert one.comment == "é; ok, fine"


def test_queries(save: Save, tmp_path: Path) -> None:
    path = tmp_path / "queries.csv"
    table = [["query", "times", "top_score"], ["dose; timing, of aspirin", "3", "0.25"]]
    path.write_bytes(save(table))
    (one,) = read_candidates(path)
    assert (one.text, one.times, one.top_score) == ("dose; timing, of aspirin", 3, 0.25)


def test_labels(save: Save, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(save([["label", "score"], ["1", "0.75"], ["0", "0.5"]]))
    assert read_labels(str(path)).scores.tolist() == [0.75, 0.5]


def test_groups(save: Save, tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_bytes(save([["query_id", "group"], ["q1", "adverse events"]]))
    assert load_groups(path, load_qrels({"q1": {"a": 1}})) == {"q1": "adverse events"}


def test_cells_that_excel_leaves_out_are_empty() -> None:
    assert list(read_table(b"a;b;c\n1;2\n;;\n", "x")) == [(2, {"a": "1", "b": "2", "c": ""})]


def test_a_row_with_too_many_cells_is_named() -> None:
    with pytest.raises(FormatError, match=r"x:2: 3 cells, but 2 columns .*semicolons"):
        list(read_table(b"a;b\n1;2;3\n", "x"))


def test_an_empty_file_lacks_its_columns() -> None:
    with pytest.raises(FormatError, match="no column a"):
        list(read_table(b"", "x", frozenset({"a"})))
