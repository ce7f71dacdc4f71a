"""Are held-out questions masked, looks at them noted, and faults shown with their lines?"""

from __future__ import annotations

import json
import re
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.testsets.load import load_test_set
from tests.unit.http.pages.conftest import FORM
from tests.unit.http.small import TEST_SET

ADDRESS = "/testsets/test_set_v1"
CHANGED = {
    **TEST_SET["queries"][0],
    "query_text": "another question",
    "relevant_docs": [
        {"doc_id": "d9", "chunk_id": "d9:chunk_9", "grade": 1},
        {"doc_id": "d8", "chunk_id": "d8:chunk_8", "grade": 2},
    ],
}


@pytest.mark.slow
def test_what_is_held_out_is_masked_until_somebody_looks(pages: TestClient) -> None:
    found = load_test_set("test_set_v1")
    (hidden, *_), (open_one, *_) = found.held_out_queries, found.evaluation_queries
    masked = pages.get(ADDRESS).text
    assert open_one.query_text in masked
    assert hidden.query_id in masked
    assert hidden.query_text not in masked
    assert "never looked at" in masked
    asked = pages.get(f"{ADDRESS}?text={hidden.query_text}").text
    assert f"<code>{hidden.query_id}</code>" not in asked  # searching must not tell either
    assert hidden.query_text in pages.get(f"{ADDRESS}?reveal=on").text
    assert "looked at once" in pages.get(ADDRESS).text


@pytest.mark.slow
def test_a_difference_that_either_set_holds_out_is_told_without_its_words(
    pages: TestClient,
) -> None:
    held = {"seed": 1, "query_ids": ["q1"]}
    for name, change in (
        ("small", {}),
        ("split", {"held_out": held}),
        ("other", {"held_out": held, "queries": [CHANGED, *TEST_SET["queries"][1:]]}),
    ):
        assert pages.post("/v1/testsets", json={**TEST_SET, "name": name, **change}).is_success
    only_split = pages.get("/v1/testsets/small/diff/split").json()
    assert (only_split["changed"], only_split["judgments"]) == ([], [])
    assert only_split["held_out_in"] == ["q1"]
    words = TEST_SET["queries"][0]["query_text"]
    for before in ("small", "split"):
        found = pages.get(f"/v1/testsets/{before}/diff/other").json()
        assert not found["same"]
        assert [one["name"] for one in found["changed"]] == ["query_text"]
        assert [(one["before"], one["after"]) for one in found["judgments"]] == [(None, None)]
        shown = pages.get(f"/testsets/{before}/diff/other").text
        assert "no difference that counts" not in shown
        assert "(held out)" in shown
        for text in (str(found), shown):
            assert words not in text
            assert "another question" not in text
            assert "d9:chunk_9" not in text


def test_every_problem_of_a_pasted_set_has_its_line(pages: TestClient) -> None:
    text = "name: mine\nversion: v1\nqueries:\n  - query_id: q1\n    query_text: x\n"
    text += (
        "    relevant_docs:\n      - {doc_id: a, grade: 7}\n  - query_id: q1\n    query_text: y\n"
    )
    answer = pages.post("/ui/validate", content=urlencode({"text": text}), headers=FORM)
    assert answer.status_code == 200
    assert "line 7" in answer.text
    assert "appears twice" in answer.text
    sound = "name: m\nversion: v1\nqueries:\n  - {query_id: q, query_text: x, "
    sound += "relevant_docs: [{doc_id: a, grade: 3}]}\n"
    answer = pages.post("/ui/validate", content=urlencode({"text": sound}), headers=FORM)
    assert "Sound: 1 query" in answer.text


@pytest.mark.slow
def test_a_page_of_many_judgments_stays_light(pages: TestClient) -> None:
    """The shipped set has 1,683; a single query shows all of its own."""
    many = pages.get("/testsets/test_set_v1").text
    assert len(many) < 150_000
    found = re.search(
        r'href="(/testsets/test_set_v1\?text=q001)#queries">all (\d+) judgments', many
    )
    assert found is not None
    one = pages.get(found[1]).text
    assert one.count('class="judged-doc"') == int(found[2])
    assert "judgments</a>" not in one


def test_strata_far_from_their_target_are_marked(pages: TestClient) -> None:
    assert ">too many<" not in pages.get(ADDRESS).text
    fields = {"set": "lopsided", "q": "headache", "query_type": "exact_term"}
    body = urlencode({**fields, "grade:d1:chunk_0": "3"})
    pages.post("/ui/grade", content=body, headers=FORM)
    assert ">too many<" in pages.get("/testsets/lopsided").text


def test_a_test_set_is_stored_from_the_page(pages: TestClient) -> None:
    text = json.dumps({**TEST_SET, "name": "mine"})
    shown = pages.post("/ui/testsets", content=urlencode({"text": text}), headers=FORM)
    assert shown.status_code == 200
    assert "<h1>mine</h1>" in shown.text
    table = "query,doc_id,grade\nheadache,d1:chunk_0,3\n"
    for fields, status in (({}, 400), ({"name": "table"}, 204)):
        answer = pages.post(
            "/ui/testsets",
            content=urlencode({"text": table, **fields}),
            headers=FORM | {"hx-request": "true"},
        )
        assert answer.status_code == status, answer.text
    assert answer.headers["hx-redirect"] == "/testsets/table"
    other = urlencode({"text": table.replace("3", "2"), "name": "table"})
    again = pages.post("/ui/testsets", content=other, headers=FORM)
    assert again.status_code == 409
    assert "another test set table" in again.text
