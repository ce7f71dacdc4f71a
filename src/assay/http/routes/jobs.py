"""How far are jobs, and can they be stopped?"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import JSONResponse, StreamingResponse

from assay import limits
from assay.app.jobs import ENDED, Job
from assay.http.edge.problems import ProblemError
from assay.http.job_answers import require_for
from assay.http.routing import Evaluator, Reader, ServiceOf, answer_with, answers, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Id, Limit, Offset
from assay.model.codec import encode

router = new_router("jobs", prefix="/v1")

LOOK_EVERY_S = 0.2
KEEP_ALIVE_S = 15.0
OWN_SHARE = 4
"""One caller may have so much less than all of the streams."""
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


@router.get(
    "/jobs",
    responses={
        **answer_with("Some jobs, and how many there are in all", total=int, jobs=list[Job]),
        **refusals(),
    },
)
async def list_jobs(
    service: ServiceOf, caller: Reader, limit: Limit = 20, offset: Offset = 0
) -> JSONResponse:
    """Jobs, newest first, without their results."""
    del caller
    jobs, total = await service.work(lambda: service.jobs.page(limit, offset))
    return JSONResponse({"total": total, "jobs": encode(jobs)})


@router.get("/jobs/{job_id}", responses={**answers(Job), **refusals(404)})
async def show_job(job_id: Id, service: ServiceOf, caller: Reader) -> JSONResponse:
    """How far a job is and, once it has ended, what came of it."""
    del caller
    return JSONResponse(encode(await service.work(lambda: service.jobs.get(job_id))))


@router.delete("/jobs/{job_id}", responses={**answers(Job), **refusals(404)})
async def cancel_job(job_id: Id, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Cancel a job: at once if it is queued, after the present query if it runs.

    Jobs about documents and the index need the scope admin.
    """
    await service.work(lambda: require_for(caller, service.jobs.get(job_id)))
    return JSONResponse(encode(await service.work(lambda: service.jobs.cancel(job_id))))


@router.post("/jobs/{job_id}/resume", responses={**answers(Job), **refusals(404, 409)})
async def resume_job(job_id: Id, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Go on with a job that was cancelled or has failed; an evaluation keeps its outcomes.

    Jobs about documents and the index need the scope admin.
    """
    await service.work(lambda: require_for(caller, service.jobs.get(job_id)))
    job = await service.work(lambda: service.jobs.resume(job_id, owner=caller.name))
    return JSONResponse(encode(job))


@router.get(
    "/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses={**refusals(404), **EVENTS},
)
async def follow_job(job_id: Id, service: ServiceOf, caller: Reader) -> StreamingResponse:
    """Follow a job as server-sent events: one per change, the last when it has ended."""
    await service.work(lambda: service.jobs.get(job_id))
    streams = service.streams
    own = streams[caller.name]
    if streams.total() >= limits.MAX_STREAMS or own >= limits.MAX_STREAMS // OWN_SHARE:
        raise ProblemError(
            503,
            "overloaded",
            "too many clients follow jobs",
            hint="poll the job instead",
            headers={"retry-after": "5"},
        )
    return StreamingResponse(_events(service, job_id, caller.name), media_type="text/event-stream")


async def _events(service: Service, job_id: str, caller: str) -> AsyncIterator[str]:
    service.streams[caller] += 1
    shown, sent_at = "", time.monotonic()
    try:
        while not service.stopping.is_set() and service.keyring.still(caller):
            job = await service.work(lambda: service.jobs.get(job_id))
            text = json.dumps(encode(job))
            if text != shown:
                shown, sent_at = text, time.monotonic()
                yield f"event: {job.state.value}\ndata: {text}\n\n"
            elif time.monotonic() - sent_at > KEEP_ALIVE_S:
                sent_at = time.monotonic()
                yield ": still here\n\n"
            if job.state in ENDED:
                return
            await asyncio.sleep(LOOK_EVERY_S)
    finally:
        service.streams[caller] -= 1
        service.streams += Counter()  # forgets who follows nothing
