"""Can somebody who may evaluate make, change and remove what the clock starts?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.app.keys import create_key
from assay.app.schedule import Scheduler
from assay.app.timetable import timetable
from assay.errors import UsageError
from assay.http.pages.clock import Due, due_at, due_in
from assay.http.service import Service
from tests.unit.http.conftest import MakeService, client_of
from tests.unit.http.pages.conftest import FORM, PERSON
from tests.unit.http.small import TEST_SET

WEEKLY = {"set": "small", "often": "weekly", "weekday": "1", "time": "03:30", "name": "weekly"}


@pytest.fixture
def service(make_service: MakeService, home: Path) -> Service:
    """A service over the small workspace."""
    return make_service(home=home)


@pytest.fixture
def small_set(service: Service) -> Iterator[TestClient]:
    """A browser in front of it; the small set loads by name."""
    with client_of(service, headers=PERSON) as client:
        made = client.post("/v1/testsets", json=TEST_SET)
        assert made.status_code in (200, 201), made.text
        yield client


def _send(pages: TestClient, path: str, fields: dict[str, str] | None = None) -> str:
    answer = pages.post(path, content=urlencode(fields or {}), headers=FORM)
    assert answer.status_code == 200, answer.text
    return answer.text


def _entries(service: Service) -> list[tuple[str, str]]:
    found = timetable(service.settings, service.workspace.layout).own
    return [(one.entry_id, one.when) for one in found]


def test_an_evaluation_is_scheduled_changed_and_removed(
    service: Service, small_set: TestClient
) -> None:
    shown = _send(small_set, "/ui/schedule", {**WEEKLY, "options": "rrf_k=7"})
    assert "every Monday at 03:30 UTC" in shown
    assert "rrf k 7" in shown
    ((name, when),) = _entries(service)
    assert when == "30 3 * * 1"
    form = small_set.get(f"/evaluate?entry={name}").text
    assert 'value="03:30"' in form
    assert 'value="rrf_k=7"' in form
    assert "assay schedule add &#39;30 3 * * 1&#39; --testset small --rrf-k 7" in form
    assert "/v1/schedules?rrf_k=7" in form
    shown = _send(small_set, "/ui/schedule", {**WEEKLY, "often": "daily", "entry": name})
    assert "every day at 03:30 UTC" in shown
    assert _entries(service) == [(name, "30 3 * * *")]
    assert "Nothing is scheduled" in _send(small_set, f"/ui/schedule/{name}/remove")
    gone = small_set.post(f"/ui/schedule/{name}/remove", headers=FORM)
    assert gone.status_code == 404
    assert "may have been removed" in gone.text


def test_what_the_form_lacks_is_shown_and_kept(service: Service, small_set: TestClient) -> None:
    """A command and a program can ask for more than the form offers."""
    asked = "rrf_k=7&measure=MAP&seed=3&boosts=false&tag=a&tag=b&cache=false&judge=words"
    body = {"when": "30 3 * * 1", "test_set": "small"}
    made = small_set.post(f"/v1/schedules?{asked}", json=body)
    assert made.status_code == 201, made.text
    name = made.json()["entry_id"]
    shown = small_set.get("/schedule").text
    for words in ("rrf k 7", "measures MAP", "seed 3", "no boosts", "judge words", "no cache"):
        assert f"· {words}" in shown, words
    form = small_set.get(f"/evaluate?entry={name}").text
    assert '<option value="words" selected>' in form
    assert 'name="anew" checked' in form
    fields = {**WEEKLY, "name": "", "entry": name, "options": "rrf_k=7&boosts=false", "anew": "on"}
    _send(small_set, "/ui/schedule", {**fields, "judge": "words", "tag": "a"})
    (entry,) = small_set.get("/v1/schedules").json()["own"]
    assert entry["request"] == made.json()["request"]


def test_an_entry_whose_test_set_is_gone_says_so(service: Service, small_set: TestClient) -> None:
    _send(small_set, "/ui/schedule", WEEKLY)
    assert "cannot be run" not in small_set.get("/schedule").text
    for file in service.workspace.layout.test_sets.glob("small*"):
        file.unlink()
    assert "cannot be run" in small_set.get("/schedule").text


def test_a_running_service_starts_what_was_scheduled(
    service: Service, small_set: TestClient
) -> None:
    moment = datetime(2026, 11, 16, 3, 29, 30, tzinfo=UTC)
    clock = Scheduler(
        lambda: timetable(service.settings, service.workspace.layout).entries,
        service.start_scheduled,
        service.log,
        now=lambda: moment,
    )
    _send(small_set, "/ui/schedule", {**WEEKLY, "options": "rrf_k=7", "tag": "weekly"})
    ((name, _),) = _entries(service)
    moment += timedelta(minutes=1)
    (job,) = clock.look()
    assert job == f"scheduled_{name}_20261116T0330"
    assert "event: complete" in small_set.get(f"/v1/jobs/{job}/events").text
    run = small_set.get("/v1/runs/weekly").json()
    assert (run["run_id"], run["name"], run["config"]["rrf_k"]) == (job, "weekly", 7)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"time": "25:00"}, "not a time of day"),
        ({"often": "cron", "cron": "0 3 * *"}, "minute hour day month weekday"),
        ({"often": "cron", "cron": "0 0 31 2 *"}, "never comes"),
        ({"often": "yearly"}, "is not a frequency"),
        ({"set": "unknown"}, "unknown"),
        ({"options": "rrf_k=-1"}, "rrf_k"),
        ({"entry": "gone"}, "no scheduled evaluation"),
    ],
)
def test_what_cannot_be_scheduled(
    service: Service, small_set: TestClient, fields: dict[str, str], said: str
) -> None:
    answer = small_set.post("/ui/schedule", content=urlencode(WEEKLY | fields), headers=FORM)
    assert 400 <= answer.status_code < 500
    assert said in answer.text
    assert _entries(service) == []


@pytest.mark.parametrize(
    ("query", "body", "status"),
    [
        ("", {"when": "0 3 * *", "test_set": "small"}, 400),
        ("", {"when": "0 3 * * *", "test_set": "unknown"}, 404),
        ("", {"when": "0 3 * * *", "test_set": "small", "tag": "x"}, 422),
        ("?rrf_k=-1", {"when": "0 3 * * *", "test_set": "small"}, 422),
        ("?judge=os:system", {"when": "0 3 * * *", "test_set": "small"}, 400),
        ("?evaluation_id=x", {"when": "0 3 * * *", "test_set": "small"}, 422),
    ],
)
def test_what_a_program_cannot_schedule(
    service: Service, small_set: TestClient, query: str, body: dict[str, str], status: int
) -> None:
    answer = small_set.post(f"/v1/schedules{query}", json=body)
    assert answer.status_code == status, answer.text
    assert small_set.put(f"/v1/schedules/gone{query}", json=body).status_code in (status, 404)
    assert small_set.delete("/v1/schedules/gone").status_code == 404
    assert _entries(service) == []


def test_a_damaged_file_holds_up_nothing(service: Service, small_set: TestClient) -> None:
    _send(small_set, "/ui/schedule", WEEKLY)
    folder = service.workspace.layout.schedule
    (folder / "damaged.json").write_text("{", encoding="utf-8")
    (folder / "wrong.json").write_text('{"entry_id": "wrong"}', encoding="utf-8")
    old = {"when": "0 3 * * *", "test_set": "small", "request": {"options": {"gone": 1}}}
    (folder / "old.json").write_text(json.dumps({**old, "entry_id": "old"}), encoding="utf-8")
    shown = small_set.get("/schedule").text
    assert "every Monday" in shown
    assert "damaged.json" in shown
    assert "wrong.json" in shown
    assert shown.count("cannot be run") == 1


def test_only_those_who_may_evaluate_change_the_schedule(
    service: Service, small_set: TestClient
) -> None:
    _send(small_set, "/ui/schedule", WEEKLY)
    ((name, _),) = _entries(service)
    for scope, allowed in (("read", False), ("annotate", False), ("evaluate", True)):
        made = create_key(service.workspace.layout, scope, sorted({"read", scope}))
        service.keyring.read_again()
        who = {"authorization": f"Bearer {made.key}"}
        assert small_set.get("/schedule", headers=who).status_code == 200
        answer = small_set.post("/ui/schedule", content=urlencode(WEEKLY), headers=FORM | who)
        assert (answer.status_code == 200) is allowed, scope
        answer = small_set.post(f"/ui/schedule/{name}/remove", headers=FORM | who)
        assert (answer.status_code == 200) is allowed, scope
        assert small_set.get("/v1/schedules", headers=who).status_code == 200
        body = {"when": "0 3 * * *", "test_set": "small"}
        made_or_not = small_set.post("/v1/schedules", json=body, headers=who)
        assert made_or_not.status_code == (201 if allowed else 403), scope
        path = f"/v1/schedules/{made_or_not.json().get('entry_id', name)}"
        for method, sent in (("PUT", body), ("DELETE", None)):
            answer = small_set.request(method, path, json=sent, headers=who)
            assert answer.status_code == (200 if allowed else 403), (scope, method)


@pytest.mark.parametrize(
    "due",
    [
        Due("hourly", time="00:05"),
        Due("daily", time="03:00"),
        Due("weekdays", time="23:59"),
        Due("weekly", 0, "00:00"),
        Due("monthly", time="12:30"),
        Due("cron", cron="0 9-17/4 * * 1-5"),
        Due("cron", cron="0 * 1 * *"),
    ],
)
def test_what_a_form_says_is_what_a_page_shows(due: Due) -> None:
    again = due_at(due.when)
    assert (again.often, again.when, again.words) == (due.often, due.when, due.words)


def test_how_often_is_one_of_those_offered() -> None:
    with pytest.raises(UsageError):
        due_in({"often": "now"})
