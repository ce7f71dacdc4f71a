"""What is being done, what waits, how far is it, and can it be stopped?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app import runs
from assay.app.jobs import ENDED, EVALUATION, Job, JobState
from assay.errors import AssayError
from assay.http.job_answers import may_change, require_for
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import Evaluator, Reader, ServiceOf, curl, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.pages.runs import NAMES
from assay.http.service import Service
from assay.model.run_store import BASELINE
from assay.model.runs import RunInfo

router = new_router()

RESUMABLE = frozenset({JobState.CANCELLED, JobState.FAILED})
LOOK_S, LONG_LOOK_S = 1, 4
"""How often a page looks at a job that is not done; large ones take longer to score."""
LARGE = 1_000


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as it is shown."""

    job: Job
    who: str
    may_change: bool
    run: RunInfo | None = None
    figures: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether everything was done."""
        return self.job.state is JobState.COMPLETE

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.job.state in ENDED

    @property
    def resumable(self) -> bool:
        """Whether it can be taken up again."""
        return self.job.state in RESUMABLE

    @property
    def seconds(self) -> float:
        """From the moment it was entered to the last news of it, or to now."""
        until = self.job.updated_at if self.ended else datetime.now(UTC).isoformat()
        return max(0.0, (_moment(until) - _moment(self.job.created_at)).total_seconds())

    @property
    def look_again(self) -> int:
        """Seconds until the page looks again."""
        return LOOK_S if self.job.total < LARGE else LONG_LOOK_S


@router.get("/jobs")
async def jobs_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Every job, newest first."""
    number = page_number(request.query_params.get("page"))

    def work() -> dict[str, Any]:
        found, total = service.jobs.page(PAGE, (number - 1) * PAGE)
        return {
            "jobs": [_view(service, job, caller) for job in found],
            "busy": any(job.state not in ENDED for job in found),
            "listing": listing("/jobs", [], number, total),
        }

    return page(
        request,
        "ui/jobs.html",
        block="list",
        **await service.work(work),
        commands=[curl(request, "/v1/jobs")],
    )


@router.get("/jobs/{job_id}")
async def job_page(job_id: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """One job: how far it is, what it scored so far, and what came of it."""

    def work() -> dict[str, Any]:
        view = _view(service, service.jobs.get(job_id), caller, scored=True)
        return {"view": view, "job": view.job, "names": NAMES, "baseline": _baseline(service, view)}

    return page(
        request,
        "ui/job.html",
        block="state",
        **await service.work(work),
        commands=[curl(request, f"/v1/jobs/{job_id}")],
    )


@router.post("/ui/jobs/{job_id}/{action}")
async def change(
    job_id: str, action: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """Cancel a job, or go on with one."""
    fields = await form_of(request)

    def work() -> None:
        require_for(caller, service.jobs.get(job_id))
        if action == "resume":
            service.jobs.resume(job_id, owner=caller.name)
        else:
            service.jobs.cancel(job_id)

    await service.work(work)
    return RedirectResponse("/jobs" if fields.get("to") == "list" else f"/jobs/{job_id}", 303)


def _view(service: Service, job: Job, caller: Any, *, scored: bool = False) -> JobView:
    """A job; ``scored``: with the figures of its run, as far as it got."""
    info: RunInfo | None = None
    figures: Mapping[str, float | None] = {}
    if job.kind == EVALUATION and (scored or job.run_id):
        try:
            info = service.workspace.runs.run(job.run_id or job.job_id)
            if scored and job.state is JobState.COMPLETE:
                figures = info.aggregate.get("metrics", {})
            elif scored and job.done:
                figures = runs.live_figures(service.workspace, info)
        except AssayError:  # it has not begun, or was deleted
            pass
    who = service.keyring.who(job.owner)
    return JobView(job, who, may_change(caller, job), info, figures)


def _baseline(service: Service, view: JobView) -> RunInfo | None:
    """The run to hold the new one against, if it is of the same test set."""
    try:
        found = service.workspace.runs.run(BASELINE)
    except AssayError:
        return None
    if view.run is None or found.run_id == view.run.run_id or found.suite != view.run.suite:
        return None
    return found


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
