"""How do annotators work over HTTP, each without seeing the other's grades?

A key judges under its own name (``assay keys create ann --scope annotate`` makes one for ann); that
of an administrator under any. Without keys, on this machine only, the name in the request counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Path, Query
from fastapi.responses import JSONResponse

from assay.app import first_set
from assay.app.annotation import (
    Decided,
    Desk,
    Dispute,
    Graded,
    NextTask,
    RoundCard,
    RoundStatus,
    Undone,
    automatic,
    open_desk,
    open_desks,
)
from assay.http.edge.auth import Caller, requires
from assay.http.edge.problems import ProblemError
from assay.http.routing import Evaluator, ServiceOf, answer_with, answers, json_response, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.annotate import (
    DecisionRequest,
    FinishRequest,
    GradeRequest,
    JudgeRequest,
    NewRoundRequest,
    SecondRequest,
    UndoRequest,
)
from assay.http.wire.base import Id, Json
from assay.model.annotation import Task
from assay.model.codec import encode

router = new_router("annotation", prefix="/v1")

Annotator = Annotated[Caller, Depends(requires("annotate"))]
RoundId = Annotated[Id, Path(description="The round, or latest.")]
Person = Annotated[Id, Query(description="Who is asking.")]


@router.get(
    "/rounds",
    responses={**answer_with("Rounds, newest first", rounds=list[RoundCard]), **refusals()},
)
async def list_rounds(service: ServiceOf, caller: Annotator) -> JSONResponse:
    """Rounds of judging, newest first."""
    del caller

    def cards() -> list[RoundCard]:
        return [desk.card() for desk in open_desks(service.workspace)]

    return await json_response(service, lambda: {"rounds": encode(cards())})


@router.post("/rounds", status_code=201, response_model=Json, responses=refusals(409))
async def new_round(body: NewRoundRequest, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Begin a first test set: pool passages for questions, for one person or two to judge."""
    del caller

    def begin() -> Json:
        rows = [row.model_dump(exclude_none=True, mode="json") for row in body.questions]
        asked = first_set.NewSet(
            name=body.name,
            annotators=tuple(body.annotators),
            questions=first_set.questions_of_rows(rows),
            depth=body.depth,
            budget=body.budget,
            until=body.until,
            order=body.order,
            runs=body.runs,
            others=body.others,
            seed=body.seed,
        )
        return first_set.new(service.workspace, asked).to_dict()

    return JSONResponse(await service.work(begin), 201, {"location": f"/v1/rounds/{body.name}"})


@router.get("/rounds/{round_id}", responses={**answers(RoundStatus), **refusals(404)})
async def round_status(round_id: RoundId, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """How far a round is, how well people agree, and how sure its figures are."""
    del caller
    return await json_response(service, lambda: encode(_desk(service, round_id).status()))


@router.post("/rounds/{round_id}/second", responses={**answers(RoundStatus), **refusals(404, 409)})
async def second(
    round_id: RoundId, body: SecondRequest, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Have a second person judge a sample of a round, to measure agreement (kappa)."""
    del caller

    def add() -> RoundStatus:
        desk = first_set.add_judge(service.workspace, body.annotator, round_id, share=body.share)
        return desk.status()

    return await json_response(service, lambda: encode(add()))


@router.post(
    "/rounds/{round_id}/judge",
    responses={
        **answer_with("How far the judge agrees with people", round_id=str, voices=list[Json]),
        **refusals(404, 409),
    },
)
async def judge(
    round_id: RoundId, body: JudgeRequest, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Let an automatic judge propose grades; it never counts as one of the people.

    The answer has grades of people, so that who judges in the round with another is refused.
    """
    person = "" if caller.may("admin") else caller.who

    def propose() -> Json:
        desk = _desk(service, round_id)
        desk.refuse_judge(person)
        desk = automatic(service.workspace, desk, body.judge, shown=body.shown)
        return {
            "round_id": desk.round.round_id,
            "voices": [voice.to_dict() for voice in desk.voices()],
        }

    return await json_response(service, propose)


@router.get(
    "/rounds/{round_id}/review",
    responses={
        **answer_with("What to look at again, the furthest apart first", tasks=list[Task]),
        **refusals(404),
    },
)
async def review(
    round_id: RoundId, annotator: Person, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """What an annotator and an automatic judge graded differently."""
    return await answer_as(
        annotator, service, caller, lambda: {"tasks": _desk(service, round_id).to_review(annotator)}
    )


@router.post("/rounds/{round_id}/finish", response_model=Json, responses=refusals(404, 409))
async def finish(
    round_id: RoundId, body: FinishRequest, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Write the judgments so far as a test set; judging can continue."""
    del caller
    return await json_response(
        service,
        lambda: _without_path(
            first_set.finish(service.workspace, round_id, close=body.close).to_dict()
        ),
    )


def _without_path(answer: Json) -> Json:
    """A service tells nobody where its files lie."""
    return {name: value for name, value in answer.items() if name != "written"}


@router.get("/rounds/{round_id}/next", responses={**answers(NextTask), **refusals(404)})
async def next_task(
    round_id: RoundId, annotator: Person, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """The next passage for an annotator, and their progress."""
    return await answer_as(
        annotator, service, caller, lambda: _desk(service, round_id).turn(annotator)
    )


@router.post("/rounds/{round_id}/grades", responses={**answers(Graded), **refusals(404, 409)})
async def grade(
    round_id: RoundId, body: GradeRequest, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """Store a grade; sending it again changes nothing."""

    def enter() -> Graded:
        key = (body.query_id, body.chunk_id)
        return _desk(service, round_id).grade(body.annotator, key, body.grade, body.comment)

    return await answer_as(body.annotator, service, caller, enter)


@router.post("/rounds/{round_id}/undo", responses={**answers(Undone), **refusals(404, 409)})
async def undo(
    round_id: RoundId, body: UndoRequest, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """Undo an annotator's last grade."""
    return await answer_as(
        body.annotator, service, caller, lambda: _desk(service, round_id).undo(body.annotator)
    )


@router.get(
    "/rounds/{round_id}/disputes",
    responses={
        **answer_with("What awaits a decision", disputes=list[Dispute]),
        **refusals(404),
    },
)
async def disputes(
    round_id: RoundId, person: Person, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """What the annotators disagree about, for a third person."""
    return await answer_as(
        person, service, caller, lambda: {"disputes": _desk(service, round_id).disputes(person)}
    )


@router.post("/rounds/{round_id}/decisions", responses={**answers(Decided), **refusals(404, 409)})
async def decide(
    round_id: RoundId, body: DecisionRequest, service: ServiceOf, caller: Annotator
) -> JSONResponse:
    """Store the third person's decision."""

    def enter() -> Decided:
        key = (body.query_id, body.chunk_id)
        return _desk(service, round_id).decide(body.person, key, body.grade, body.comment)

    return await answer_as(body.person, service, caller, enter)


@router.get("/rounds/{round_id}/agreement", response_model=Json, responses=refusals(404))
async def agreement(round_id: RoundId, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Kappa, confusion and differences; since it shows grades, it needs the scope evaluate.

    Who judges in the round sees it when everything is judged.
    """
    person = "" if caller.may("admin") else caller.who
    return await json_response(service, lambda: _desk(service, round_id).report(person))


def _desk(service: Service, round_id: str) -> Desk:
    return open_desk(service.workspace, round_id)


async def answer_as(
    name: str, service: Service, caller: Caller, work: Callable[[], Any]
) -> JSONResponse:
    """What comes of work under a name: that of the key, or any for an administrator."""
    if caller.who and caller.who != name and "admin" not in caller.scopes:
        raise ProblemError(
            403,
            "forbidden",
            f"this key belongs to {caller.who}, not to {name}",
            hint=f"use the key of {name}; whoever runs the service can create one: "
            f"assay keys create {name} --scope annotate",
        )
    return await json_response(service, lambda: encode(work()))
