"""Does the clock start what the schedule says, once?"""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.app.schedule import ScheduleEntry, Scheduler, parse_schedule
from assay.errors import ConfigError
from assay.http.edge.logs import service_log
from tests.unit.http.conftest import MakeService, client_of


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "after", "following"),
    [
        ("0 3 * * 1 v1", "2026-11-15T12:00", "2026-11-16T03:00"),
        ("*/15 * * * * v1", "2026-11-15T12:00", "2026-11-15T12:15"),
        ("59 23 31 12 * v1", "2026-11-15T12:00", "2026-12-31T23:59"),
        ("0 0 29 2 * v1", "2026-11-15T12:00", "2028-02-29T00:00"),
        ("0 9-17/4 * * 1-5 v1", "2026-11-13T13:00", "2026-11-13T17:00"),
        ("30 6 1 * 7 v1", "2026-11-16T00:00", "2026-11-22T06:30"),
        ("0 0 * * 0 v1", "2026-11-15T00:00", "2026-11-22T00:00"),
        ("5,10 4 * * * v1", "2026-11-15T04:05", "2026-11-15T04:10"),
    ],
)
def test_when_an_entry_is_due_next(schedule: str, after: str, following: str) -> None:
    (entry,) = parse_schedule(schedule)
    assert entry.clock.following(at(after)) == at(following)


@pytest.mark.parametrize(
    "text",
    ["v1", "0 3 * * v1", "60 3 * * * v1", "0 24 * * * v1", "0 3 0 * * v1", "0 3 * 13 * v1",
     "a 3 * * * v1", "0 3 * * * ../v1", "0 0 31 2 * v1", "5-1 * * * * v1", "*/0 * * * * v1",
     ";".join(["0 3 * * * v1"] * 21)],
)  # fmt: skip
def test_what_is_no_schedule(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_schedule(text)


def test_each_minute_is_started_once() -> None:
    moment = at("2026-11-15T02:59:30")
    started: list[tuple[str, str]] = []
    scheduler = Scheduler(
        lambda: parse_schedule("0 3 * * * nightly; 0 4 * * * other"),
        lambda name, entry: started.append((name, entry.test_set)),
        service_log(io.StringIO()),
        now=lambda: moment,
    )
    assert scheduler.look() == []
    moment += timedelta(seconds=40)
    assert scheduler.look() == ["scheduled_nightly_20261115T0300"]
    assert scheduler.look() == []
    moment += timedelta(hours=30)
    assert len(scheduler.look()) == 2  # what was missed is started once, not thirty times
    assert started[0] == ("scheduled_nightly_20261115T0300", "nightly")


NIGHTLY = ScheduleEntry(entry_id="test_set_v1", when="0 3 * * *", test_set="test_set_v1")


@pytest.mark.slow
@pytest.mark.req("W9")
def test_a_scheduled_evaluation_becomes_a_run(make_service: MakeService, home: Path) -> None:
    service = make_service(home=home, schedule="0 3 * * * test_set_v1")
    with client_of(service) as client:
        service.start_scheduled("scheduled_test_set_v1_20261115T0300", NIGHTLY)
        service.start_scheduled("scheduled_test_set_v1_20261115T0300", NIGHTLY)
        events = client.get("/v1/jobs/scheduled_test_set_v1_20261115T0300/events").text
        assert "event: complete" in events
        assert client.get("/v1/jobs").json()["total"] == 1
        assert client.get("/v1/runs").json()["runs"][0]["suite"] == "test_set_v1"


@pytest.mark.slow
@pytest.mark.req("W9", "W11")
def test_every_repeat_is_a_point_in_history(make_service: MakeService, home: Path) -> None:
    service = make_service(home=home, schedule="0 3 * * * test_set_v1")
    names = [f"scheduled_test_set_v1_202611{day}T0300" for day in (15, 16, 17)]
    with client_of(service) as client:
        for name in names:
            service.start_scheduled(name, NIGHTLY)
            assert "event: complete" in client.get(f"/v1/jobs/{name}/events").text
            assert client.get(f"/v1/jobs/{name}").json()["run_id"] == name
        past = client.get("/v1/history/test_set_v1").json()
        assert [run["run_id"] for run in past["runs"]] == names
        assert past["series"][0]["runs"] == names
        again = client.get(f"/v1/runs/{names[2]}").json()
        assert again["reused_from"] == names[0] or again["reused_from"] == names[1]
