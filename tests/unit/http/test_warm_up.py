"""Does an index that takes long to open leave the rest of the service at work?"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.app import engine as searching
from assay.app.workspace import Workspace
from assay.errors import StorageError
from assay.http.app import create_app
from assay.http.warm_up import RETRY_AFTER_S
from tests.unit.http.conftest import MakeService
from tests.unit.http.raw import ask


class Slow:
    """An opening that waits until it is let go, and counts."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.times = 0
        self.fails = False
        self._plain = searching.open_searcher

    def __call__(self, workspace: Workspace) -> Any:
        self.times += 1
        assert self.go.wait(10)
        if self.fails:
            raise StorageError("the disk is on fire", hint="call somebody")
        return self._plain(workspace)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    opening = Slow()
    monkeypatch.setattr(searching, "open_searcher", opening)
    yield opening
    opening.go.set()


@pytest.mark.slow
def test_probes_and_searches_keep_no_thread_while_the_index_opens(
    make_service: MakeService, home: Path, slow: Slow
) -> None:
    service = make_service(home=home)
    app = create_app(service)

    async def scene() -> None:
        searches = [
            asyncio.create_task(ask(app, "GET", "/v1/search/classify", query=b"q=x"))
            for _ in range(3)
        ]
        probes = await asyncio.wait_for(
            asyncio.gather(*(ask(app, "GET", "/readyz") for _ in range(20))), 5
        )
        assert {one.status for one in probes} == {503}
        assert probes[0].json()["errors"] == [
            {"where": "index", "message": "the index is being opened"}
        ]
        assert (await asyncio.wait_for(ask(app, "GET", "/v1/jobs"), 2)).status == 200
        searches[0].cancel()  # one who leaves ends it for nobody else
        slow.go.set()
        ends = await asyncio.gather(*searches, return_exceptions=True)
        assert [getattr(one, "status", None) for one in ends] == [None, 200, 200]
        assert (await ask(app, "GET", "/readyz")).status == 200
        assert slow.times == 1

    asyncio.run(scene())


@pytest.mark.slow
def test_a_failure_is_remembered_for_a_moment(
    make_service: MakeService, home: Path, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("assay.http.warm_up.time", SimpleNamespace(monotonic=lambda: now[0]))
    slow.fails = True
    slow.go.set()
    app = create_app(make_service(home=home))

    async def scene() -> None:
        for _ in range(3):
            refused = await ask(app, "GET", "/readyz")
            assert "the disk is on fire" in refused.json()["detail"]
        assert slow.times == 1
        slow.fails = False
        now[0] += RETRY_AFTER_S
        assert (await ask(app, "GET", "/readyz")).status == 200

    asyncio.run(scene())
