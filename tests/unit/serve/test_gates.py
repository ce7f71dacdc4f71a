"""Does one kind of work leave the others their slots?"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from assay.serve.app import create_app
from assay.serve.service import WORK_SLOTS
from tests.unit.serve.conftest import MakeService
from tests.unit.serve.raw import JSON, ask
from tests.unit.serve.small import TEST_SET


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
