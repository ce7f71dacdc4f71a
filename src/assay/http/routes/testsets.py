"""Which test sets are there, and is this one sound?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from assay.app import testsets as datasets
from assay.app.held_out import masked, noted
from assay.errors import Problem
from assay.http.edge.auth import Caller
from assay.http.edge.problems import ProblemError
from assay.http.routing import Evaluator, Reader, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Id, Switch
from assay.http.wire.testsets import (
    StoredAnswer,
    TestSetAnswer,
    TestSetsAnswer,
    ValidationAnswer,
)
from assay.model.testset import TestSet
from assay.model.testset_json import to_plain

router = new_router("test sets", prefix="/v1")

HeldOut = Annotated[Switch, Query(description="Show held-out queries, too; the look is logged.")]

EXAMPLE = {
    "name": "headaches",
    "version": "v1",
    "queries": [
        {
            "query_id": "q001",
            "query_text": "pembrolizumab adverse events",
            "query_type": "exact_term",
            "relevant_docs": [{"doc_id": "PMC123:chunk_5", "grade": 3}],
        }
    ],
}
UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            kind: {"schema": {"type": ["object", "array"]}, "example": EXAMPLE}
            for kind in ("application/json",)
        },
    }
}


@router.get("/testsets", response_model=TestSetsAnswer, responses=refusals())
async def list_sets(service: ServiceOf, caller: Reader) -> JSONResponse:
    """Every test set that loads by name."""
    del caller
    rows = await service.work(lambda: datasets.listing(service.config.home))
    return JSONResponse({"test_sets": rows})


@router.post(
    "/testsets",
    response_model=StoredAnswer,
    status_code=201,
    responses=refusals(409),
    openapi_extra=UPLOAD,
)
async def store_set(request: Request, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Store a test set under its own name: YAML or JSON, in any form that assay reads."""
    del caller
    body = await request.body()
    found, new = await service.work(lambda: datasets.upload(service.config.home, body))
    answer = {
        "name": found.name,
        "version": found.version,
        "checksum": found.checksum,
        "queries": len(found.queries),
        "new": new,
    }
    return JSONResponse(answer, 201, {"location": f"/v1/testsets/{found.name}"})


@router.post(
    "/testsets/validate",
    response_model=ValidationAnswer,
    responses=refusals(),
    openapi_extra=UPLOAD,
)
async def validate(request: Request, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Check a test set without storing it; every problem is listed."""
    del caller
    body = await request.body()
    is_json = "json" in request.headers.get("content-type", "")
    if is_json and not isinstance(await request.json(), (dict, list)):
        raise ProblemError(422, "invalid", "a test set is an object or a list")
    reading = await service.work(lambda: datasets.read_upload(body))
    found = reading.test_set
    return JSONResponse(
        {
            "sound": found is not None,
            "form": reading.form,
            "queries": len(found.queries) if found else None,
            "problems": _faults(reading.problems),
            "warnings": _faults(reading.warnings),
        }
    )


@router.get("/testsets/{name}", response_model=TestSetAnswer, responses=refusals(404))
async def show_set(
    name: Id,
    service: ServiceOf,
    caller: Reader,
    held_out: HeldOut = False,
) -> JSONResponse:
    """One test set with its queries and judgments; held-out ones are masked."""
    found = await service.work(lambda: datasets.load(service.config.home, name))
    shown = await revealed(service, caller, found) if held_out else masked(found)
    return JSONResponse({**to_plain(shown), "checksum": found.checksum})


async def revealed(service: Service, caller: Caller, found: TestSet) -> TestSet:
    """All of a test set, for those who may evaluate; the look is logged."""
    if not caller.may("evaluate"):
        raise ProblemError(
            403, "forbidden", "held-out queries are for keys with the scope evaluate"
        )
    await service.work(lambda: noted(service.workspace, found))
    return found


def _faults(problems: Iterable[Problem]) -> list[dict[str, str]]:
    return [
        {"where": str(one.query_id or one.line or "input"), "message": one.message}
        for one in problems
    ]
