"""Which of two runs is better, and may one replace the other?"""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import JSONResponse

from assay.app import comparison, cost
from assay.app.gate import GateRequest, gate, named_run
from assay.app.jobs import AB, GATE
from assay.app.workspace import Workspace
from assay.http.edge.auth import Caller, require
from assay.http.job_answers import ACCEPTED, as_job
from assay.http.routes.runs import viewer_of
from assay.http.routing import Reader, ServiceOf, computed, refusals
from assay.http.routing import router as new_router
from assay.http.wire.base import Json
from assay.http.wire.runs import AbBody, CompareBody, GateBody
from assay.model.codec import decode, encode

router = new_router("runs", prefix="/v1")


@router.post("/compare", response_model=Json, responses=refusals(404, 409))
async def compare(body: CompareBody, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Set two runs of one test set side by side: deltas, and wins and losses per query.

    Held-out queries have no ranks and no note unless the key has the scope evaluate.
    """
    request = decode(comparison.CompareRequest, body.model_dump(exclude_none=True))
    return await computed(
        service,
        lambda here: cost.compared(here, request.a, request.b),
        _compared,
        request,
        caller,
    )


@router.post("/ab", response_model=Json, responses={**refusals(404, 409), **ACCEPTED})
async def ab_test(
    body: AbBody, http_request: Request, service: ServiceOf, caller: Reader
) -> JSONResponse:
    """Test run b against run a: differences, p-values, intervals, latency, a verdict.

    Held-out queries have no ranks and no note unless the key has the scope evaluate. With
    ``latency_repeats`` the configurations of both runs are asked every query in turn, which is a
    job (``202`` and ``Location`` where it takes longer) and needs that scope.
    """
    request = decode(comparison.AbRequest, body.model_dump(exclude_none=True))
    if request.latency_repeats:
        require(caller, "evaluate")
        await service.searcher()  # refused at once if nothing can be searched
        named = await service.work(lambda: comparison.named_runs(service.workspace, request))
        return await as_job(service, http_request, AB, encode(named), caller.name)
    return await computed(
        service, lambda here: cost.tested(here, request), _tested, request, caller
    )


@router.post("/gate", response_model=Json, responses={**refusals(404, 409), **ACCEPTED})
async def check_gate(
    body: GateBody, http_request: Request, service: ServiceOf, caller: Reader
) -> JSONResponse:
    """Check a run against a baseline; ``outcome`` is passed, failed or inconclusive.

    With ``latency_repeats`` the configurations of both runs are asked every query in turn, which
    is a job (``202`` and ``Location`` where it takes longer) and needs the scope evaluate.
    """
    request = decode(GateRequest, body.model_dump(exclude_none=True))
    if request.latency_repeats:
        require(caller, "evaluate")
        await service.searcher()  # refused at once if nothing can be searched
        named = await service.work(lambda: named_run(service.workspace, request))
        return await as_job(service, http_request, GATE, encode(named), caller.name)
    return await computed(service, lambda here: cost.gated(here, request), _gated, request)


def _compared(
    workspace: Workspace, request: comparison.CompareRequest, caller: Caller
) -> JSONResponse:
    found = comparison.compare(workspace, request, viewer_of(caller, workspace))
    return JSONResponse(found.report.to_dict())


def _tested(workspace: Workspace, request: comparison.AbRequest, caller: Caller) -> JSONResponse:
    found = comparison.ab(workspace, request, viewer_of(caller, workspace))
    return JSONResponse(found.result.to_dict())


def _gated(workspace: Workspace, request: GateRequest) -> JSONResponse:
    return JSONResponse(gate(workspace, request).to_dict())
