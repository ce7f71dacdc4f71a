"""Are rows and data frames taken as documents?"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

from assay.app.rows import document_rows
from assay.app.workspace import Workspace
from assay.errors import UsageError
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
    with pytest.raises(UsageError, match="a mapping of fields, not str"):
        list(document_rows("abc"))


def test_a_frame_is_searchable(tmp_path: Path) -> None:
    only = {"splade_model": "none", "dense_model": "none", "components": "bm25"}
    with Workspace(configure({"home": tmp_path / "home", **only})) as workspace:
        assert workspace.add_documents(polars.DataFrame(DATA)).added == 2
        assert [hit.chunk.doc_id for hit in workspace.search("fever").results] == ["2"]
