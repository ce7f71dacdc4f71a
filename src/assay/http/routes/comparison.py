"""Which of two runs is better, and may one replace the other?"""

from __future__ import annotations

from typing import Any

from fastapi.responses import JSONResponse

from assay.app import comparison
from assay.app.gate import GateRequest, gate
from assay.http.routes.runs import viewer_of
from assay.http.routing import Reader, ServiceOf, json_response, refusals
from assay.http.routing import router as new_router
from assay.http.wire.base import Json
from assay.http.wire.runs import AbBody, CompareBody, GateBody
from assay.model.codec import decode

router = new_router("runs", prefix="/v1")


@router.post("/compare", response_model=Json, responses=refusals(404, 409))
async def compare(body: CompareBody, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Set two runs of one test set side by side: deltas, and wins and losses per query.

    Held-out queries have no ranks and no note unless the key has the scope evaluate.
    """
    request = decode(comparison.CompareRequest, body.model_dump(exclude_none=True))

    def work() -> dict[str, Any]:
        found = comparison.compare(service.workspace, request, viewer_of(caller, service))
        return found.report.to_dict()

    return await json_response(service, work)


@router.post("/ab", response_model=Json, responses=refusals(404, 409))
async def ab_test(body: AbBody, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Test run b against run a: differences, p-values, intervals, latency, a verdict.

    Held-out queries have no ranks and no note unless the key has the scope evaluate.
    """
    request = decode(comparison.AbRequest, body.model_dump(exclude_none=True))

    def work() -> dict[str, Any]:
        found = comparison.ab(service.workspace, request, viewer_of(caller, service))
        return found.result.to_dict()

    return await json_response(service, work)


@router.post("/gate", response_model=Json, responses=refusals(404, 409))
async def check_gate(body: GateBody, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Check a run against a baseline; ``outcome`` is passed, failed or inconclusive."""
    del caller
    request = decode(GateRequest, body.model_dump(exclude_none=True))
    return await json_response(service, lambda: gate(service.workspace, request).to_dict())
