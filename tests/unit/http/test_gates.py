"""Does one kind of work leave the others their slots?"""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from assay import limits
from assay.http.app import create_app
from assay.http.service import UPLOAD_SLOTS, WORK_SLOTS
from assay.store.keys import KeyStore
from tests.unit.http.conftest import MakeService
from tests.unit.http.raw import FORM, JSON, ORIGIN, ask
from tests.unit.http.small import TEST_SET


@pytest.mark.parametrize(
    ("method", "path", "gate"),
    [
        ("POST", "/v1/evaluate", "jobs"),
        ("POST", "/v1/documents", "jobs"),
        ("DELETE", "/v1/documents/d1", "jobs"),
        ("POST", "/v1/index", "jobs"),
        ("GET", "/v1/index", "work"),
        ("GET", "/v1/documents/d1", "work"),
        ("GET", "/v1/jobs", "work"),
        ("DELETE", "/v1/jobs/j", "work"),
        ("GET", "/v1/answer", "answer"),
        ("GET", "/v1/search", "search"),
    ],
)
def test_every_kind_of_work_has_its_gate(
    make_service: MakeService, method: str, path: str, gate: str
) -> None:
    service = make_service()
    assert service.gate(method, path) is service.gates[gate]


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


def with_a_key(home: Path) -> tuple[bytes, bytes]:
    store = KeyStore(home / "assay.db")
    _, key = store.create("somebody", scopes=["read", "evaluate"])
    store.close()
    return (b"authorization", b"Bearer " + key.encode())


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


@pytest.mark.parametrize("length", [None, 10])
def test_a_large_body_without_a_key_is_refused(
    make_service: MakeService, home: Path, length: int | None
) -> None:
    with_a_key(home)
    app = create_app(make_service(home=home))
    pieces = [b"k" * limits.SMALL_BODY_BYTES, b"k"]
    refused = asyncio.run(ask(app, "POST", "/sign-in", FORM, ORIGIN, pieces=pieces, length=length))
    assert (refused.status, refused.json()["code"]) == (413, "too_large")


def test_few_large_bodies_are_held_at_once(make_service: MakeService) -> None:
    service = make_service(request_seconds="1")
    app = create_app(service)
    large = [b" " * limits.SMALL_BODY_BYTES, b" "]

    async def scene() -> None:
        slow = [
            asyncio.create_task(ask(app, "POST", "/v1/testsets", JSON, pieces=large, length=2**20))
            for _ in range(UPLOAD_SLOTS + 3)
        ]
        await asyncio.sleep(0.2)
        uploads = service.gates["uploads"]
        assert (uploads.active, uploads.waiting) == (UPLOAD_SLOTS, 3)
        assert service.gates["work"].active == 0
        small = ask(app, "POST", "/v1/compare", JSON, pieces=[b"{}"])
        assert (await asyncio.wait_for(small, 0.5)).status == 422
        assert {one.status for one in await asyncio.gather(*slow)} == {408}
        assert (uploads.active, uploads.waiting) == (0, 0)

    asyncio.run(scene())


@pytest.mark.parametrize("path", ["/v1/evaluate", "/v1/documents", "/v1/testsets", "/v1/compare"])
def test_who_leaves_before_the_body_is_complete_is_gone(
    make_service: MakeService, home: Path, log: io.StringIO, path: str
) -> None:
    service = make_service(home=home)
    app = create_app(service)
    answer = asyncio.run(ask(app, "POST", path, JSON, pieces=[b'{"a"'], length=100, leaves=True))
    assert answer.status == 0
    last = json.loads(log.getvalue().splitlines()[-1])
    assert (last["event"], last["status"], last["gone"]) == ("request", None, True)
    assert "Traceback" not in log.getvalue()
    assert all(gate.active == 0 for gate in service.gates.values())
