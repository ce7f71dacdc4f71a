"""Do annotators work over HTTP as at the terminal: blind, durable, each under their own name?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay.store.annotations import AnnotationStore
from assay.store.keys import KeyStore
from tests.unit.http.conftest import MakeService, assert_problem, client_of
from tests.unit.store.test_annotations import ITEMS, QUERIES, a_round

pytestmark = pytest.mark.slow


@pytest.fixture
def client(make_service: MakeService, tmp_path: Path) -> Any:
    store = AnnotationStore(tmp_path / "assay.db")
    store.create(a_round(), QUERIES, ITEMS)
    store.close()
    with client_of(make_service()) as client:
        yield client


def body(task: dict[str, Any], annotator: str, grade: int | None) -> dict[str, Any]:
    return {
        "annotator": annotator,
        "query_id": task["query_id"],
        "chunk_id": task["chunk_id"],
        "grade": grade,
    }


def next_task(client: TestClient, annotator: str) -> Any:
    return client.get("/v1/rounds/2026q4/next", params={"annotator": annotator}).json()


@pytest.mark.req("E12")
def test_two_annotators_judge_everything_and_agree(client: TestClient) -> None:
    seen: dict[str, list[tuple[str, str]]] = {"ann": [], "bob": []}
    for number in range(len(ITEMS)):
        for annotator, passed in seen.items():
            found = next_task(client, annotator)
            assert found["progress"] == {"done": number, "total": len(ITEMS)}
            task = found["task"]
            assert set(task) == {
                "round_id", "query_id", "query_text", "chunk_id", "title", "section_label", "text",
                "table_html", "number", "total", "proposed",
            }  # fmt: skip
            passed.append((task["query_id"], task["chunk_id"]))
            grade = int(task["chunk_id"][1]) % 4
            answer = client.post("/v1/rounds/2026q4/grades", json=body(task, annotator, grade))
            assert answer.status_code == 200, answer.text
    assert next_task(client, "ann")["task"] is None
    assert seen["ann"] != seen["bob"], "each has an order of their own"
    assert sorted(seen["ann"]) == sorted(seen["bob"])
    found = client.get("/v1/rounds/latest/agreement").json()
    assert (found["passed"], found["kappa"]["value"], found["open"]) == (True, 1.0, 0)


def test_a_difference_goes_to_a_third_person(client: TestClient) -> None:
    task = next_task(client, "ann")["task"]
    client.post("/v1/rounds/2026q4/grades", json=body(task, "ann", 3))
    client.post("/v1/rounds/2026q4/grades", json={**body(task, "bob", 1), "comment": "off topic"})
    place = "/v1/rounds/2026q4/disputes"
    (one,) = client.get(place, params={"person": "carol"}).json()["disputes"]
    assert (one["grades"], one["comments"]) == ([1, 3], ["off topic"])
    assert_problem(client.get(place, params={"person": "bob"}), 400)
    said = {"person": "carol", "query_id": task["query_id"], "chunk_id": task["chunk_id"]}
    decided = client.post("/v1/rounds/2026q4/decisions", json={**said, "grade": 2})
    assert decided.json()["by"] == "carol"
    assert client.get(place, params={"person": "carol"}).json()["disputes"] == []
    refused = client.post("/v1/rounds/2026q4/decisions", json={**said, "person": "ann", "grade": 2})
    assert_problem(refused, 400)


def test_undo_and_the_same_grade_again(client: TestClient) -> None:
    task = next_task(client, "ann")["task"]
    first = client.post("/v1/rounds/2026q4/grades", json=body(task, "ann", None)).json()
    again = client.post("/v1/rounds/2026q4/grades", json=body(task, "ann", None)).json()
    assert first == again
    undone = client.post("/v1/rounds/2026q4/undo", json={"annotator": "ann"}).json()
    assert undone["undone"]["chunk_id"] == task["chunk_id"]
    assert undone["progress"]["done"] == 0
    assert client.post("/v1/rounds/2026q4/undo", json={"annotator": "ann"}).json()["undone"] is None


@pytest.mark.parametrize("grade", [4, -1, 2.5, "3", True])
def test_what_is_no_grade_is_refused(client: TestClient, grade: object) -> None:
    task = next_task(client, "ann")["task"]
    said = {**body(task, "ann", 0), "grade": grade}
    assert_problem(client.post("/v1/rounds/2026q4/grades", json=said), 422)


def test_strangers_and_unknown_rounds(client: TestClient) -> None:
    params = {"annotator": "carol"}
    assert_problem(client.get("/v1/rounds/2026q4/next", params=params), 400)
    assert_problem(client.get("/v1/rounds/other/next", params=params), 404)
    assert [one["round_id"] for one in client.get("/v1/rounds").json()["rounds"]] == ["2026q4"]


def test_a_key_works_under_its_own_name_and_sees_no_grades_of_others(
    make_service: MakeService, tmp_path: Path
) -> None:
    store = AnnotationStore(tmp_path / "assay.db")
    store.create(a_round(), QUERIES, ITEMS)
    store.close()
    keys = KeyStore(tmp_path / "assay.db")
    _, secret = keys.create("ann", ["annotate"])
    keys.close()
    with client_of(make_service(), headers={"authorization": f"Bearer {secret}"}) as client:
        assert next_task(client, "ann")["task"] is not None
        other = client.get("/v1/rounds/2026q4/next", params={"annotator": "bob"})
        assert "belongs to ann" in assert_problem(other, 403)["detail"]
        assert_problem(client.get("/v1/rounds/2026q4/agreement"), 403)
