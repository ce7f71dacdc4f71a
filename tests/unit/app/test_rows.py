"""Are rows and data frames taken as documents?"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas
import polars
import pytest

from assay.app.rows import document_rows
from assay.app.workspace import Workspace
from assay.errors import MissingFileError, UsageError
from assay.settings import configure

DATA: dict[str, list[Any]] = {
    "PMID": [1, 2],
    "abstract": ["Itch.", "Fever."],
    "year": [2019.0, None],
    "seen": [datetime.date(2020, 1, 2), None],
}


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
def test_a_frame_has_a_document_per_row(make: Any) -> None:
    assert list(document_rows(make(DATA))) == [
        {"pmid": 1, "abstract": "Itch.", "year": 2019.0, "seen": "2020-01-02"},
        {"pmid": 2, "abstract": "Fever."},
    ]


def test_missing_dates_of_pandas_are_left_out() -> None:
    frame = pandas.DataFrame({"id": ["a"], "text": ["x"], "seen": [pandas.NaT]})
    assert list(document_rows(frame)) == [{"id": "a", "text": "x"}]


def test_what_is_no_row_is_refused() -> None:
    with pytest.raises(UsageError, match="a mapping of fields, not str") as caught:
        list(document_rows("rows.csv"))
    assert "ingest(PATH) reads a file" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="not int"):
        list(document_rows(7))


def test_documents_of_other_libraries_are_rows() -> None:
    given = (
        SimpleNamespace(id=None, page_content="Itch.", metadata={"source": "a.pdf"}),
        SimpleNamespace(node_id="n1", text="Fever.", metadata={}),
        SimpleNamespace(id="h1", content="Cough.", meta={"year": 2020}),
    )
    assert list(document_rows(given)) == [
        {"page_content": "Itch.", "metadata": {"source": "a.pdf"}},
        {"id": "n1", "text": "Fever.", "metadata": {}},
        {"id": "h1", "content": "Cough.", "metadata": {"year": 2020}},
    ]


@pytest.mark.parametrize("package", ["langchain_core", "llama_index.core", "haystack"])
def test_the_real_documents_of_other_libraries_are_rows(package: str) -> None:
    pytest.importorskip(package)
    given: Any
    if package == "haystack":
        from haystack import Document

        given = Document(id="d1", content="Itch.", meta={"year": 2020})
    elif package == "langchain_core":
        from langchain_core.documents import Document as LangChainDocument

        given = LangChainDocument(id="d1", page_content="Itch.", metadata={"year": 2020})
    else:
        from llama_index.core.schema import TextNode

        given = TextNode(id_="d1", text="Itch.", metadata={"year": 2020})
    (row,) = document_rows([given])
    assert (row["id"], row["metadata"]) == ("d1", {"year": 2020})


def test_cells_of_parquet_are_taken_as_they_are(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pandas reads parquet with it")
    path = tmp_path / "rows.parquet"
    polars.DataFrame(
        {"id": ["a"], "text": [7], "tags": [["x", "y"]], "dose": [Decimal("1.50")],
         "took": [datetime.timedelta(hours=2)]}
    ).write_parquet(path)  # fmt: skip
    (row,) = document_rows(pandas.read_parquet(path))
    assert (row["tags"], row["dose"], row["took"]) == (["x", "y"], 1.5, "0 days 02:00:00")
    (row,) = document_rows(polars.read_parquet(path))
    assert (row["tags"], row["dose"], row["took"]) == (["x", "y"], 1.5, "2:00:00")


def test_a_table_has_the_same_documents_however_it_is_given(
    workspace: Workspace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("pyarrow", reason="pandas reads parquet with it")
    path = tmp_path / "rows.parquet"
    table = polars.DataFrame(
        {"pmid": [1, 2], "abstract": ["Itch.", "Fever."], "mesh": [["A", "B"], None],
         "dose": [Decimal("2.50"), None], "raw": [b"ab", None], "year": [2020, 2021],
         "seen": [datetime.date(2020, 1, 2), None], "sure": [True, False]}
    )  # fmt: skip
    table.write_parquet(path)
    workspace.ingest(path)
    wanted = [workspace.document(one).metadata for one in ("1", "2")]
    assert wanted[0]["dose"] == 2.5
    for given in (
        pandas.read_parquet(path),
        pandas.read_parquet(path, dtype_backend="pyarrow"),
        polars.read_parquet(path),
        polars.read_parquet(path).to_arrow(),
        table.to_dicts(),
        pandas.read_parquet(path).to_dict("records"),
    ):
        caplog.clear()
        workspace.delete(["1", "2"])
        workspace.add(given)
        assert [workspace.document(one).metadata for one in ("1", "2")] == wanted
        assert caplog.text.count("raw holds bytes and is left out") == 1
        json.dumps([*document_rows(given)], allow_nan=False)  # as a client sends it


def test_a_frame_is_searchable(tmp_path: Path) -> None:
    only = {"splade_model": "none", "dense_model": "none", "components": "bm25"}
    with Workspace(configure({"home": tmp_path / "home", **only})) as workspace:
        assert workspace.add(polars.DataFrame(DATA)).added == 2
        assert [hit.chunk.doc_id for hit in workspace.search("fever").results] == ["2"]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    only = {"splade_model": "none", "dense_model": "none", "components": "bm25"}
    with Workspace(configure({"home": tmp_path / "home", **only})) as opened:
        yield opened


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
def test_a_frame_is_added_by_the_names_of_its_columns(workspace: Workspace, make: Any) -> None:
    frame = make(
        {
            "PMID": [7, 8],
            "Heading": ["Itch", None],
            "Aim": ["Why?", "Why not?"],
            "Finding": ["It stopped.", None],
            "name": ["x", "y"],
        }
    )
    written = workspace.add_frame(frame, text=["Aim", "Finding"], id="PMID", title="Heading")
    assert (written.added, written.failed) == (2, 0)
    seven, eight = workspace.document("7"), workspace.document("8")
    assert (seven.title, eight.title) == ("Itch", "")
    texts = [" ".join(chunk.text for chunk in one.chunks) for one in (seven, eight)]
    assert texts == ["Why?\n\nIt stopped.", "Why not?"]
    assert seven.metadata["name"] == "x"


def test_a_column_that_is_not_there_or_hides_another_is_refused(workspace: Workspace) -> None:
    frame = polars.DataFrame({"pmid": [1], "abstract": ["x"], "text": ["y"]})
    with pytest.raises(UsageError, match="no field 'body'") as caught:
        workspace.add_frame(frame, text="body", id="pmid")
    assert "abstract, pmid, text" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="'text', which is another one"):
        workspace.add_frame(frame, text="abstract", id="pmid")
    with pytest.raises(UsageError, match="row 1 has no value in 'pmid'"):
        workspace.add_frame(polars.DataFrame({"pmid": [None], "t": ["x"]}), text="t", id="pmid")


def test_one_row_many_rows_and_an_iterator_are_added(workspace: Workspace) -> None:
    seen: list[tuple[str, int]] = []
    assert workspace.add({"doc_id": "one", "text": "fever"}).added == 1
    assert workspace.add([{"doc_id": "two", "text": "cough"}]).added == 1
    rows = ({"doc_id": f"d{at}", "text": f"note {at}"} for at in range(450))
    written = workspace.add(rows, progress=lambda stage, done, total: seen.append((stage, done)))
    assert written.added == 450
    assert [step for step in seen if step[0] == "given"] == [("given", 200), ("given", 400)]
    assert ("read", 450) in seen


def test_documents_are_deleted_by_id(workspace: Workspace) -> None:
    workspace.add([{"doc_id": name, "text": "x"} for name in "abc"])
    assert workspace.delete("a").deleted == 1
    assert workspace.delete(name for name in "bc").deleted == 2
    with pytest.raises(MissingFileError):
        workspace.delete("a")
    with pytest.raises(UsageError, match="is text, not int"):
        workspace.delete([1])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="is text, not int"):
        workspace.delete(1)  # type: ignore[arg-type]


def test_what_json_cannot_say_is_refused_by_its_place(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="document 2 cannot be written as JSON"):
        workspace.add([{"doc_id": "a", "text": "x"}, {"doc_id": "b", "text": object()}])
