"""Does the page of a document show its text, and where it was found and judged?"""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.unit.http.small import TEST_SET


def test_documents_are_listed_and_found_by_title(reading: TestClient) -> None:
    assert "Metformin" in reading.get("/documents").text
    found = reading.get("/documents?text=statin").text
    assert "Statins" in found
    assert "Metformin" not in found
    assert "No document has these words" in reading.get("/documents?text=nothing").text
    choices = reading.get("/ui/documents?document=statin", headers={"hx-request": "true"})
    assert choices.text.strip() == '<option value="d3">Statins</option>'


def test_a_document_shows_its_chunks_with_the_words_of_a_question(reading: TestClient) -> None:
    text = reading.get("/documents/d1?chunk=d1:chunk_0&q=headache").text
    assert '<h1 dir="auto">Aspirin</h1>' in text
    assert 'id="d1:chunk_0"' in text
    assert "card chunk entry chosen" in text
    assert "<mark>headache</mark>" in text
    assert reading.get("/documents/nothing").status_code == 404
    assert reading.get("/documents/nothing/uses").status_code == 404


def test_a_document_says_where_it_was_found_and_judged(reading: TestClient) -> None:
    name = TEST_SET["name"]
    reading.post("/v1/testsets", json=TEST_SET)
    text = reading.get("/documents/d1/uses").text
    assert f'href="/testsets/{name}?text=q1#queries"' in text
    assert 'href="/runs/run_a/query/q1"' in text
    assert "grade 3 of 3" in text
    nowhere = reading.get("/documents/d4/uses").text
    assert "no query" in nowhere


@pytest.mark.slow
def test_held_out_queries_are_counted_and_not_named(pages: TestClient) -> None:
    held = {"seed": 1, "query_ids": ["q1"]}
    pages.post("/v1/testsets", json={**TEST_SET, "held_out": held})
    found = pages.get("/v1/documents/d1/uses").json()
    assert found["held_out"] == 1
    assert [one["query_id"] for one in found["judged"]] == []
