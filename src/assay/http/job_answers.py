"""How does a job answer the request that made it: with its result, or with where to look?

The request waits a little. A job that is done by then is answered with its result; any other goes
on, and the answer is ``202`` with the address of the job.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse

from assay import limits
from assay.app.evaluation import check_request
from assay.app.evaluation_request import EvaluationRequest
from assay.app.jobs import EVALUATION, FIRST_ROUND, ROUND, Job, JobState
from assay.errors import LimitError
from assay.http.edge.auth import Caller
from assay.http.edge.problems import ProblemError
from assay.http.routing import answers
from assay.http.service import Service
from assay.http.wire.statistics import MOST_OF_JOB, check_drawn
from assay.model.codec import encode
from assay.model.run_ids import new_job_id

SYNC_SECONDS = 20.0
READING = frozenset({EVALUATION, ROUND, FIRST_ROUND})
"""The kinds of jobs that the scope evaluate may stop and resume."""
ACCEPTED = answers(Job, 202)
"""The documentation of an answer that says where to look."""
_KEY = re.compile(r"[\x21-\x7e]{1,128}")


def idempotency_key(headers: Mapping[str, str]) -> str | None:
    """The key under which the same request may come again; refused if it is malformed."""
    key = headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise ProblemError(
            400, "bad_idempotency_key", "the Idempotency-Key must be up to 128 visible characters"
        )
    return key


def may_change(caller: Caller, job: Job) -> bool:
    """Whether the caller may cancel or resume a job: what could also have been started."""
    return caller.may("evaluate" if job.kind in READING else "admin")


def require_for(caller: Caller, job: Job) -> None:
    """Refuse to cancel or resume what the caller could not have started."""
    if not may_change(caller, job):
        raise ProblemError(403, "forbidden", f"a job of kind {job.kind} needs the scope admin")


async def enter_evaluation(
    service: Service, wanted: EvaluationRequest, caller: Caller, key: str | None = None
) -> Job:
    """Enter an evaluation as a job, unless it could only fail or asks for too much."""
    await check_evaluation(service, wanted)
    if (run_id := wanted.run_id) is not None:
        await service.work(lambda: service.workspace.runs.check_new_id(run_id))
    return await service.work(
        lambda: service.jobs.submit_evaluation(
            wanted.run_id or new_job_id("evaluation"),
            wanted,
            owner=caller.name,
            idempotency_key=key,
        )
    )


async def check_evaluation(service: Service, wanted: EvaluationRequest) -> None:
    """Refuse an evaluation that could only fail or asks for too much."""
    workspace = service.workspace
    assert wanted.test_set is not None
    count = len(wanted.test_set.queries)
    if count > limits.MAX_UPLOAD_QUERIES:
        raise LimitError(
            f"{count:,} queries; at most {limits.MAX_UPLOAD_QUERIES:,} are allowed",
            hint="evaluate parts of the test set, or use the command line",
        )
    drawn = wanted.drawn_as(workspace.settings)
    check_drawn(count * drawn.measure_count, drawn.resamples or 0, MOST_OF_JOB)
    await service.searcher()  # refused at once if nothing can be searched
    await service.work(lambda: check_request(workspace, wanted))


async def as_job(
    service: Service, request: Request, kind: str, content: Mapping[str, Any], owner: str
) -> JSONResponse:
    """Enter a job, and wait for it a little."""
    key = idempotency_key(request.headers)
    job = await service.work(
        lambda: service.jobs.submit(
            new_job_id(kind), kind, content, owner=owner, idempotency_key=key
        )
    )
    return await job_response(service, job, request.headers)


async def job_response(service: Service, job: Job, headers: Mapping[str, str]) -> JSONResponse:
    """The result if it is there soon, else 202 at once (``Prefer: respond-async``) or after a wait.

    A job that failed answers as the request itself would have.
    """
    at_once = "respond-async" in headers.get("prefer", "").lower()
    patience = 0 if at_once else min(SYNC_SECONDS, service.settings.request_seconds * 0.6)
    job = await job_ended(service, job.job_id, patience)
    address = f"/v1/jobs/{job.job_id}"
    if job.state is JobState.COMPLETE:
        return JSONResponse(dict(job.result or {}), headers={"location": address})
    if job.state is JobState.FAILED and job.problem is not None:
        problem = job.problem
        raise ProblemError(
            int(problem.get("status", 500)),
            problem["code"],
            problem["detail"],
            hint=problem["hint"],
            headers={"location": address},
        )
    return JSONResponse(encode(job), 202, {"location": address, "retry-after": "1"})


async def job_ended(service: Service, job_id: str, seconds: float) -> Job:
    """The job once it has ended, or as it is when the time is up."""
    future = await service.work(lambda: service.jobs.watch(job_id))
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.wrap_future(future)
    except TimeoutError:
        return await service.work(lambda: service.jobs.get(job_id))
    finally:
        service.jobs.unwatch(job_id, future)
