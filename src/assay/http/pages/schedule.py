"""Which evaluations does the clock start, and how is one made, changed and removed?

The form is that of an evaluation (``evaluate.py``): what can be run can be scheduled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app.evaluation_request import EvaluationRequest, written_options
from assay.app.schedule import ScheduleEntry
from assay.app.timetable import request_of
from assay.errors import AssayError
from assay.http.pages.clock import due_at, due_in
from assay.http.pages.evaluate import wanted_in
from assay.http.pages.page import Evaluator, Reader, ServiceOf, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.routes.schedules import put_schedule, take_schedule
from assay.http.service import Service
from assay.model.moments import text_of
from assay.model.testset import TestSet
from assay.search.request import as_parameters

router = new_router()


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry as it is shown; without ``settings`` it cannot be run."""

    entry: ScheduleEntry
    words: str
    following: str
    who: str
    settings: tuple[str, ...] | None


@router.get("/schedule")
async def schedule_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Every entry, and when it comes next."""
    del caller

    def work() -> dict[str, Any]:
        found = service.workspace.schedules()
        sets = {
            one.name: one.reading.test_set
            for one in service.workspace.test_sets()
            if one.reading is not None
        }
        return {
            "fixed": [_view(service, one, sets.get(one.test_set)) for one in found.fixed],
            "own": [_view(service, one, sets.get(one.test_set)) for one in found.own],
            "problems": found.problems,
        }

    return page(request, "ui/schedule.html", **await service.work(work))


@router.post("/ui/schedule")
async def save(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Make an entry, or change the one that is named."""
    fields = await form_of(request)
    when = due_in(fields).when
    wanted = await wanted_in(service, fields)
    await put_schedule(service, caller, when, wanted, entry_id=fields.get("entry", ""))
    return RedirectResponse("/schedule", 303)


@router.post("/ui/schedule/{entry_id}/remove")
async def remove(
    entry_id: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """Remove an entry."""
    del request
    await take_schedule(service, caller, entry_id)
    return RedirectResponse("/schedule", 303)


def _view(service: Service, entry: ScheduleEntry, test_set: TestSet | None) -> EntryView:
    following = entry.clock.following(datetime.now(UTC))
    return EntryView(
        entry,
        due_at(entry.when).words,
        text_of(following, "seconds") if following else "",
        service.keyring.who(entry.owner) if entry.owner else "the settings",
        _settings(entry, test_set),
    )


def _settings(entry: ScheduleEntry, test_set: TestSet | None) -> tuple[str, ...] | None:
    """What is not as usual; None where the test set is gone, or an option is not known any more."""
    if test_set is None:
        return None
    try:
        return tuple(_in_words(request_of(entry, test_set)))
    except AssayError:
        return None


def _in_words(request: EvaluationRequest) -> Iterator[str]:
    for name, text in (*as_parameters(request.options), *written_options(request)):
        if name not in ("name", "tag"):
            label = name.replace("_", " ")
            yield {"true": label, "false": f"no {label}"}.get(text, f"{label} {text}")
