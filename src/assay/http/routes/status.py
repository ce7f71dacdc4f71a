"""Is the service alive, is it ready, and what does it count?"""

from __future__ import annotations

from typing import Literal

from fastapi import Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from assay.http.edge.problems import Fault, ProblemError
from assay.http.edge.readiness import readiness
from assay.http.routing import Reader, ServiceOf, answer_with, refusals
from assay.http.routing import router as new_router

router = new_router("status")


@router.get(
    "/healthz", responses={**answer_with("It answers", status=Literal["alive"]), **refusals()}
)
async def healthz() -> JSONResponse:
    """The process is alive and answers."""
    return JSONResponse({"status": "alive"})


@router.get(
    "/readyz",
    responses={**answer_with("Searches can be answered", status=Literal["ready"]), **refusals()},
)
async def readyz(service: ServiceOf) -> JSONResponse:
    """Whether searches can be answered; if not, what is missing."""
    wrong = await readiness(service)
    if wrong:
        raise ProblemError(
            503,
            "not_ready",
            "; ".join(f"{name}: {what}" for name, what in wrong.items()),
            hint="everything except search works",
            errors=[Fault(name, what) for name, what in wrong.items()],
            headers={"retry-after": "5"},
        )
    return JSONResponse({"status": "ready"})


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        **refusals(),
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
    },
)
async def metrics(service: ServiceOf, caller: Reader) -> Response:
    """All metrics, in the text format of Prometheus."""
    del caller
    for name, gate in service.gates.items():
        service.metrics.gate(name, gate.active, gate.waiting)
    text = await service.probe(service.metrics.text)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
