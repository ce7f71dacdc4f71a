"""Can one caller crowd out the others: with bodies, jobs, sign-ins, streams or wrong keys?"""

from __future__ import annotations

import asyncio
import resource
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from assay import limits
from assay.app.keys import create_key
from assay.app.workspace import Workspace
from assay.errors import BusyError
from assay.http import reference
from assay.http.app import create_app
from assay.http.edge import server
from assay.http.edge.admission import FullError, Gate
from assay.http.routes import reference as routes
from assay.http.service import WRONG_KEYS_A_MINUTE
from assay.settings import configure
from assay.store.jobs import JobState, JobStore
from assay.testsets.load import list_test_sets, read_test_set
from tests.unit.http.conftest import MakeService, client_of

FORM = {"content-type": "application/x-www-form-urlencoded", "origin": "http://localhost"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    store = JobStore(tmp_path / "assay.db")
    yield store
    store.close()


async def _slowly(app: Any, path: str, key: str) -> list[Any]:
    """What is answered to a body that begins and does not end."""
    sent: list[Any] = []
    parts = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> Any:
        if parts:
            return parts.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
        "query_string": b"", "scheme": "http", "http_version": "1.1", "root_path": "",
        "headers": [
            (b"host", b"localhost"), (b"content-type", b"application/json"),
            (b"content-length", b"999"), (b"x-api-key", key.encode()),
        ],
        "client": ("127.0.0.1", 1), "server": ("localhost", 80),
    }  # fmt: skip
    await app(scope, receive, send)
    return sent


def test_a_stream_has_the_deadline_of_any_other_body(make_service: MakeService) -> None:
    service = make_service(request_seconds=0.2)
    key = create_key(service.workspace.layout, "reader").key
    app = create_app(service)

    async def scenario() -> list[Any]:
        return await asyncio.wait_for(_slowly(app, "/v1/jobs/x/events", key), 10)

    assert asyncio.run(scenario())[0]["status"] == 408


@pytest.mark.parametrize(
    "path",
    [
        "/v1/runs/latest/queries/events",
        "/v1/history/events",
        "/v1/documents/events",
        "/v1/testsets/events",
        "/v1/jobs/a/b/events",
        "/healthzz",
        "/metrics/",
        "/staticfile",
    ],
)
def test_no_name_in_a_path_leads_past_the_line(make_service: MakeService, path: str) -> None:
    service = make_service()
    assert service.gate("GET", path) is service.gates["work"]
    assert service.deadline(path) == service.settings.request_seconds


def test_only_a_job_is_followed_for_long(make_service: MakeService) -> None:
    service = make_service()
    assert service.gate("GET", "/v1/jobs/a/events") is None
    assert service.deadline("/v1/jobs/a/events") > service.settings.request_seconds


@pytest.mark.parametrize(
    ("soft", "hard", "connections"),
    [(256, 4_096, 1_000), (1_024, 1_024, 100), (1_500, 1_800, 788), (5_000, 5_000, 1_000)],
)
def test_connections_leave_room_for_files(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, connections: int
) -> None:
    limit = [(soft, hard)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limit[0])
    monkeypatch.setattr(resource, "setrlimit", lambda _, given: limit.append(given))
    assert server.connections() == connections
    assert all(given <= hard for given, _ in limit)


def test_slow_bodies_of_one_caller_leave_room_for_others(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_OWN_BODIES", 3)
    service = make_service(request_seconds=1)
    layout = service.workspace.layout
    crowd, other = create_key(layout, "crowd").key, create_key(layout, "other").key
    app = create_app(service)

    async def scenario() -> list[Any]:
        keys = [crowd] * 5 + [other]
        answers = [_slowly(app, "/v1/jobs/x/events", key) for key in keys]
        return await asyncio.wait_for(asyncio.gather(*answers), 20)

    found = [messages[0]["status"] for messages in asyncio.run(scenario())]
    assert found == [408, 408, 408, 503, 503, 408]
    assert not service.bodies


@pytest.mark.parametrize("name", ["work", "jobs", "answer", "evaluation", "uploads"])
def test_slow_requests_of_one_caller_leave_a_slot_for_others(
    make_service: MakeService, name: str
) -> None:
    """However fair a line is: who has every slot keeps all others out until they end."""
    gate = make_service().gates[name]

    async def scenario() -> None:
        end = asyncio.Event()

        async def enter(caller: str) -> None:
            async with gate.slot(caller):
                await end.wait()

        greedy = [asyncio.create_task(enter("crowd")) for _ in range(gate.slots + 2)]
        await asyncio.sleep(0)
        waiting = gate.waiting
        other = asyncio.create_task(enter("other"))
        await asyncio.sleep(0)
        assert gate.waiting == waiting  # it did not have to wait
        end.set()
        await asyncio.wait_for(asyncio.gather(*greedy, other), 10)
        assert (gate.active, gate.waiting) == (0, 0)

    asyncio.run(scenario())


@pytest.mark.parametrize("path", ["/docs", "/openapi.json"])
def test_what_strangers_may_read_is_made_off_the_loop_and_in_line(
    make_service: MakeService, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both need no key: a stranger who asks for them again and again must not stop the loop."""
    service, threads = make_service(), set[str]()
    create_key(service.workspace.layout, "reader")
    made = reference.document

    def watched(app: Any) -> Any:
        threads.add(threading.current_thread().name.split("_")[0])
        return made(app)

    for module in (reference, routes):
        monkeypatch.setattr(module, "document", watched)
    assert service.gate("GET", path) is service.gates["work"]
    with client_of(service) as client:
        assert client.get(path).status_code == 200
        assert client.get(path).status_code == 200
    assert threads == {"work"}


def test_jobs_of_one_caller_keep_nobody_out(store: JobStore) -> None:
    for at in range(limits.MAX_WAITING_JOBS):
        store.create(f"crowd{at}", "evaluation", {"at": at}, owner="key a")
    with pytest.raises(BusyError):
        store.create("one too many", "evaluation", {}, owner="key a")
    store.create("ingest", "ingest", {}, owner="key b")
    store.create("mine", "evaluation", {}, owner="key b")
    computes = lambda kind: kind != "ingest"  # noqa: E731
    writes = lambda kind: kind == "ingest"  # noqa: E731
    taken = [store.take(computes), store.take(writes), store.take(computes)]
    assert [one and one.job_id for one in taken] == ["crowd0", "ingest", "crowd1"]
    last = store.take(computes)
    assert last is not None
    assert last.job_id == "mine"
    assert store.take(writes) is None


def test_callers_take_turns(store: JobStore) -> None:
    for at in range(4):
        store.create(f"a{at}", "evaluation", {"at": at}, owner="key a")
    store.create("b0", "evaluation", {}, owner="key b")
    order = []
    for _ in range(5):
        job = store.take()
        assert job is not None
        order.append(job.job_id)
        store.end(job.job_id, JobState.COMPLETE)
    assert order == ["a0", "b0", "a1", "a2", "a3"]


def test_jobs_come_in_the_order_in_which_they_were_entered_whatever_the_clock_says(
    store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter(["2030-01-01T00:00:00Z", "2020-01-01T00:00:00Z", *["2020-01-01T00:00:01Z"] * 9])
    monkeypatch.setattr("assay.store.jobs.now", lambda: next(moments))
    store.create("first", "evaluation", {"at": 1}, owner="key a")
    store.create("second", "evaluation", {"at": 2}, owner="key a")
    assert [job.job_id for job in store.page(10, 0)[0]] == ["second", "first"]
    taken = store.take()
    assert taken is not None
    assert taken.job_id == "first"


def test_an_ingest_does_not_wait_for_a_long_evaluation(make_service: MakeService) -> None:
    from threading import Event

    from assay.app.jobs import Done, Jobs

    service, go, ingested = make_service(), Event(), Event()
    layout = service.workspace.layout

    def perform(job: Any, control: Any) -> Done:
        del control
        if job.kind == "ingest":
            ingested.set()
        else:
            go.wait(30)
        return Done({})

    jobs = Jobs(JobStore(layout.database), perform, lock=layout.jobs_lock, slots=1, log=service.log)
    jobs.submit("long", "evaluation", {}, owner="key a")
    jobs.submit("also", "evaluation", {"at": 1}, owner="key a")
    jobs.submit("docs", "ingest", {}, owner="key b")
    jobs.start()
    try:
        assert ingested.wait(20)
    finally:
        go.set()
        jobs.close()


def test_sign_ins_end_no_session_of_another_key(make_service: MakeService) -> None:
    service = make_service()
    layout = service.workspace.layout
    admin, crowd = create_key(layout, "admin", ["admin"]).key, create_key(layout, "crowd").key
    kept = service.keyring.open_session(admin)
    tokens = [service.keyring.open_session(crowd) for _ in range(1_001)]
    cookie = {b"cookie": f"assay_session={kept}".encode()}
    assert service.keyring.caller(cookie, "10.0.0.1").may("admin")
    alive = [
        one
        for one in tokens
        if service.keyring.caller({b"cookie": f"assay_session={one}".encode()}, "10.0.0.1").scopes
    ]
    assert alive == tokens[-limits.MAX_OWN_SESSIONS :]


@pytest.mark.parametrize("by_form", [False, True])
def test_wrong_keys_are_slowed_without_any_setting(
    make_service: MakeService, by_form: bool
) -> None:
    service = make_service()
    key = create_key(service.workspace.layout, "reader").key
    with client_of(service) as client:

        def guess(text: str) -> int:
            if by_form:
                body = urlencode({"key": text})
                answer = client.post("/sign-in", content=body, headers=FORM, follow_redirects=False)
                return answer.status_code
            return client.get("/v1/runs", headers={"x-api-key": text}).status_code

        found = [guess(f"assay_{at}") for at in range(WRONG_KEYS_A_MINUTE)]
        assert found[0] == 401
        assert found[-1] == 429
        assert guess(key) in (200, 303)


def test_test_sets_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[Path] = []
    plain = read_test_set

    def counted(path: Path, *rest: Any) -> Any:
        parsed.append(path)
        return plain(path, *rest)

    monkeypatch.setattr("assay.app.testsets.read_test_set", counted)
    folder = tmp_path / "testsets"
    folder.mkdir()
    mine = folder / "mine.yaml"
    source = next(path for path in list_test_sets().values() if path.suffix == ".yaml")
    shutil.copy(source, mine)
    with Workspace(configure({"home": tmp_path}, environ={}, folder=tmp_path)) as workspace:
        first = workspace.test_sets()
        count = len(parsed)
        assert count == len(first)
        assert workspace.test_sets() == first
        assert len(parsed) == count
        mine.write_text("name: other\n")
        assert {one.name: one.sound for one in workspace.test_sets()}["mine"] is False
        assert len(parsed) == count + 1


@pytest.mark.parametrize("surge", [False, True])
def test_parallel_searches_of_one_key_do_not_delay_those_of_another(surge: bool) -> None:
    async def crowd() -> tuple[list[str], list[str]]:
        gate, entered, refused = Gate("search", 2, 6, shed=True), list[str](), list[str]()
        if surge:
            gate._surge._begin()

        async def search(caller: str) -> None:
            try:
                async with gate.slot(caller):
                    entered.append(caller)
                    await asyncio.sleep(0.01)
            except FullError:
                refused.append(caller)

        greedy = [asyncio.create_task(search("greedy")) for _ in range(20)]
        await asyncio.sleep(0.001)
        await asyncio.gather(search("other"), *greedy)
        return entered, refused

    entered, refused = asyncio.run(crowd())
    assert "other" in entered[:3]
    assert set(refused) == {"greedy"}
