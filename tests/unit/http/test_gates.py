"""Does one kind of work leave the others their slots?"""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from assay import limits
from assay.http.app import create_app
from assay.store.keys import KeyStore
from tests.unit.http.conftest import MakeService
from tests.unit.http.raw import FORM, JSON, ORIGIN, ask


@pytest.mark.slow
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


def with_a_key(home: Path) -> tuple[bytes, bytes]:
    store = KeyStore(home / "assay.db")
    _, key = store.create("somebody", scopes=["read", "evaluate"])
    store.close()
    return (b"authorization", b"Bearer " + key.encode())


@pytest.mark.slow
@pytest.mark.parametrize("length", [None, 10])
def test_a_large_body_without_a_key_is_refused(
    make_service: MakeService, home: Path, length: int | None
) -> None:
    with_a_key(home)
    app = create_app(make_service(home=home))
    pieces = [b"k" * limits.SMALL_BODY_BYTES, b"k"]
    refused = asyncio.run(ask(app, "POST", "/sign-in", FORM, ORIGIN, pieces=pieces, length=length))
    assert (refused.status, refused.json()["code"]) == (413, "too_large")


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
