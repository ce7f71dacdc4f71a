"""Can runs be listed, tagged, compared, gated, and carried from one service to another?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from assay.app.run_exchange import push, unpack
from assay.client import Client, RemoteRuns
from assay.errors import UsageError
from assay.http.service import Service
from assay.model.runs import QueryOutcome, RunStatus
from assay.model.testset import HeldOut
from assay.store.keys import KeyStore
from tests.unit.http.conftest import MakeService, assert_problem, client_of
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow


@pytest.fixture
def pair(small: TestClient) -> TestClient:
    """A client whose service has two runs, a and b."""
    for name, depth in (("run_a", "1"), ("run_b", "100")):
        response = small.post(f"/v1/evaluate?evaluation_id={name}&depth={depth}", json=TEST_SET)
        assert response.status_code == 200, response.text
    return small


def test_runs_are_listed_shown_tagged_and_deleted(pair: TestClient) -> None:
    listed = pair.get("/v1/runs").json()
    assert [run["run_id"] for run in listed["runs"]] == ["run_b", "run_a"]
    assert pair.get("/v1/runs?suite=small&status=complete&limit=1").json()["total"] == 2
    assert pair.get("/v1/runs/latest").json()["run_id"] == "run_b"
    assert pair.put("/v1/runs/run_a/tags/baseline").json()["tags"] == ["baseline"]
    assert pair.get("/v1/runs/baseline").json()["run_id"] == "run_a"
    page = pair.get("/v1/runs/run_a/queries?limit=2").json()
    assert page["total"] == 3
    assert [one["query_id"] for one in page["outcomes"]] == ["q1", "q2"]
    assert pair.delete("/v1/tags/baseline").json() == {"deleted": "baseline"}
    assert_problem(pair.delete("/v1/tags/baseline"), 404)
    assert pair.delete("/v1/runs/run_a").json() == {"deleted": "run_a"}
    assert_problem(pair.get("/v1/runs/run_a"), 404)


@pytest.mark.req("K11")
def test_compare_ab_and_gate(pair: TestClient) -> None:
    compared = pair.post("/v1/compare", json={"a": "run_a", "b": "run_b"}).json()
    assert compared["run_b"] == "run_b"
    assert {one["kind"] for one in compared["per_query"]} <= {"Win", "Loss", "Draw", "Regression"}
    tested = pair.post("/v1/ab", json={"a": "run_a", "b": "run_b", "measures": ["MRR"]}).json()
    assert tested["verdict"] in {"better", "worse", "equivalent", "inconclusive"}
    gated = pair.post("/v1/gate", json={"baseline": "run_b", "current": "run_a"}).json()
    assert gated["exit_code"] == 3  # a depth of 1 loses more than 5 % of Recall@10
    passed = pair.post("/v1/gate", json={"baseline": "run_a", "current": "run_b"}).json()
    assert passed["exit_code"] == 0


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("runs", None),
        ("runs/run_a", None),
        ("runs/run_a/queries", None),
        ("runs/run_a/queries/q1", None),
        ("runs/run_a/testset", None),
        ("runs/run_a/export", None),
        ("runs/run_a/scores", None),
        ("runs/run_a/report", None),
        ("history/small", None),
        ("compare", {"a": "run_a", "b": "run_b"}),
        ("ab", {"a": "run_a", "b": "run_b"}),
        ("gate", {"baseline": "run_b", "current": "run_a"}),
    ],
)
def test_large_answers_are_written_beside_the_event_loop(
    pair: TestClient, monkeypatch: pytest.MonkeyPatch, path: str, body: Any
) -> None:
    threads: list[str] = []
    plain = JSONResponse.render

    def render(self: JSONResponse, content: Any) -> bytes:
        threads.append(threading.current_thread().name)
        return plain(self, content)

    monkeypatch.setattr(JSONResponse, "render", render)
    response = pair.post(f"/v1/{path}", json=body) if body else pair.get(f"/v1/{path}")
    assert response.status_code == 200, response.text
    assert [name.startswith("work") for name in threads] == [True]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("compare", {"a": "run_a", "b": "nothing-like-it"}, 404),
        ("compare", {"a": "run_a"}, 422),
        ("compare", {"a": "../a", "b": "run_b"}, 422),
        ("ab", {"a": "run_a", "b": "run_b", "alpha": 0}, 422),
        ("ab", {"a": "run_a", "b": "run_b", "measures": ["Beauty@3"]}, 400),
        ("gate", {"baseline": "run_a", "current": "run_b", "limits": ["Recall@10=much"]}, 400),
        ("gate", {"baseline": "run_a", "current": "run_b", "limits": []}, 422),
    ],
)
def test_what_cannot_be_compared_is_refused(
    pair: TestClient, path: str, body: dict[str, Any], status: int
) -> None:
    assert_problem(pair.post(f"/v1/{path}", json=body), status)


@pytest.mark.req("W10")
def test_a_run_travels_to_another_service(
    pair: TestClient, make_service: MakeService, tmp_path: Path
) -> None:
    packed = pair.get("/v1/runs/run_b/export").json()
    with client_of(make_service(home=tmp_path / "other")) as other:
        first = other.post("/v1/runs", json=packed)
        assert (first.status_code, first.json()) == (201, {"run_id": "run_b", "new": True})
        assert other.post("/v1/runs", json=packed).json()["new"] is False
        assert other.get("/v1/runs/run_b/export").json() == packed
        one, two, *rest = packed["outcomes"]
        changed = {**packed, "outcomes": [{**one, "result": two["result"]}, two, *rest]}
        assert_problem(other.post("/v1/runs", json=changed), 422)  # they give other figures
        changed["info"] = {**packed["info"], "aggregate": {}}
        assert_problem(other.post("/v1/runs", json=changed), 409, "conflict")
        partial = {**packed, "outcomes": [one]}
        assert (
            "1 of 3 queries" in assert_problem(other.post("/v1/runs", json=partial), 422)["detail"]
        )


def begin_push(service: Service, packed: dict[str, Any], outcomes: Sequence[QueryOutcome]) -> None:
    """What a push leaves that is interrupted after some outcomes."""
    run = unpack(packed)
    begun = replace(run.info, status=RunStatus.RUNNING, aggregate={}, finished_at=None)
    service.workspace.runs.begin(begun, run.test_set)
    service.workspace.runs.append("run_b", outcomes)


@pytest.mark.parametrize("stored", [0, 1, 3])
def test_an_interrupted_push_is_completed_by_the_next(
    pair: TestClient, make_service: MakeService, tmp_path: Path, stored: int
) -> None:
    packed = pair.get("/v1/runs/run_b/export").json()
    service = make_service(home=tmp_path / "other")
    begin_push(service, packed, unpack(packed).outcomes[:stored])
    with client_of(service) as other:
        foreign = {**packed, "info": {**packed["info"], "created_at": "2020-01-01T00:00:00Z"}}
        if stored < 3:
            assert_problem(other.post("/v1/runs", json=foreign), 409, "conflict")
        assert other.post("/v1/runs", json=packed).json()["new"] is True
        assert other.get("/v1/runs/run_b/export").json() == packed
        assert other.post("/v1/runs", json=packed).json()["new"] is False


def test_a_push_does_not_go_on_with_other_outcomes(
    pair: TestClient, make_service: MakeService, tmp_path: Path
) -> None:
    packed = pair.get("/v1/runs/run_b/export").json()
    service = make_service(home=tmp_path / "other")
    begin_push(service, packed, [replace(unpack(packed).outcomes[0], results=())])
    with client_of(service) as other:
        assert_problem(other.post("/v1/runs", json=packed), 409, "conflict")
        assert other.get("/v1/runs/run_b").json()["status"] == "running"


@pytest.fixture
def guarded(
    pair: TestClient, make_service: MakeService, tmp_path: Path
) -> Iterator[tuple[Service, TestClient, Callable[[str], Any]]]:
    """A service with keys and a run of a set whose first query is held out; how a key asks it."""
    run = unpack(pair.get("/v1/runs/run_b/export").json())
    held = replace(run.test_set, held_out=HeldOut(1, ("q1",)))
    info = replace(run.info, run_id="run_h", test_set_checksum=held.checksum)
    place = tmp_path / "guarded"
    service = make_service(home=place)
    push(service.workspace.runs, replace(run, info=info, test_set=held))
    store = KeyStore(place / "assay.db")
    keys = {name: store.create(name, [name])[1] for name in ("read", "evaluate", "admin")}
    store.close()
    with client_of(service) as client:
        yield (
            service,
            client,
            lambda name: {"headers": {"authorization": f"Bearer {keys[name]}"}},
        )


def test_held_out_queries_of_a_run_are_for_those_who_may_evaluate(
    guarded: tuple[Service, TestClient, Callable[[str], Any]],
) -> None:
    service, client, key = guarded
    paths = ("testset", "export", "queries/q1")
    for path in paths:
        shown = client.get(f"/v1/runs/run_h/{path}", **key("read"))
        assert shown.status_code == 200
        assert "(held out" in shown.text
        assert '"headache"' not in shown.text
    assert "diabetes drug" in client.get("/v1/runs/run_h/queries/q2", **key("read")).text
    assert service.workspace.runs.held_out_uses("small") == ()
    for looks, path in enumerate(paths, start=1):
        assert '"headache"' in client.get(f"/v1/runs/run_h/{path}", **key("admin")).text
        assert len(service.workspace.runs.held_out_uses("small")) == looks


def test_configurations_are_timed_for_those_who_may_evaluate(
    guarded: tuple[Service, TestClient, Callable[[str], Any]],
) -> None:
    _, client, key = guarded
    body = {"a": "run_h", "b": "run_h"}
    assert client.post("/v1/ab", json={**body, "latency_repeats": 0}, **key("read")).is_success
    timed = {**body, "latency_repeats": 1}
    assert_problem(client.post("/v1/ab", json=timed, **key("read")), 403, "forbidden")
    assert client.post("/v1/ab", json=timed, **key("admin")).status_code != 403
    assert_problem(
        client.post("/v1/ab", json={**body, "latency_repeats": 101}, **key("admin")), 422
    )
    gate = {"baseline": "run_h", "current": "run_h", "limits": ["latency_mean=100000%"]}
    assert client.post("/v1/gate", json={**gate, "latency_repeats": 0}, **key("read")).is_success
    timed_gate = {**gate, "latency_repeats": 1}
    assert_problem(client.post("/v1/gate", json=timed_gate, **key("read")), 403, "forbidden")
    answer = client.post("/v1/gate", json=timed_gate, **key("admin"))
    assert answer.status_code == 200
    assert answer.json()["checks"][0]["ci"] is not None
    assert_problem(
        client.post("/v1/gate", json={**gate, "latency_repeats": 101}, **key("admin")), 422
    )
    assert_problem(
        client.post("/v1/gate", json={**gate, "limits": ["latency=1%"]}, **key("read")), 400
    )


def test_a_run_with_masked_queries_is_not_scored_elsewhere(
    guarded: tuple[Service, TestClient, Callable[[str], Any]],
) -> None:
    _, client, key = guarded

    class Far:
        """What the runs of a client ask it for."""

        def __init__(self, name: str) -> None:
            self._key = key(name)

        def call(self, method: str, path: str, **request: Any) -> Any:
            return client.request(method, path, **self._key, **request).json()

    with pytest.raises(UsageError, match="held-out queries of the run run_h are masked"):
        RemoteRuns(cast(Client, Far("read"))).test_set("run_h")
    assert len(RemoteRuns(cast(Client, Far("admin"))).test_set("run_h").queries) == 3


def test_a_run_that_makes_no_sense_is_refused(pair: TestClient) -> None:
    packed = pair.get("/v1/runs/run_b/export").json()
    broken: list[dict[str, Any]] = [
        {**packed, "info": {}},
        {**packed, "format": "other"},
        {**packed, "info": {**packed["info"], "run_id": "../x"}},
        {**packed, "info": {**packed["info"], "status": "running"}},
        {**packed, "info": {**packed["info"], "test_set_checksum": "0"}},
        {**packed, "test_set": {}},
        {**packed, "outcomes": [{"query_id": "q1"}]},
        {**packed, "outcomes": [{**packed["outcomes"][0], "query_id": "stranger"}]},
        {**packed, "outcomes": [{"query_id": "q1", "result": {"ids": 3}, "stages": None}]},
    ]
    for body in broken:
        assert_problem(pair.post("/v1/runs", json=body), 422)
