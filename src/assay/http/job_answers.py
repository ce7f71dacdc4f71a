"""How does a job answer the request that made it: with its result, or with where to look?

Whoever asks waits a little. What is done by then is answered at once; the rest goes on, and the
answer is ``202`` with the address of the job.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from fastapi.responses import JSONResponse

from assay.app.jobs import Job, JobState
from assay.http.edge.problems import ProblemError
from assay.http.service import Service

SYNC_SECONDS = 20.0
_KEY = re.compile(r"[\x21-\x7e]{1,128}")


def job_body(job: Job) -> dict[str, Any]:
    """A job as JSON."""
    return {
        "job_id": job.job_id,
        "kind": job.kind,
        "state": job.state.value,
        "done": job.done,
        "total": job.total,
        "run_id": job.run_id,
        "created_at": job.created_at,
        "updated_at": job.updated_at,
        "result": job.result,
        "problem": job.problem,
    }


def new_job_id(kind: str) -> str:
    """An id for a job that was not given one."""
    return f"{kind}_{secrets.token_hex(8)}"


def idempotency_key(headers: Mapping[str, str]) -> str | None:
    """The key under which the same request may come again; refused where it is none."""
    key = headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise ProblemError(
            400, "bad_idempotency_key", "the Idempotency-Key must be up to 128 visible characters"
        )
    return key


def wants_waiting(headers: Mapping[str, str]) -> bool:
    """Whether the caller would rather wait than look again (``Prefer: respond-async``)."""
    return "respond-async" not in headers.get("prefer", "").lower()


async def answered(
    service: Service,
    job: Job,
    *,
    wait: bool,
    body: Callable[[Job], dict[str, Any]] = job_body,
    status: int = 200,
) -> JSONResponse:
    """The result where it is there soon, else 202 and where to look."""
    ended = await _ended(
        service, job, min(SYNC_SECONDS, service.settings.request_seconds * 0.6) if wait else 0
    )
    address = f"/v1/jobs/{ended.job_id}"
    if ended.state is JobState.COMPLETE:
        return JSONResponse(body(ended), status, {"location": address})
    if ended.state is JobState.FAILED and ended.problem is not None:
        problem = ended.problem
        raise ProblemError(
            int(problem.get("status", 500)),
            problem["code"],
            problem["detail"],
            hint=problem["hint"],
            headers={"location": address},
        )
    return JSONResponse(job_body(ended), 202, {"location": address, "retry-after": "1"})


async def _ended(service: Service, job: Job, seconds: float) -> Job:
    future = await service.work(lambda: service.jobs.watch(job.job_id))
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.wrap_future(future)
    except TimeoutError:
        return await service.work(lambda: service.jobs.store.get(job.job_id))
    finally:
        service.jobs.unwatch(job.job_id, future)
