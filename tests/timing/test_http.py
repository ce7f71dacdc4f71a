"""Does the service keep its deadlines with clients that keep none, and end well?"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from assay import limits
from assay.http.app import create_app
from assay.http.edge.protocol import Protocol
from assay.http.service import OWN_UPLOAD_SLOTS, WORK_SLOTS
from assay.store.jobs import JobState, JobStore
from tests.unit.http.conftest import MakeService
from tests.unit.http.process import ServiceProcess, whole_answer
from tests.unit.http.raw import FORM, JSON, ORIGIN, ask
from tests.unit.http.small import TEST_SET
from tests.unit.http.test_evaluate import many_queries
from tests.unit.http.test_gates import with_a_key
from tests.unit.http.test_server import post, problem_of

PART = b"x" * 65_536


class Hasty(Protocol):
    """The protocol of the service, only less patient."""

    read_seconds = 0.3


async def endless(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer without end."""
    del scope, receive
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": PART, "more_body": True})
        await asyncio.sleep(0.001)


async def connections(*, reads: bool) -> tuple[int, int]:
    """How many there are soon after a client has come, and a second later."""
    config = uvicorn.Config(endless, http=Hasty, log_config=None, lifespan="off")
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Hasty(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    with socket.create_connection(server.sockets[0].getsockname()) as raw:
        raw.setblocking(False)
        await loop.sock_sendall(raw, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await loop.sock_recv(raw, 1)
        soon = len(state.connections)
        until = time.monotonic() + 1.2
        while time.monotonic() < until:
            if reads:
                await loop.sock_recv(raw, 1 << 20)
            await asyncio.sleep(0.02)
        later = len(state.connections)
    server.close()
    for task in list(state.tasks):
        task.cancel()
    await asyncio.sleep(0.05)
    return soon, later


def test_a_client_that_reads_nothing_is_cut_off() -> None:
    assert asyncio.run(connections(reads=False)) == (1, 0)


def test_a_client_that_reads_slowly_is_served() -> None:
    assert asyncio.run(connections(reads=True)) == (1, 1)


def test_jobs_can_be_followed_while_others_wait_for_theirs(
    make_service: MakeService, home: Path
) -> None:
    service = make_service(home=home, request_seconds="5")  # nobody works on jobs here
    app = create_app(service)

    async def scene() -> None:
        bodies = [
            json.dumps({**TEST_SET, "name": f"set-{number}"}).encode()
            for number in range(WORK_SLOTS + 1)
        ]
        waiting = [
            asyncio.create_task(ask(app, "POST", "/v1/evaluate", JSON, pieces=[body]))
            for body in bodies
        ]
        async with asyncio.timeout(4):
            while service.gates["jobs"].active < len(bodies):
                await asyncio.sleep(0.01)
        assert service.gates["work"].active == 0
        listed = await asyncio.wait_for(ask(app, "GET", "/v1/jobs"), 1.5)
        assert listed.status == 200
        assert {one.status for one in await asyncio.gather(*waiting)} == {202}

    asyncio.run(scene())


def test_who_signs_in_slowly_keeps_nobody_from_working(
    make_service: MakeService, home: Path
) -> None:
    key = with_a_key(home)
    service = make_service(home=home, request_seconds="2")
    app = create_app(service)

    async def scene() -> None:
        slow = [
            asyncio.create_task(
                ask(app, "POST", "/sign-in", FORM, ORIGIN, pieces=[b"key="], length=100)
            )
            for _ in range(WORK_SLOTS)
        ]
        await asyncio.sleep(0.2)
        assert service.gates["work"].active == 0
        assert (await asyncio.wait_for(ask(app, "GET", "/v1/jobs", key), 1)).status == 200
        assert {one.status for one in await asyncio.gather(*slow)} == {408}

    asyncio.run(scene())


def test_few_large_bodies_are_held_at_once(make_service: MakeService) -> None:
    service = make_service(request_seconds="1")
    app = create_app(service)
    large = [b" " * limits.SMALL_BODY_BYTES, b" "]

    async def scene() -> None:
        slow = [
            asyncio.create_task(ask(app, "POST", "/v1/testsets", JSON, pieces=large, length=2**20))
            for _ in range(OWN_UPLOAD_SLOTS + 3)
        ]
        await asyncio.sleep(0.2)
        uploads = service.gates["uploads"]
        assert (uploads.active, uploads.waiting) == (OWN_UPLOAD_SLOTS, 3)
        assert service.gates["work"].active == 0
        small = ask(app, "POST", "/v1/compare", JSON, pieces=[b"{}"])
        assert (await asyncio.wait_for(small, 0.5)).status == 422
        assert {one.status for one in await asyncio.gather(*slow)} == {408}
        assert (uploads.active, uploads.waiting) == (0, 0)

    asyncio.run(scene())


def test_a_length_that_promises_too_much_ends_at_the_deadline(home: Path) -> None:
    with ServiceProcess(home, ASSAY_REQUEST_SECONDS="2") as process, process.connection() as raw:
        raw.sendall(post(1000) + b"{}")
        began = time.monotonic()
        status, problem = problem_of(whole_answer(raw))
    assert (status, problem["code"]) == (408, "slow_body")
    assert time.monotonic() - began < 10


@pytest.mark.req("W9")
def test_sigterm_lets_requests_finish_and_interrupts_jobs(home: Path) -> None:
    with ServiceProcess(home) as process:
        address = process.client.post(
            "/v1/evaluate", json=many_queries(9_500), headers={"Prefer": "respond-async"}
        ).headers["location"]
        while process.client.get(address).json()["done"] == 0:
            time.sleep(0.05)
        answers: list[int] = []

        def evaluate() -> None:
            response = process.client.post("/v1/testsets/validate", json=many_queries(2_000))
            answers.append(response.status_code)

        request = threading.Thread(target=evaluate)
        request.start()
        time.sleep(0.2)
        code, log = process.stop()
        request.join()
    assert answers == [200]
    assert code in {0, -15, 143}
    assert '"state": "interrupted"' in log
    assert "Traceback" not in log
    store = JobStore(home / "assay.db")
    assert store.get(address.rpartition("/")[2]).state is JobState.INTERRUPTED
    store.close()
