"""Does a stream end when its caller would no longer be let in?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from assay.app import keys
from assay.app.keys import create_key, revoke_key
from assay.http.routes import jobs
from assay.http.service import Service
from tests.unit.http.conftest import MakeService


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "LOOK_EVERY_S", 0.01)


def followed(service: Service, caller: str, then: Callable[[], object]) -> list[str]:
    """What a caller sees of a job that waits, if something happens after the first event."""
    service.jobs.submit("waiting", "index", {}, owner=caller)  # no worker was started

    async def follow() -> list[str]:
        seen = []
        async for event in jobs._events(service, "waiting", caller):
            seen.append(event)
            then()
        return seen

    return asyncio.run(asyncio.wait_for(follow(), 3))


def test_the_stream_of_a_revoked_key_ends(make_service: MakeService) -> None:
    service = make_service()
    layout = service.workspace.layout
    key_id = create_key(layout, "follower").about.key_id
    seen = followed(service, f"key {key_id}", lambda: revoke_key(layout, key_id))
    assert len(seen) == 1


def test_the_stream_of_a_caller_without_a_key_ends_with_the_first_key(
    make_service: MakeService,
) -> None:
    service = make_service()
    layout = service.workspace.layout
    seen = followed(service, "address 127.0.0.1", lambda: create_key(layout, "first"))
    assert len(seen) == 1


def test_a_stream_goes_on_for_a_key_that_is_valid(make_service: MakeService) -> None:
    service = make_service()
    key_id = create_key(service.workspace.layout, "follower").about.key_id
    with pytest.raises(TimeoutError):
        followed(service, f"key {key_id}", lambda: None)
