"""Can anybody hide a test set that ships with assay, or one that another wrote?"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.app import drafts, testsets
from assay.app.layout import Layout
from assay.errors import ConflictError
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.testsets.load import list_test_sets

SHIPPED = min(list_test_sets())
QUERY = GoldenQuery("q1", "a question", relevant_docs=(Judgment("d1", 1),))


def test_a_question_saved_under_the_name_of_a_shipped_set_is_refused(client: TestClient) -> None:
    before = client.get(f"/v1/testsets/{SHIPPED}").json()
    fields = {"set": SHIPPED, "q": "a question", "grade:d1:chunk_0": "1"}
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "origin": "http://localhost",
    }
    answer = client.post("/ui/grade", content=urlencode(fields), headers=headers)
    assert answer.status_code == 409, answer.text
    assert "ships with assay" in answer.text
    assert client.get(f"/v1/testsets/{SHIPPED}").json() == before


def test_no_way_of_storing_a_set_hides_a_shipped_one(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "home")
    mine = TestSet(SHIPPED, "v9", (QUERY,))
    plain = {
        "name": SHIPPED,
        "version": "v9",
        "queries": [
            {
                "query_id": "q1",
                "query_text": "x",
                "relevant_docs": [{"doc_id": "d1", "grade": 1}],
            }
        ],
    }
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(plain))
    with pytest.raises(ConflictError, match=SHIPPED):
        testsets.upload(layout, json.dumps(plain).encode())
    with pytest.raises(ConflictError, match="ships with assay"):
        testsets.import_file(layout, file, force=True)
    with pytest.raises(ConflictError, match="ships with assay"):
        testsets.save_new(layout, mine)
    with pytest.raises(ConflictError, match="ships with assay"):
        drafts.add_query(layout, SHIPPED, QUERY)
    assert testsets.find(layout, SHIPPED) == list_test_sets()[SHIPPED]


def test_a_question_does_not_hide_a_set_that_is_kept_as_json(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.test_sets.mkdir()
    kept = layout.test_sets / "theirs.json"
    testsets.save_new(layout, TestSet("theirs", "v1", (QUERY,)), kept)
    with pytest.raises(ConflictError, match="not in YAML"):
        drafts.add_query(layout, "theirs", QUERY)
    assert testsets.find(layout, "theirs") == kept
