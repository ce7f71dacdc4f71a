"""How do annotators work over HTTP, each without seeing what the other says?

A key that is not an administrator's works under its own name: ``assay keys create ann --scope
annotate`` makes one for ann. While the service is open to this machine only and there are no keys,
the name in the request counts.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Path, Query
from fastapi.responses import JSONResponse

from assay.app.desk import Desk, desk
from assay.http.edge.auth import Caller, requires
from assay.http.edge.problems import ProblemError
from assay.http.routing import Evaluator, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.annotate import (
    AgreementAnswer,
    DecidedAnswer,
    DecisionRequest,
    DisputesAnswer,
    GradedAnswer,
    GradeRequest,
    NextAnswer,
    RoundsAnswer,
    UndoneAnswer,
    UndoRequest,
)
from assay.http.wire.base import Id
from assay.model.annotation import Round, Task
from assay.render.markup import safe_table

router = new_router("annotation", prefix="/v1")

Annotator = Annotated[Caller, Depends(requires("annotate"))]
RoundId = Annotated[Id, Path(description="The round, or latest.")]
Person = Annotated[Id, Query(description="Who is asking.")]


@router.get("/rounds", response_model=RoundsAnswer, responses=refusals())
async def list_rounds(service: ServiceOf, caller: Annotator) -> JSONResponse:
    """Rounds of judging, newest first."""
    del caller

    def work() -> list[dict[str, Any]]:
        store = service.workspace.annotations
        return [_round(Desk(store, held)) for held in store.rounds()]

    return JSONResponse({"rounds": await service.work(work)})


@router.get("/rounds/{round_id}/next", response_model=NextAnswer, responses=refusals(404))
async def next_task(
    round_id: RoundId, annotator: Person, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """The next passage for an annotator, and how far they are."""
    _same_person(caller, annotator)

    def work() -> dict[str, Any]:
        at = _desk(service, round_id)
        task = at.next(annotator)
        return {
            "task": None if task is None else _task(task),
            "progress": asdict(at.progress(annotator)),
        }

    return JSONResponse(await service.work(work))


@router.post("/rounds/{round_id}/grades", response_model=GradedAnswer, responses=refusals(404, 409))
async def grade(
    round_id: RoundId, said: GradeRequest, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """Enter a grade; it is on the disk when this answers, and sending it again changes nothing."""
    _same_person(caller, said.annotator)

    def work() -> dict[str, Any]:
        at = _desk(service, round_id)
        entered = at.grade(said.annotator, (said.query_id, said.chunk_id), said.grade, said.comment)
        return {"grade": asdict(entered), "progress": asdict(at.progress(said.annotator))}

    return JSONResponse(await service.work(work))


@router.post("/rounds/{round_id}/undo", response_model=UndoneAnswer, responses=refusals(404, 409))
async def undo(
    round_id: RoundId, asked: UndoRequest, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """Take back an annotator's last grade."""
    _same_person(caller, asked.annotator)

    def work() -> dict[str, Any]:
        at = _desk(service, round_id)
        undone = at.undo(asked.annotator)
        return {
            "undone": None if undone is None else asdict(undone),
            "progress": asdict(at.progress(asked.annotator)),
        }

    return JSONResponse(await service.work(work))


@router.get("/rounds/{round_id}/disputes", response_model=DisputesAnswer, responses=refusals(404))
async def disputes(
    round_id: RoundId, person: Person, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """What the annotators disagree about, for a third person."""
    _same_person(caller, person)

    def work() -> list[dict[str, Any]]:
        return [
            {
                "task": _task(one.task),
                "grades": list(one.grades),
                "comments": list(one.comments),
            }
            for one in _desk(service, round_id).disputes(person)
        ]

    return JSONResponse({"disputes": await service.work(work)})


@router.post(
    "/rounds/{round_id}/decisions", response_model=DecidedAnswer, responses=refusals(404, 409)
)
async def decide(
    round_id: RoundId, said: DecisionRequest, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """Enter what the third person says."""
    _same_person(caller, said.person)

    def work() -> dict[str, Any]:
        at = _desk(service, round_id)
        made = at.decide(said.person, (said.query_id, said.chunk_id), said.grade, said.comment)
        return {
            "query_id": made.query_id,
            "chunk_id": made.chunk_id,
            "grade": made.grade,
            "by": made.by,
            "open": at.open_items(),
        }

    return JSONResponse(await service.work(work))


@router.get("/rounds/{round_id}/agreement", response_model=AgreementAnswer, responses=refusals(404))
async def agreement(round_id: RoundId, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Kappa, confusion and differences; needs the scope evaluate, since it shows grades."""
    del caller

    def work() -> dict[str, Any]:
        at = _desk(service, round_id)
        return {**at.agreement().to_dict(), "open": at.open_items()}

    return JSONResponse(await service.work(work))


def _desk(service: Service, round_id: str) -> Desk:
    return desk(service.workspace.annotations, round_id)


def _same_person(caller: Caller, name: str) -> None:
    """A key works under its own name; an administrator's under any."""
    if caller.who and caller.who != name and "admin" not in caller.scopes:
        raise ProblemError(
            403,
            "forbidden",
            f"this key belongs to {caller.who}, not to {name}",
            hint=f"assay keys create {name} --scope annotate",
        )


def _task(task: Task) -> dict[str, Any]:
    return {**asdict(task), "table_html": safe_table(task.table_html)}


def _round(at: Desk) -> dict[str, Any]:
    held: Round = at.held
    return {
        "round_id": held.round_id,
        "purpose": held.purpose.value,
        "test_set": held.test_set,
        "version": held.version,
        "annotators": list(held.annotators),
        "passages": len(at.items),
        "created_at": held.created_at,
        "closed_at": held.closed_at,
    }
