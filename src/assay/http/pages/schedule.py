"""Which evaluations does the clock start, and how is one made, changed and removed?

The form is that of an evaluation (``evaluate.py``): what can be run can be scheduled.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app.schedule import ScheduleEntry
from assay.http.pages.clock import due_at, due_in
from assay.http.pages.evaluate import wanted_in
from assay.http.pages.page import Evaluator, Reader, ServiceOf, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.routes.schedules import put_schedule, take_schedule
from assay.http.service import Service
from assay.model.moments import text_of

router = new_router()


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry as it is shown."""

    entry: ScheduleEntry
    words: str
    following: str
    who: str


@router.get("/schedule")
async def schedule_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Every entry, and when it comes next."""
    del caller
    found = await service.work(service.workspace.schedules)
    return page(
        request,
        "ui/schedule.html",
        fixed=[_view(service, one) for one in found.fixed],
        own=[_view(service, one) for one in found.own],
        problems=found.problems,
    )


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


def _view(service: Service, entry: ScheduleEntry) -> EntryView:
    following = entry.clock.following(datetime.now(UTC))
    return EntryView(
        entry,
        due_at(entry.when).words,
        text_of(following, "seconds") if following else "",
        service.keyring.who(entry.owner) if entry.owner else "the settings",
    )
