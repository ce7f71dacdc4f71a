"""Can one caller with a key that may only read take the service from all others?"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay import interrupt
from assay.app.keys import NewKey, create_key
from assay.errors import InputError
from assay.http.edge.admission import FullError, Gate, payer
from assay.http.service import LONG_S
from assay.stats.bootstrap import bootstrap_mean
from tests.unit.http.conftest import MakeService, assert_problem, client_of


def _body(runs: int, measures: int, resamples: int, queries: int = 4, **more: Any) -> Any:
    return {
        "qrels": {f"q{at}": {"d1": 1} for at in range(queries)},
        "runs": {
            f"run{one}": {f"q{at}": {"d1": 1.0, f"d{one + 2}": 2.0} for at in range(queries)}
            for one in range(runs)
        },
        "measures": [f"nDCG@{at + 1}" for at in range(measures)],
        "resamples": resamples,
        **more,
    }


@pytest.mark.parametrize(
    "body",
    [
        _body(100, 200, 20_000),
        _body(100, 20, 20_000),
        _body(2, 200, 20_000, queries=2_000),
        _body(100, 200, 20_000, compare=False),
        _body(2, 10, 20_000, queries=400, by={f"q{at}": f"g{at}" for at in range(400)}),
    ],
)
def test_what_would_take_minutes_is_refused_before_it_begins(client: TestClient, body: Any) -> None:
    problem = assert_problem(client.post("/v1/score", json=body), 422)
    assert "would take about" in problem["detail"]
    assert "fewer" in problem["hint"]


def test_usual_work_is_not_refused(client: TestClient) -> None:
    assert client.post("/v1/score", json=_body(2, 5, 1_000)).status_code == 200


def test_each_key_has_its_own_budget_of_computing(make_service: MakeService) -> None:
    service = make_service()
    layout = service.workspace.layout
    greedy, other = (create_key(layout, name, ["read"]) for name in ("a", "b"))
    with client_of(service) as client:

        def ask(key: NewKey) -> Any:
            headers = {"authorization": f"Bearer {key.key}"}
            return client.post("/v1/score", json=_body(2, 2, 100), headers=headers)

        assert ask(greedy).status_code == 200
        service._computing.charge(f"key {greedy.about.key_id}", 1_000.0)
        refused = assert_problem(ask(greedy), 429, "rate_limited")
        assert "try again after" in refused["hint"]
        assert ask(other).status_code == 200


def test_what_stored_runs_cost_is_charged_as_well(make_service: MakeService) -> None:
    """Reports, scores and comparisons: what they took is known when they have ended."""
    service = make_service()
    greedy, other = (create_key(service.workspace.layout, name, ["read"]) for name in ("a", "b"))
    with client_of(service) as client:

        def ask(key: NewKey, path: str) -> Any:
            return client.get(path, headers={"authorization": f"Bearer {key.key}"})

        assert ask(greedy, "/v1/runs").status_code == 200
        service._computing.charge(f"key {greedy.about.key_id}", 1_000.0)
        for path in (
            "/v1/runs",
            "/v1/runs/latest/report",
            "/v1/runs/latest/scores",
            "/v1/testsets",
        ):
            assert_problem(ask(greedy, path), 429, "rate_limited")
            assert ask(other, path).status_code in (200, 404)
        for path in ("/healthz", "/readyz", "/metrics"):
            assert ask(greedy, path).status_code in (200, 503)


def test_work_that_takes_too_much_of_a_core_ends_with_words(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little was expected of it."""
    monkeypatch.setattr("assay.http.service.MOST_SECONDS", 0.05)
    service = make_service()

    def forever() -> None:
        while True:
            bootstrap_mean([0.1, 0.5, 0.9], resamples=20_000)

    async def scenario() -> None:
        token = payer.set("somebody")
        with pytest.raises(InputError, match="would take about"):
            await service.work(forever)
        for _ in range(3):
            await asyncio.sleep(0)
        payer.reset(token)

    asyncio.run(scenario())
    tokens, _ = service._computing._buckets["somebody"]
    assert tokens < service._computing._burst


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.005)
    return holds()


def test_a_computation_ends_when_nobody_waits_for_it(make_service: MakeService) -> None:
    service = make_service()
    ended: list[str] = []

    def forever() -> None:
        try:
            while True:
                bootstrap_mean([0.1, 0.5, 0.9], resamples=20_000)
        except interrupt.GivenUpError:
            ended.append("given up")
            raise

    async def hang_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(service.work(forever), 0.1)

    asyncio.run(hang_up())
    assert _within(10, lambda: ended == ["given up"])


def test_abandoned_work_keeps_its_slot_until_it_has_ended(make_service: MakeService) -> None:
    service, gate, go = make_service(), Gate("test", 1, 0), threading.Event()

    async def scenario() -> None:
        async def request() -> None:
            async with gate.slot("a"):
                await service.work(go.wait)

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(request(), 0.05)
        assert gate.active == 1
        with pytest.raises(FullError):
            await request()
        go.set()
        for _ in range(500):
            if not gate.active:
                break
            await asyncio.sleep(0.01)
        assert gate.active == 0
        await request()

    asyncio.run(scenario())


def test_probes_answer_while_every_thread_is_taken(make_service: MakeService) -> None:
    service, go = make_service(), threading.Event()
    with client_of(service) as client:
        client.get("/readyz")
        stuck = [service._threads.submit(go.wait) for _ in range(64)]
        try:
            for path in ("/healthz", "/readyz", "/metrics"):
                began = time.monotonic()
                assert client.get(path).status_code in (200, 503)
                assert time.monotonic() - began < 5
        finally:
            go.set()
        assert all(one.result() for one in stuck)


def test_who_queues_most_waits_longest() -> None:
    """With fair lines, one caller's crowd keeps nobody else out."""
    order: list[str] = []

    async def scenario() -> None:
        gate = Gate("test", 1, 4)
        first = asyncio.Event()

        async def request(who: str, wait: bool = False) -> None:
            async with gate.slot(who):
                order.append(who)
                if wait:
                    await first.wait()

        crowd = [asyncio.create_task(request("crowd", wait=at == 0)) for at in range(5)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert gate.waiting == 4
        other = asyncio.create_task(request("other"))
        await asyncio.sleep(0)
        first.set()
        ended = await asyncio.gather(*crowd, other, return_exceptions=True)
        assert sum(isinstance(one, FullError) for one in ended) == 1
        assert not isinstance(ended[-1], BaseException)

    asyncio.run(scenario())
    assert order[:2] == ["crowd", "other"]


def test_a_large_test_set_is_read_where_nobody_waits_for_its_garbage(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python looks through half a million values at once, and every thread waits meanwhile."""
    service, estimated = make_service(), list[float]()
    compute = service.compute

    def watched(seconds: float, *rest: Any) -> Any:
        estimated.append(seconds)
        return compute(seconds, *rest)

    monkeypatch.setattr(service, "compute", watched)
    judged = {"relevant_docs": [{"doc_id": "d1", "grade": 1}]}
    queries = [{"query_id": f"q{at}", "query_text": "heart " * 40, **judged} for at in range(4_000)]
    with client_of(service) as client:
        for many in (10, 4_000):
            body = {"name": "x", "version": "1", "queries": queries[:many]}
            answer = client.post("/v1/testsets/validate", json=body)
            assert answer.json()["queries"] == many
        broken = b"{" + b'"a": [' * 2_000 + b" " * 1_000_000
        headers = {"content-type": "application/json"}
        assert_problem(client.post("/v1/testsets/validate", content=broken, headers=headers), 400)
    assert [one > LONG_S for one in estimated] == [False, True, True]
