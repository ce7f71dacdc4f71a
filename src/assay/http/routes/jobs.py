"""How far is the long work, and can it be stopped?"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import JSONResponse, StreamingResponse

from assay import limits
from assay.app.jobs import ENDED
from assay.http.edge.problems import ProblemError
from assay.http.job_answers import job_body
from assay.http.routing import Evaluator, Reader, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Id, Whole
from assay.http.wire.jobs import JobBody, JobsAnswer

router = new_router("jobs", prefix="/v1")

LOOK_EVERY_S = 0.2
SIGN_OF_LIFE_S = 15.0
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


@router.get("/jobs", response_model=JobsAnswer, responses=refusals())
async def list_jobs(
    service: ServiceOf,
    caller: Reader,
    limit: Annotated[int, Whole, Query(ge=1, le=1_000)] = 20,
    offset: Annotated[int, Whole, Query(ge=0, le=10_000_000)] = 0,
) -> JSONResponse:
    """Jobs, newest first, without their results."""
    del caller
    found, total = await service.work(lambda: service.jobs.store.page(limit, offset))
    rows = [{**job_body(job), "result": None} for job in found]
    return JSONResponse({"total": total, "jobs": rows})


@router.get("/jobs/{job_id}", response_model=JobBody, responses=refusals(404))
async def show_job(job_id: Id, service: ServiceOf, caller: Reader) -> JSONResponse:
    """How far a job is and, once it has ended, what came of it."""
    del caller
    return JSONResponse(job_body(await service.work(lambda: service.jobs.store.get(job_id))))


@router.delete("/jobs/{job_id}", response_model=JobBody, responses=refusals(404))
async def cancel_job(job_id: Id, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Cancel a job: at once where it waits, after its present query where it runs.

    Work on documents and on the index is an administrator's, and so is its end.
    """
    job = await service.work(lambda: service.jobs.store.get(job_id))
    if job.kind != "evaluation" and not caller.may("admin"):
        raise ProblemError(403, "forbidden", f"a job of kind {job.kind} needs the scope admin")
    return JSONResponse(job_body(await service.work(lambda: service.jobs.cancel(job_id))))


@router.get(
    "/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses={**refusals(404), **EVENTS},
)
async def follow_job(job_id: Id, service: ServiceOf, caller: Reader) -> StreamingResponse:
    """Follow a job as server-sent events: one per change, the last when it has ended."""
    del caller
    await service.work(lambda: service.jobs.store.get(job_id))
    if service.streams >= limits.MAX_STREAMS:
        raise ProblemError(
            503,
            "overloaded",
            "too many clients follow jobs",
            hint="ask for the job now and then instead",
            headers={"retry-after": "5"},
        )
    return StreamingResponse(_events(service, job_id), media_type="text/event-stream")


async def _events(service: Service, job_id: str) -> AsyncIterator[str]:
    service.streams += 1
    shown, told = "", time.monotonic()
    try:
        while not service.stopping.is_set():
            job = await service.work(lambda: service.jobs.store.get(job_id))
            text = json.dumps(job_body(job))
            if text != shown:
                shown, told = text, time.monotonic()
                yield f"event: {job.state.value}\ndata: {text}\n\n"
            elif time.monotonic() - told > SIGN_OF_LIFE_S:
                told = time.monotonic()
                yield ": still here\n\n"
            if job.state in ENDED:
                return
            await asyncio.sleep(LOOK_EVERY_S)
    finally:
        service.streams -= 1
