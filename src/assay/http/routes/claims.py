"""How do people grade claims of answers over HTTP, without what the judge said of them?

A key grades under its own name, as in rounds. ``check`` compares the judge with everybody who
graded, and keeps what it found with the run.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from fastapi.responses import JSONResponse

from assay.app import judges
from assay.app.judges import ClaimDesk, ClaimGraded, ClaimUndone, NextClaim
from assay.http.routes.annotate import Annotator, Person, answer_as
from assay.http.routing import Evaluator, ServiceOf, answers, json_response, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.annotate import UndoRequest
from assay.http.wire.base import Json
from assay.http.wire.claims import ClaimDraw, ClaimGradeRequest, DrawParameters
from assay.http.wire.runs import Ref
from assay.model.judges import Support

router = new_router("claims", prefix="/v1/runs/{ref}/claims")

Run = Annotated[Ref, Path()]


@router.get("", response_model=Json, responses=refusals(404))
async def claims(
    ref: Run, draw: DrawParameters, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """Claims of answers that were drawn at random, for somebody to grade."""
    del caller
    return await json_response(
        service, lambda: judges.claim_sheet(_desk(service, ref, draw)).to_dict()
    )


@router.get("/next", responses={**answers(NextClaim), **refusals(404)})
async def next_claim(
    ref: Run, annotator: Person, draw: DrawParameters, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """The next claim for a person, and how far they are."""
    return await answer_as(
        annotator, service, caller, lambda: _desk(service, ref, draw).turn(annotator)
    )


@router.post("/grades", responses={**answers(ClaimGraded), **refusals(404)})
async def grade(
    ref: Run, body: ClaimGradeRequest, draw: DrawParameters, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """Store what a person says of a claim; sending it again changes nothing."""

    def enter() -> ClaimGraded:
        desk = _desk(service, ref, draw)
        return desk.grade(body.annotator, body.claim_id, Support(body.label))

    return await answer_as(body.annotator, service, caller, enter)


@router.post("/undo", responses={**answers(ClaimUndone), **refusals(404)})
async def undo(
    ref: Run, body: UndoRequest, draw: DrawParameters, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """Take back what a person said last."""
    return await answer_as(
        body.annotator, service, caller, lambda: _desk(service, ref, draw).undo(body.annotator)
    )


@router.post("/check", response_model=Json, responses=refusals(404))
async def check(ref: Run, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Compare the judge of a run with people, and keep what was found with the run."""
    del caller
    return await json_response(service, lambda: judges.check(service.workspace, ref).to_dict())


def _desk(service: Service, ref: str, draw: ClaimDraw) -> ClaimDesk:
    return judges.open_claims(service.workspace, ref, answers=draw.answers, seed=draw.seed)
