"""Do documents come in, become searchable, and go?"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from assay.app.workspace import Workspace
from assay.settings import configure
from tests.unit.http.conftest import SETTINGS, MakeService, assert_problem, client_of
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow

NOTE = {"doc_id": "note-1", "title": "A note", "text": "Zolmitriptan eased the cluster headache."}


def found(client: TestClient, query: str) -> list[str]:
    body = client.get("/v1/search", params={"q": query}).json()
    return [hit["doc_id"] for hit in body["results"]]


def test_a_document_is_found_once_it_was_sent_and_not_after_it_was_deleted(
    small: TestClient,
) -> None:
    assert found(small, "zolmitriptan") == []
    written = small.post("/v1/documents", json={"documents": [NOTE]})
    assert written.status_code == 200, written.text
    assert written.json()["added"] == 1
    assert found(small, "zolmitriptan") == ["note-1"]
    assert small.get("/v1/documents/note-1").json()["title"] == "A note"
    listed = small.get("/v1/documents", params={"limit": 2}).json()
    assert listed["total"] > len(listed["documents"]) == 2
    rest = small.get("/v1/documents", params={"offset": 2}).json()["documents"]
    assert {"doc_id": "note-1", "title": "A note", "chunks": 1}.items() <= rest[-1].items()
    assert_problem(small.get("/v1/documents", params={"limit": 0}), 422)
    again = small.post("/v1/documents", json={"documents": [NOTE]})
    assert again.json()["unchanged"] == 1
    assert small.delete("/v1/documents/note-1").json()["deleted"] == 1
    assert found(small, "zolmitriptan") == []
    assert_problem(small.delete("/v1/documents/note-1"), 404)


DOI = "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"


def test_a_doi_is_an_id_like_any_other(small: TestClient) -> None:
    address = f"/v1/documents/{quote(DOI, safe='')}"
    small.post("/v1/documents", json={"documents": [NOTE | {"doc_id": DOI}]}).raise_for_status()
    assert found(small, "zolmitriptan") == [DOI]
    assert small.get(address).json()["doc_id"] == DOI
    assert small.delete(address).json()["deleted"] == 1
    assert_problem(small.get(address), 404)


def test_what_another_process_deletes_is_gone_from_the_next_answer(
    small: TestClient, home: Path
) -> None:
    def texts() -> list[str]:
        body = small.get("/v1/search", params={"q": "headache"}).json()
        return [hit["text"] for hit in body["results"]]

    assert len(texts()) == len(texts()) == 2  # the second time from memory
    with Workspace(configure({"home": home, **SETTINGS}, environ={}, folder=home)) as other:
        other.delete(["d1"])
        assert texts() == ["Triptans end a migraine headache quickly."]
        other.add([{"doc_id": "d2", "title": "Migraine", "text": "No more headache."}])
        assert texts() == ["No more headache."]


@pytest.mark.parametrize(
    "documents",
    [
        [],
        [{}],
        [{"doc_id": "a"}],
        [{"doc_id": "../../etc/passwd", "text": "x"}],
        [{"doc_id": "a", "text": ""}],
        [{"doc_id": "a", "text": "x"}, {"doc_id": "a", "text": "y"}],
        ["text"],
    ],
    ids=["none", "empty", "no text", "path", "blank", "twice", "no object"],
)
def test_documents_without_sense_are_refused(small: TestClient, documents: list[Any]) -> None:
    response = small.post("/v1/documents", json={"documents": documents})
    assert_problem(response, 422)
    assert "/tmp" not in response.text


def test_the_index_is_shown_checked_and_written(small: TestClient) -> None:
    card = small.get("/v1/index").json()
    assert card["documents"] == 5
    assert "home" not in card
    assert small.get("/v1/index/check").json() == {"sound": True, "problems": []}
    assert small.post("/v1/index", json={"action": "compact"}).json()["rows"] == 5


def test_models_and_test_sets_are_listed(small: TestClient) -> None:
    models = small.get("/v1/models").json()["models"]
    assert {"dense", "splade", "reranker"} <= {row["role"] for row in models}
    names = [row["name"] for row in small.get("/v1/testsets").json()["test_sets"]]
    assert "test_set_v1" in names
    assert small.get("/v1/testsets/test_set_v1").json()["version"] == "v1"


def test_a_test_set_is_stored_once(small: TestClient) -> None:
    first = small.post("/v1/testsets", json=TEST_SET)
    assert (first.status_code, first.json()["new"]) == (201, True)
    assert first.headers["location"] == "/v1/testsets/small"
    assert small.post("/v1/testsets", json=TEST_SET).json()["new"] is False
    other = {**TEST_SET, "queries": TEST_SET["queries"][:2]}
    assert_problem(small.post("/v1/testsets", json=other), 409)
    judged = "relevant_docs: [{doc_id: d1, grade: 1}]"
    yaml = f"name: typed\nversion: v1\nqueries: [{{query_id: no, query_text: x, {judged}}}]\n"
    sent = small.post("/v1/testsets", content=yaml, headers={"Content-Type": "application/yaml"})
    assert sent.status_code == 201, sent.text
    assert small.get("/v1/testsets/typed").json()["queries"][0]["query_id"] == "no"


def test_a_test_set_is_checked_without_being_stored(small: TestClient) -> None:
    broken = {**TEST_SET, "queries": [{"query_id": "q1", "query_text": ""}]}
    answer = small.post("/v1/testsets/validate", json=broken).json()
    assert answer["sound"] is False
    assert answer["problems"]
    assert_problem(small.get("/v1/testsets/small"), 404)


def test_scopes_hold_for_what_changes_something(make_service: MakeService, home: Path) -> None:
    from assay.store.keys import KeyStore

    store = KeyStore(home / "assay.db")
    _, reader = store.create("reader", ["read"])
    store.close()
    with client_of(make_service(home=home)) as client:
        client.headers["Authorization"] = f"Bearer {reader}"
        assert client.get("/v1/search", params={"q": "headache"}).status_code == 200
        for method, path, body in (
            ("POST", "/v1/documents", {"documents": [NOTE]}),
            ("DELETE", "/v1/documents/d1", None),
            ("POST", "/v1/evaluate", TEST_SET),
            ("POST", "/v1/testsets", TEST_SET),
            ("DELETE", "/v1/runs/x", None),
            ("POST", "/v1/index", {"action": "update"}),
        ):
            assert_problem(client.request(method, path, json=body), 403, "forbidden")
