"""Does an evaluation over HTTP answer as the contract prints it, once per id, and survive?"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay.http.wire.evaluate import EvaluateAnswer
from assay.model.testset_json import to_plain
from assay.store.query_log import QueryLog
from assay.testsets.load import parse_test_set
from tests.unit.http.conftest import MakeService, assert_problem, client_of
from tests.unit.http.small import TEST_SET
from tests.waiting import eventually

pytestmark = pytest.mark.slow

ENDED = ("complete", "failed", "cancelled")


def evaluated(client: TestClient, body: Any = None, **parameters: str) -> dict[str, Any]:
    response = client.post("/v1/evaluate", json=body or TEST_SET, params=parameters)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    EvaluateAnswer.model_validate(answer)
    return answer


@pytest.mark.req("E10")
def test_an_uploaded_test_set_is_answered_with_its_metrics(small: TestClient) -> None:
    answer = evaluated(small)
    assert answer["metrics"]["recall_at_10"] == 1.0
    assert {"recall_at_5", "recall_at_10", "recall_at_20", "ndcg_at_10", "mrr"} <= set(
        answer["metrics"]
    )
    assert set(answer["per_query_type"]) == {"exact_term", "paraphrase", "complex_clinical"}
    assert answer["per_query_type"]["exact_term"]["recall_at_10"] == 1.0
    stored = small.get(f"/v1/runs/{answer['run_id']}").json()
    assert stored["aggregate"]["metrics"] == answer["metrics"]
    assert not answer["warnings"]


def test_answers_are_judged_by_what_the_service_offers(small: TestClient) -> None:
    answer = evaluated(small, judge="words")
    assert "faithfulness" in answer["metrics"]
    assert small.get(f"/v1/runs/{answer['run_id']}").json()["config"]["judge"].startswith("words(")


@pytest.mark.parametrize("judge", ["os:system", "http://169.254.169.254/v1", "no such judge"])
def test_no_caller_names_code_or_an_address_as_a_judge(small: TestClient, judge: str) -> None:
    response = small.post("/v1/evaluate", json=TEST_SET, params={"judge": judge})
    assert_problem(response, 400, "usage")
    assert "is not one that this service offers" in response.json()["detail"]


def test_judged_ids_that_are_not_in_the_index_are_named(small: TestClient) -> None:
    query = {"query_id": "q", "query_text": "heart", "relevant_docs": [{"doc_id": "x", "grade": 1}]}
    said = evaluated(small, {"name": "t", "version": "v1", "queries": [query]})["warnings"]
    assert "1 of 1 judged id is not in the index and cannot be found: x" in said


def test_judged_ids_of_held_out_queries_are_counted_and_not_named(small: TestClient) -> None:
    queries = [
        {"query_id": name, "query_text": "heart", "relevant_docs": [{"doc_id": doc, "grade": 1}]}
        for name, doc in (("q1", "open"), ("q2", "secret"), ("q3", "open"))
    ]
    held = {"seed": 1, "query_ids": ["q2", "q3"]}
    body = {"name": "t", "version": "v1", "queries": queries, "held_out": held}
    said = evaluated(small, body, part="all", evaluation_id="whole")["warnings"]
    start = "2 of 2 judged ids are not in the index and cannot be found: "
    assert f"{start}open, 1 of held-out queries" in said
    assert "secret" not in small.get("/v1/jobs/whole").text


def test_intervals_that_would_take_minutes_are_refused(small: TestClient) -> None:
    too_many = small.post("/v1/evaluate", json=TEST_SET, params={"resamples": "20001"})
    assert_problem(too_many, 422)
    queries = many_queries(2_000)
    measures = [f"P@{{{','.join(map(str, range(at, at + 20)))}}}" for at in range(1, 81, 20)]
    slow = small.post(
        "/v1/evaluate", json=queries, params={"resamples": "20000", "measures": measures}
    )
    assert "take too long" in assert_problem(slow, 422)["detail"]


def test_lists_are_given_by_repeating_their_name(small: TestClient) -> None:
    given = {"measures": ["nDCG@3", "MAP"], "measure": ["RR@5 P@2"], "tag": ["a", "b"]}
    response = small.post("/v1/evaluate", json=TEST_SET, params=given)
    assert response.status_code == 200, response.text
    answer = response.json()
    wanted = {"ndcg_at_3", "mean_average_precision", "mrr_at_5", "precision_at_2"}
    assert wanted <= set(answer["metrics"]), answer["metrics"]
    assert small.get(f"/v1/runs/{answer['run_id']}").json()["tags"] == ["a", "b"]
    twice = small.post("/v1/evaluate?seed=1&seed=2", json=TEST_SET)
    assert_problem(twice, 422, "repeated_parameter")


@pytest.mark.parametrize("odd", ["a\x9b31m", "a\u2028b", "a\u202eb", "a\x1b[31m", "a\u200fb"])
def test_names_and_tags_hold_nothing_that_a_terminal_obeys(small: TestClient, odd: str) -> None:
    for name in ("name", "tag"):
        assert_problem(small.post("/v1/evaluate", json=TEST_SET, params={name: odd}), 422)
    packed = small.get(f"/v1/runs/{evaluated(small)['run_id']}/export").json()
    for name in ("name", "engine", "part"):
        pushed = {**packed, "info": {**packed["info"], "run_id": "odd", name: odd}}
        assert_problem(small.post("/v1/runs", json=pushed), 422)


@pytest.mark.parametrize("trigger", [False, True], ids=["upload", "dataset"])
def test_a_request_of_an_older_version_is_recognized(
    make_service: MakeService, home: Path, trigger: bool
) -> None:
    service = make_service(home=home)
    with client_of(service) as client:
        client.post("/v1/testsets", json=TEST_SET)
        old = {
            "test_set": to_plain(parse_test_set(json.dumps(TEST_SET).encode()).sound()),
            "options": {"rerank": False, "components": "bm25"} if trigger else {},
            "measures": "Recall@{5,10,20} nDCG@10 MRR",
            "mode": "as-written",
            "name": "",
            "per_query": False,
        }
        key = {"Idempotency-Key": "retry-1"}
        owner = "address 127.0.0.1"
        service.jobs.submit(
            "eval_1", "evaluation", old, owner=owner, idempotency_key=key["Idempotency-Key"]
        )
        config = {"search_mode": "bm25"}
        body = {"dataset_id": "small", "retrieval_config": config} if trigger else TEST_SET
        again = client.post("/v1/evaluate?evaluation_id=eval_1", json=body)
        assert again.status_code == 200, again.text
        by_key = client.post("/v1/evaluate", json=body, headers=key).json()
        assert by_key["evaluation_id"] == "eval_1"
        for other in ("depth=7", "measures=MAP", "name=x", "resamples=5"):
            response = client.post(f"/v1/evaluate?evaluation_id=eval_1&{other}", json=body)
            assert_problem(response, 409, "conflict")


@pytest.mark.req("E10")
def test_one_component_alone(small: TestClient) -> None:
    answer = evaluated(small, components="bm25")
    assert small.get(f"/v1/runs/{answer['run_id']}").json()["config"]["components"] == ["bm25"]


@pytest.mark.req("E7")
def test_the_same_again_executes_nothing_and_says_so(small: TestClient) -> None:
    first = evaluated(small)
    second = evaluated(small)
    assert (first["cached"], second["cached"]) == (False, True)
    assert second["run_id"] == second["evaluation_id"] != first["run_id"]
    assert small.get(f"/v1/runs/{second['run_id']}").json()["reused_from"] == first["run_id"]
    assert second["metrics"] == first["metrics"]


@pytest.mark.req("E10")
def test_an_id_is_exact_and_takes_over_no_tag_or_name(small: TestClient) -> None:
    first = evaluated(small, evaluation_id="eval_run_007", tag="weekly-best", name="weekly")
    for taken in ("weekly-best", "weekly"):
        refused = small.post(f"/v1/evaluate?evaluation_id={taken}", json=TEST_SET)
        assert "of the run eval_run_007" in assert_problem(refused, 409)["detail"]
        assert small.get(f"/v1/jobs/{taken}").status_code == 404  # the id may be had later
        assert small.get(f"/v1/runs/{taken}").json()["run_id"] == first["run_id"]
    assert small.get("/v1/runs/eval_run").status_code == 404
    other = evaluated(small, evaluation_id="weekly-17")["run_id"]
    assert small.get("/v1/runs/weekly").json()["run_id"] == first["run_id"]
    assert_problem(small.put(f"/v1/runs/{other}/tags/eval_run_007"), 409)
    named = small.post("/v1/evaluate?name=eval_run_007", json=TEST_SET)
    assert "is the id of another run" in assert_problem(named, 409)["detail"]
    made_up = evaluated(small)["run_id"]
    assert small.get(f"/v1/runs/{made_up[:20]}").json()["run_id"] == made_up


@pytest.mark.req("W10")
def test_an_id_stands_for_one_request(small: TestClient) -> None:
    first = evaluated(small, evaluation_id="eval_run_001")
    assert first["evaluation_id"] == "eval_run_001"
    assert evaluated(small, evaluation_id="eval_run_001") == first
    other = small.post("/v1/evaluate?evaluation_id=eval_run_001&depth=7", json=TEST_SET)
    assert_problem(other, 409, "conflict")


def test_an_idempotency_key_finds_the_same_evaluation(small: TestClient) -> None:
    headers = {"Idempotency-Key": "retry-1"}
    first = small.post("/v1/evaluate", json=TEST_SET, headers=headers)
    second = small.post("/v1/evaluate", json=TEST_SET, headers=headers)
    assert first.json()["evaluation_id"] == second.json()["evaluation_id"]
    third = small.post("/v1/evaluate?depth=7", json=TEST_SET, headers=headers)
    assert_problem(third, 409, "conflict")
    bad = small.post("/v1/evaluate", json=TEST_SET, headers={"Idempotency-Key": "a b"})
    assert_problem(bad, 400, "bad_idempotency_key")


@pytest.mark.req("W1", "W2")
def test_a_dataset_of_the_service(small: TestClient) -> None:
    assert small.post("/v1/testsets", json=TEST_SET).status_code == 201
    trigger = {
        "evaluation_id": "eval_run_002",
        "dataset_id": "small",
        "retrieval_config": {"top_k": [1, 3], "rerank": False, "search_mode": "bm25"},
        "speaker_modes": ["ALL", "PATIENT", "CLINICIAN"],
    }
    answer = evaluated(small, trigger)
    assert {"precision_at_1", "recall_at_3", "mean_average_precision"} <= set(answer["metrics"])
    empty = small.post("/v1/evaluate", json={**trigger, "speaker_modes": ["PATIENT"]})
    assert_problem(empty, 422)
    assert_problem(small.post("/v1/evaluate", json={"dataset_id": "nope"}), 404)
    assert_problem(small.post("/v1/evaluate", json={**trigger, "speaker_modes": ["X"]}), 422)


def test_every_problem_of_an_upload_is_listed(small: TestClient) -> None:
    broken = json.loads(json.dumps(TEST_SET))
    broken["queries"][0]["relevant_docs"][0]["grade"] = 9
    broken["queries"][1]["query_type"] = "riddle"
    broken["queries"][2]["query_text"] = ""
    body = assert_problem(small.post("/v1/evaluate", json=broken), 422, "invalid")
    assert {fault["where"] for fault in body["errors"]} == {"q1", "q2", "q3"}


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"3", b"null", b'{"a":1,"a":2}', b"[" * 5000, b'{"queries": NaN}']
)
def test_a_body_that_is_no_test_set_is_refused(small: TestClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    response = small.post("/v1/evaluate", content=body, headers=headers)
    assert response.status_code in {400, 413, 422}
    assert_problem(response, response.status_code)


def test_too_many_queries_are_refused(small: TestClient) -> None:
    query = {"query_text": "x", "relevant_docs": [{"doc_id": "d1:chunk_0", "grade": 1}]}
    many = [{**query, "query_id": f"q{number}"} for number in range(10_001)]
    response = small.post("/v1/evaluate", json={"name": "many", "version": "v1", "queries": many})
    assert response.status_code in {413, 422}
    assert_problem(response, response.status_code)


@pytest.mark.req("E10")
def test_a_long_evaluation_is_a_job_that_can_be_followed(small: TestClient) -> None:
    response = small.post("/v1/evaluate", json=TEST_SET, headers={"Prefer": "respond-async"})
    assert response.status_code == 202
    address = response.headers["location"]
    assert response.json()["state"] in {"queued", "running"}
    events = small.get(f"{address}/events").text
    assert "event: complete" in events
    last = json.loads(events.strip().rpartition("data: ")[2])
    assert last["done"] == last["total"] == 3
    assert small.get(address).json()["result"]["metrics"]["recall_at_10"] == 1.0
    assert small.get("/v1/jobs").json()["total"] == 1


def many_queries(count: int) -> dict[str, Any]:
    query = TEST_SET["queries"][0]
    queries = [
        {**query, "query_id": f"q{number}", "query_text": f"headache {number}"}
        for number in range(count)
    ]
    return {"name": "many", "version": "v1", "queries": queries}


def begun(client: TestClient, body: Any, headers: dict[str, str] | None = None) -> str:
    """Start a job and wait until it has done something."""
    wanted = {"Prefer": "respond-async", **(headers or {})}
    response = client.post("/v1/evaluate", json=body, headers=wanted)
    address = str(response.headers["location"])
    eventually(lambda: client.get(address).json()["done"] > 0)
    return address


def test_a_job_can_be_cancelled(small: TestClient) -> None:
    address = begun(small, many_queries(5_000))
    small.delete(address)
    eventually(lambda: small.get(address).json()["state"] != "running")
    job = small.get(address).json()
    assert job["state"] == "cancelled"
    assert 0 < job["done"] < 5_000
    assert small.delete(address).json()["state"] == "cancelled"
    assert_problem(small.delete("/v1/jobs/nope"), 404)


@pytest.mark.req("W9")
def test_a_cancelled_evaluation_goes_on_under_its_id(small: TestClient) -> None:
    body, later = many_queries(600), {"Prefer": "respond-async"}
    small.post("/v1/evaluate?evaluation_id=weekly", json=body, headers=later)
    eventually(lambda: small.get("/v1/jobs/weekly").json()["done"] > 20)
    small.delete("/v1/jobs/weekly")
    eventually(lambda: small.get("/v1/jobs/weekly").json()["state"] == "cancelled")
    answered = small.get("/v1/runs/weekly/queries").json()["total"]
    assert 0 < answered < 600
    other = small.post("/v1/evaluate?evaluation_id=weekly", json=TEST_SET)
    assert_problem(other, 409, "conflict")
    again = small.post("/v1/evaluate?evaluation_id=weekly", json=body, headers=later)
    assert again.json()["state"] in {"queued", "running", "complete"}
    eventually(lambda: small.get("/v1/jobs/weekly").json()["state"] in ENDED)
    assert small.get("/v1/jobs/weekly").json()["state"] == "complete"
    assert small.get("/v1/runs/weekly").json()["queries"] == 600


@pytest.mark.req("W9")
def test_a_job_goes_on_after_a_restart(
    make_service: MakeService, home: Path, log: io.StringIO
) -> None:
    first = make_service(home=home)
    with client_of(first) as client:
        address = begun(client, many_queries(600))
    first.close()
    assert '"state": "interrupted"' in log.getvalue()
    with client_of(make_service(home=home)) as client:
        eventually(lambda: client.get(address).json()["state"] in ENDED)
        job = client.get(address).json()
        assert job["state"] == "complete"
        run = client.get(f"/v1/runs/{job['run_id']}").json()
        assert run["status"] == "complete"
        assert run["queries"] == 600


@pytest.mark.req("E12")
def test_evaluations_stay_out_of_the_query_log(make_service: MakeService, home: Path) -> None:
    service = make_service(home=home)
    with client_of(service) as client:
        evaluated(client)
    service.close()
    log = QueryLog(home / "assay.db")
    assert log.count() == 0
    log.close()


@pytest.mark.req("E11")
def test_the_gauges_follow_the_store(make_service: MakeService, home: Path) -> None:
    gauge = "medicalkg_retrieval_recall_at_k{"
    with client_of(make_service(home=home)) as client:
        assert gauge not in client.get("/metrics").text
        evaluated(client, {**TEST_SET, "name": "uploaded"})
        assert gauge not in client.get("/metrics").text, "anybody may send a test set"
        saved = {
            "evaluation_id": "junk",
            "dataset_id": "small",
            "overall_metrics": {"recall_at_10": 0.1},
            "total_queries": 50,
        }
        assert client.post("/api/evaluation/save", json=saved).status_code == 200
        assert gauge not in client.get("/metrics").text, "saved figures are no run"
        assert client.post("/v1/testsets", json=TEST_SET).status_code == 201
        evaluated(client, {"dataset_id": "small"})
        shown = (
            'medicalkg_retrieval_recall_at_k{configuration="workspace",k="10",match="exact",'
            'part="all",test_set="small",version="v1"} 1.0'
        )
        assert shown in client.get("/metrics").text
        one = {**TEST_SET, "queries": [{**TEST_SET["queries"][0], "query_text": "nothing"}]}
        evaluated(client, one)
        assert shown in client.get("/metrics").text
    with client_of(make_service(home=home)) as client:
        text = client.get("/metrics").text
        assert shown in text
        assert "medicalkg_retrieval_mrr{" in text
        assert "medicalkg_evaluation_last_run_timestamp_seconds{" in text
