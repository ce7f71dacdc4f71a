"""Which evaluations does the clock start, and how is one made, changed and removed?

The form is that of an evaluation (``evaluate.py``): what can be run can be scheduled.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app.schedule import ScheduleEntry
from assay.app.timetable import schedule, timetable, unschedule
from assay.http.job_answers import check_evaluation
from assay.http.pages.clock import due_at, due_in
from assay.http.pages.evaluate import wanted_in
from assay.http.pages.page import Evaluator, Reader, ServiceOf, form_of, page
from assay.http.pages.page import router as new_router
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

    @property
    def title(self) -> str:
        """What its runs are called."""
        return str(self.entry.request.get("name") or self.entry.test_set)


@router.get("/schedule")
async def schedule_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Every entry, and when it comes next."""
    del caller
    found = await service.work(lambda: timetable(service.settings, service.workspace.layout))
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
    await check_evaluation(service, wanted)
    entry = await service.work(
        lambda: schedule(
            service.workspace.layout,
            when,
            fields.get("set", ""),
            wanted,
            owner=caller.name,
            entry_id=fields.get("entry", ""),
        )
    )
    service.log.info("scheduled", entry=entry.entry_id, when=entry.when, by=caller.name)
    return RedirectResponse("/schedule", 303)


@router.post("/ui/schedule/{entry_id}/remove")
async def remove(
    entry_id: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """Remove an entry."""
    del request
    await service.work(lambda: unschedule(service.workspace.layout, entry_id))
    service.log.info("unscheduled", entry=entry_id, by=caller.name)
    return RedirectResponse("/schedule", 303)


def _view(service: Service, entry: ScheduleEntry) -> EntryView:
    following = entry.clock.following(datetime.now(UTC))
    return EntryView(
        entry,
        due_at(entry.when).words,
        text_of(following, "seconds") if following else "",
        service.keyring.who(entry.owner) if entry.owner else "the settings",
    )
