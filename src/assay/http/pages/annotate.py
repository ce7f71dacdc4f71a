"""Where do two people judge passages independently, and a third decide where they differ?

A person with a key judges under its name; without keys, the address says who judges (``as``). A
grade is stored before the next passage is shown.
"""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from assay.app.annotation import KAPPA_FLOOR, Desk, open_desk, open_desks
from assay.errors import InputError
from assay.http.edge.auth import Caller
from assay.http.edge.problems import ProblemError
from assay.http.pages.page import Annotator, Evaluator, Reader, ServiceOf, cli, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.service import Service
from assay.model.annotation import Purpose
from assay.model.document import check_id

router = new_router()

GRADES = (
    (3, "Perfect", "answers the question fully by itself"),
    (2, "Good", "answers most of it, or all of it with some thought"),
    (1, "Partly", "on the topic, answers a part"),
    (0, "Not", "does not answer it, even if it shares words"),
)
COORDINATOR = "coordinator"  # who decides, where nobody is named


@router.get("/annotate")
async def rounds_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Every round, and its progress."""

    def cards() -> list[dict[str, Any]]:
        return [_card(desk, caller) for desk in open_desks(service.workspace)]

    return page(
        request,
        "ui/rounds.html",
        rounds=await service.work(cards),
        commands=[cli("testset", "rounds")],
    )


@router.get("/annotate/{name}")
async def task_page(name: str, request: Request, service: ServiceOf, caller: Annotator) -> Response:
    """The next passage for one annotator."""
    person = person_of(caller, request.query_params.get("as", ""))
    values = await service.work(lambda: _next(service, name, person))
    return page(request, "ui/annotate.html", block="task", **values)


@router.post("/ui/annotate/{name}")
async def grade(name: str, request: Request, service: ServiceOf, caller: Annotator) -> Response:
    """Store a grade or undo the last one, and show the next passage."""
    fields = await form_of(request)
    person = person_of(caller, fields.get("as", ""))

    def work() -> dict[str, Any]:
        desk = open_desk(service.workspace, name)
        message = ""
        if fields.get("undo"):
            undone = desk.undo(person).undone
            message = "There is nothing to undo." if undone is None else "Undone."
        else:
            key = (fields.get("query_id", ""), fields.get("chunk_id", ""))
            desk.grade(person, key, _grade(fields), fields.get("comment", "").strip())
        return {**_next(service, name, person), "message": message}

    return page(request, "ui/annotate.html", block="task", **await service.work(work))


@router.get("/annotate/{name}/agreement")
async def agreement_page(
    name: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """The agreement so far, for whoever runs the round."""

    def work() -> dict[str, Any]:
        desk = open_desk(service.workspace, name)
        _refuse_annotator(desk, caller)
        return {
            "round": desk.round,
            "found": desk.agreement(),
            "floor": KAPPA_FLOOR,
            "voices": desk.voices(),
            "disputes": len(desk.disputes(COORDINATOR)),
        }

    return page(
        request,
        "ui/agreement.html",
        block="figures",
        **await service.work(work),
        commands=[
            cli("testset", "agreement", "--round", name),
            cli("testset", "adjudicate", "--rule", "mean-down", "--as", "NAME", "--round", name),
        ],
    )


@router.get("/annotate/{name}/decide")
async def dispute_page(
    name: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """The next difference for the third person."""
    person = person_of(caller, request.query_params.get("as", "") or COORDINATOR)
    values = await service.work(lambda: _dispute(service, name, person, caller))
    return page(request, "ui/decide.html", block="task", **values)


@router.post("/ui/decide/{name}")
async def decide(name: str, request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Store a decision and show the next difference."""
    fields = await form_of(request)
    person = person_of(caller, fields.get("as", ""))

    def work() -> dict[str, Any]:
        key = (fields.get("query_id", ""), fields.get("chunk_id", ""))
        desk = open_desk(service.workspace, name)
        desk.decide(person, key, _grade(fields), fields.get("comment", "").strip())
        return _dispute(service, name, person, caller)

    return page(request, "ui/decide.html", block="task", **await service.work(work))


def _card(desk: Desk, caller: Caller) -> dict[str, Any]:
    progress = {name: desk.progress(name) for name in desk.round.annotators}
    return {
        "round": desk.round,
        "queries": len(desk.queries),
        "progress": progress,
        "mine": [name for name in progress if caller.who in ("", name)],
    }


def _next(service: Service, name: str, person: str) -> dict[str, Any]:
    desk = open_desk(service.workspace, name)
    turn = desk.turn(person)
    return {
        "round": desk.round,
        "person": person,
        "task": turn.task,
        "progress": turn.progress,
        "standing": desk.standing() if _owns(desk, person) else None,
        "grades": GRADES,
        "message": "",
    }


def _owns(desk: Desk, person: str) -> bool:
    """Whether it is this person's grades that a first test set follows from."""
    return desk.round.purpose is Purpose.FIRST and person == desk.round.annotators[0]


def _dispute(service: Service, name: str, person: str, caller: Caller) -> dict[str, Any]:
    desk = open_desk(service.workspace, name)
    _refuse_annotator(desk, caller)
    waiting = desk.disputes(person)
    return {
        "round": desk.round,
        "person": person,
        "dispute": waiting[0] if waiting else None,
        "left": len(waiting),
        "grades": GRADES,
    }


def person_of(caller: Caller, named: str) -> str:
    """Who judges: the name of the key; without keys, the one that the address names."""
    if caller.who:
        return check_id(caller.who, "name of the key")
    if not named:
        raise InputError("the address does not say who judges", hint="start at the list of rounds")
    return check_id(named, "annotator")


def _refuse_annotator(desk: Desk, caller: Caller) -> None:
    """Annotators must not see each other's grades; who judges alone has no other."""
    if len(desk.round.annotators) > 1 and caller.who in desk.round.annotators:
        raise ProblemError(
            403,
            "forbidden",
            f"{caller.who} judges in {desk.round.round_id} and must not see the other's grades",
            hint="ask the person who runs the round",
        )


def _grade(fields: dict[str, str]) -> int | None:
    text = fields.get("grade", "")
    if text == "u":
        return None
    if text not in {"0", "1", "2", "3"}:
        raise InputError(
            f"{text!r:.20} is not a grade", hint="choose 0 to 3, or u if you cannot judge it"
        )
    return int(text)
