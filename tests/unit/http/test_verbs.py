"""Are the verbs of the command line reachable over HTTP, with the same answers?"""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import assay
from assay.store.backup import restore
from assay.store.keys import KeyStore
from tests.unit.http.conftest import MakeService, assert_problem, client_of
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow


@pytest.fixture
def pair(small: TestClient) -> TestClient:
    """A client whose service has two runs of one test set, which it has, too."""
    assert small.post("/v1/testsets", json=TEST_SET).status_code == 201
    for name, depth in (("run_a", "1"), ("run_b", "100")):
        response = small.post(f"/v1/evaluate?evaluation_id={name}&depth={depth}", json=TEST_SET)
        assert response.status_code == 200, response.text
    return small


def test_measures_are_listed(client: TestClient) -> None:
    found = {one["name"]: one for one in client.get("/v1/measures").json()["measures"]}
    assert "linear" in found["nDCG"]["parameters"]["gain"]["choices"]


@pytest.mark.req("E1")
def test_runs_that_are_sent_are_scored_as_the_library_scores_them(client: TestClient) -> None:
    qrels = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"x": 1}}
    good, poor = (
        {"q1": {"a": 3.0, "z": 2.0, "b": 1.0}, "q2": {"x": 1.0}},
        {"q1": ["z", "c"], "q2": []},
    )
    asked = {"qrels": qrels, "runs": {"good": good, "poor": poor}, "measures": ["nDCG@10", "MRR"]}
    body = client.post("/v1/score", json={**asked, "per_query": True, "ci": True}).json()
    first, second = body["runs"]
    assert first["per_query"]["q1"]["ndcg_at_10"] == 0.9049
    wanted = assay.score(qrels, {**poor}, "nDCG@10 MRR").to_dict()["metrics"]
    assert second["metrics"] == wanted
    assert body["comparison"]["baseline"] == "good"
    alone = client.post("/v1/score", json={"qrels": qrels, "runs": {"one": poor}}).json()
    assert alone["comparison"] is None
    grouped = {**asked, "by": {"q1": "hard", "q2": "easy"}}
    assert set(client.post("/v1/score", json=grouped).json()["runs"][0]["groups"]) == {
        "hard",
        "easy",
    }


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"qrels": {}}, 422),
        ({"qrels": {"q1": {"a": 1.5}}}, 422),
        ({"qrels": {"q1": {"a": True}}}, 422),
        ({"runs": {}}, 422),
        ({"runs": {"../x": {"q1": ["a"]}}}, 422),
        ({"runs": {"r": {"q1": {"a": 1.0}, "q2": ["a"]}}}, 422),
        ({"measures": ["Beauty@3"]}, 400),
        ({"resamples": 10**9}, 422),
        ({"clusters": {"q1": 7}}, 422),
        ({"beauty": True}, 422),
    ],
)
def test_scoring_refuses(client: TestClient, change: dict[str, object], status: int) -> None:
    sound = {"qrels": {"q1": {"a": 1}}, "runs": {"r": {"q1": ["a"]}}}
    response = client.post("/v1/score", json={**sound, **change})
    assert_problem(response, status)


@pytest.mark.req("M1")
def test_decisions_are_measured(client: TestClient) -> None:
    body = {"labels": [1, 0, 1, 0, 1], "scores": [0.9, 0.2, 0.6, 0.7, 0.8], "resamples": 200}
    found = client.post("/v1/classify", json={**body, "measures": ["AUROC"]}).json()
    assert found["positives"] == 3
    assert found["metrics"]["auroc"] == round(5 / 6, 4)
    assert found["sampling"]["resamples"] == 200
    one_class = client.post("/v1/classify", json={**body, "labels": [1] * 5}).json()
    assert one_class["metrics"]["auroc"] is None
    assert_problem(client.post("/v1/classify", json={**body, "labels": [1, 0]}), 422)
    assert_problem(client.post("/v1/classify", json={**body, "labels": [2] * 5}), 422)


def test_what_would_take_minutes_is_refused(client: TestClient) -> None:
    body = {"labels": [0, 1] * 20_000, "scores": [0.5] * 40_000, "resamples": 20_000}
    refused = assert_problem(client.post("/v1/classify", json=body), 422)
    assert "fewer resamples" in refused["hint"]


def test_an_answer_names_its_sources_or_refuses(small: TestClient) -> None:
    found = small.get("/v1/answer", params={"q": "What does aspirin ease?"}).json()
    assert found["answer"]["grounded"], found
    assert found["sources"][0]["doc_id"] == "d1"
    assert found["request_id"]
    none = small.get("/v1/answer", params={"q": "zzz"}).json()
    assert none["answer"]["grounded"] is False
    assert none["answer"]["refusal_reason"]
    assert_problem(small.get("/v1/answer?q=x&answerer=http://evil"), 422)


@pytest.mark.req("R13")
def test_a_query_is_read_without_searching(small: TestClient) -> None:
    found = small.get("/v1/search/classify", params={"q": "adverse events of aspirin"}).json()
    assert {"tabular", "adverse_events"} <= {one["intent"] for one in found["intents"]}
    assert found["query_type"] in {"exact_term", "paraphrase", "complex_clinical"}


@pytest.mark.req("W11")
def test_history_goes_from_old_to_new(pair: TestClient) -> None:
    found = pair.get("/v1/history/small?measure=Recall@10").json()
    assert [run["run_id"] for run in found["runs"]] == ["run_a", "run_b"]
    assert found["trend"]["recall_at_10"]["direction"] == "up"
    assert pair.get("/v1/history/small?limit=1").json()["runs"][0]["run_id"] == "run_b"
    assert pair.get("/v1/history/other").json()["runs"] == []
    assert_problem(pair.get("/v1/history/small?measure=Beauty"), 400)


def test_a_run_is_scored_again_and_shown(pair: TestClient) -> None:
    shown = pair.get("/v1/runs/run_a/scores?measure=MAP&per_query=true&waterfall=true").json()
    assert "mean_average_precision" in shown["metrics"]
    assert "ndcg_at_10" not in shown["metrics"]
    assert set(shown["per_query"]) == {"q1", "q2", "q3"}
    assert "waterfall" in shown
    query = pair.get("/v1/runs/run_a/queries/q1").json()
    assert query["relevant_docs"][0] == {"id": "d1:chunk_0", "grade": 3, "rank": 1}
    assert_problem(pair.get("/v1/runs/run_a/queries/q99"), 404)
    again = pair.post("/v1/runs/run_a/rescore", json={"measures": ["P@5"]}).json()
    assert "precision_at_5" not in again["before"]
    assert "precision_at_5" in pair.get("/v1/runs/run_a").json()["aggregate"]["metrics"]


@pytest.mark.parametrize(
    ("form", "kind", "begins"),
    [
        ("md", "text/markdown", "# Evaluation Report: run_a"),
        ("html", "text/html", "<!doctype html>"),
        ("csv", "text/csv", "run,group,query,measure"),
        ("json", "application/json", "{"),
    ],
)
def test_a_run_is_reported(pair: TestClient, form: str, kind: str, begins: str) -> None:
    response = pair.get(f"/v1/runs/run_a/report?format={form}")
    assert response.headers["content-type"].startswith(kind)
    assert response.text.lower().startswith(begins.lower())


def test_a_run_becomes_a_run_file(pair: TestClient) -> None:
    lines = pair.get("/v1/runs/run_b/trec").text.splitlines()
    assert lines[0].split()[:4] == ["q1", "Q0", "d1:chunk_0", "1"]
    assert pair.get("/v1/runs/run_b/trec?documents=true").text.split()[2] == "d1"


@pytest.mark.req("E13")
def test_a_test_set_is_split_once_and_its_held_out_part_is_masked(pair: TestClient) -> None:
    done = pair.post("/v1/testsets/small/split", json={"share": 0.34, "seed": 3}).json()
    (hidden,) = done["parts"]["held_out"]
    shown = pair.get("/v1/testsets/small").json()
    texts = {query["query_id"]: query["query_text"] for query in shown["queries"]}
    assert texts[hidden].startswith("(held out")
    assert sum(text.startswith("(held out") for text in texts.values()) == 1
    dataset = pair.get("/api/evaluation/dataset/small").json()
    assert hidden not in {query["query_id"] for query in dataset["test_queries"]}
    whole = pair.get("/api/evaluation/dataset/small?held_out=true").json()
    assert whole["total_queries"] == 3
    assert_problem(pair.post("/v1/testsets/small/split", json={"share": 0.67}), 409)
    assert pair.get("/v1/testsets/small").json() == shown
    assert_problem(pair.post("/v1/testsets/test_set_v1/split", json={}), 409)
    assert_problem(pair.post("/v1/testsets/nothing/split", json={}), 404)


def test_held_out_queries_need_the_scope_evaluate(make_service: MakeService, home: Path) -> None:
    store = KeyStore(home / "assay.db")
    _, reader = store.create("reader", ["read"])
    _, judge = store.create("judge", ["evaluate", "read"])
    store.close()
    service = make_service(home=home)
    with client_of(service) as client:
        asks = {"headers": {"authorization": f"Bearer {judge}"}}
        client.post("/v1/testsets", json=TEST_SET, **asks)  # type: ignore[arg-type]
        client.post("/v1/testsets/small/split", json={"share": 0.34}, **asks)  # type: ignore[arg-type]
        refused = client.get(
            "/v1/testsets/small?held_out=true", headers={"authorization": f"Bearer {reader}"}
        )
        assert_problem(refused, 403)
        assert service.workspace.runs.held_out_uses("small") == ()
        client.get("/v1/testsets/small?held_out=true", **asks)  # type: ignore[arg-type]
        assert len(service.workspace.runs.held_out_uses("small")) == 1


def test_two_test_sets_are_compared_and_exported(pair: TestClient) -> None:
    other = {**TEST_SET, "name": "smaller", "queries": TEST_SET["queries"][:2]}
    pair.post("/v1/testsets", json=other)
    found = pair.get("/v1/testsets/small/diff/smaller").json()
    assert found["removed"] == ["q3"]
    assert found["same"] is False
    assert pair.get("/v1/testsets/small/diff/small").json()["same"] is True
    files = pair.get("/v1/testsets/small/export?form=trec").json()
    assert any("q1 0 d1:chunk_0 3" in text for text in files["files"].values())
    assert "query types" in files["lost"]
    assert "$schema" in pair.get("/v1/testset-schema").json()


def test_a_backup_is_downloaded_and_restored(small: TestClient, home: Path, tmp_path: Path) -> None:
    left = home / ".assay-backup-of-a-service-that-was-killed"
    left.mkdir()
    os.utime(left, (0, 0))
    response = small.get("/v1/backup")
    assert response.headers["content-type"] == "application/gzip"
    assert ".tar.gz" in response.headers["content-disposition"]
    assert int(response.headers["content-length"]) == len(response.content)
    with tarfile.open(fileobj=io.BytesIO(response.content)) as packed:
        assert "assay.db" in packed.getnames()
    place = tmp_path / "copy.tar.gz"
    place.write_bytes(response.content)
    assert restore(place, tmp_path / "restored").documents == 5
    assert not list(home.glob(".assay-backup-*"))


def test_a_backup_needs_the_scope_admin(make_service: MakeService, home: Path) -> None:
    store = KeyStore(home / "assay.db")
    _, secret = store.create("reader", ["read", "evaluate", "annotate"])
    store.close()
    with client_of(make_service(home=home)) as client:
        refused = client.get("/v1/backup", headers={"authorization": f"Bearer {secret}"})
        assert_problem(refused, 403)


def test_the_gate_takes_the_options_of_the_command(pair: TestClient) -> None:
    strict = {"baseline": "run_b", "current": "run_a", "limits": ["Recall@10=5%"], "seed": 7}
    ruling = pair.post("/v1/gate", json={**strict, "non_inferiority": True, "alpha": 0.1}).json()
    assert ruling["mode"] == "non_inferiority"
    same = pair.post("/v1/gate", json={"baseline": "run_a", "current": "run_a"}).json()
    assert "the run is its own baseline" in same["warnings"]
