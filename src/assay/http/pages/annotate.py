"""Where do two people judge passages without seeing each other, and a third one decide?

With keys, a person judges under the name of their key only; where no key is needed, the address
says who judges (``as``). Grades are on the disk when the next passage is shown.
"""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from assay.annotation.agreement import KAPPA_FLOOR
from assay.app.desk import Desk, desk
from assay.errors import InputError
from assay.http.edge.auth import Caller
from assay.http.edge.problems import ProblemError
from assay.http.pages.pages import Annotator, Evaluator, Reader, ServiceOf, cli, form_of, page
from assay.http.pages.pages import router as new_router
from assay.http.service import Service
from assay.ingest.table_html import clean
from assay.model.annotation import Task
from assay.model.document import check_id

router = new_router()

GRADES = (
    (3, "Perfect", "answers the question fully by itself"),
    (2, "Good", "answers most of it, or all with a little thought"),
    (1, "Partly", "on the topic, answers a part"),
    (0, "Not", "does not answer it, whatever words it shares"),
)
COORDINATOR = "coordinator"  # who decides, where nobody is named


@router.get("/annotate")
async def rounds_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Every round of judging, and how far it is."""

    def work() -> list[dict[str, Any]]:
        store = service.workspace.annotations
        return [_card(Desk(store, held), caller) for held in store.rounds()]

    return page(
        request,
        "ui/rounds.html",
        rounds=await service.work(work),
        commands=[cli("testset", "rounds")],
    )


@router.get("/annotate/{name}")
async def task_page(name: str, request: Request, service: ServiceOf, caller: Annotator) -> Response:
    """The next passage for one annotator."""
    person = _person(caller, request.query_params.get("as", ""))
    values = await service.work(lambda: _next(service, name, person))
    return page(request, "ui/annotate.html", block="task", **values)


@router.post("/ui/annotate/{name}")
async def grade(name: str, request: Request, service: ServiceOf, caller: Annotator) -> Response:
    """Keep a grade, or take the last one back, and show what is next."""
    fields = await form_of(request)
    person = _person(caller, fields.get("as", ""))

    def work() -> dict[str, Any]:
        at = desk(service.workspace.annotations, name)
        said = ""
        if fields.get("undo"):
            taken = at.undo(person)
            said = "There is nothing to take back." if taken is None else "Taken back."
        else:
            key = (fields.get("query_id", ""), fields.get("chunk_id", ""))
            at.grade(person, key, _grade(fields), fields.get("comment", "").strip())
        return {**_next(service, name, person), "said": said}

    return page(request, "ui/annotate.html", block="task", **await service.work(work))


@router.get("/annotate/{name}/agreement")
async def agreement_page(
    name: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """How far the two agree so far; for whoever runs the round."""

    def work() -> dict[str, Any]:
        at = desk(service.workspace.annotations, name)
        _not_an_annotator(at, caller)
        found = at.agreement()
        return {
            "held": at.held,
            "found": found,
            "waiting": at.open_items(),
            "floor": KAPPA_FLOOR,
            "disputes": len(at.disputes(COORDINATOR)),
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
    person = _person(caller, request.query_params.get("as", "") or COORDINATOR)
    values = await service.work(lambda: _dispute(service, name, person, caller))
    return page(request, "ui/decide.html", block="task", **values)


@router.post("/ui/decide/{name}")
async def decide(name: str, request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Keep a decision and show the next difference."""
    fields = await form_of(request)
    person = _person(caller, fields.get("as", ""))

    def work() -> dict[str, Any]:
        at = desk(service.workspace.annotations, name)
        key = (fields.get("query_id", ""), fields.get("chunk_id", ""))
        at.decide(person, key, _grade(fields), fields.get("comment", "").strip())
        return _dispute(service, name, person, caller)

    return page(request, "ui/decide.html", block="task", **await service.work(work))


def _card(at: Desk, caller: Caller) -> dict[str, Any]:
    done = {name: at.progress(name) for name in at.held.annotators}
    return {
        "held": at.held,
        "queries": len(at.queries),
        "progress": done,
        "mine": [name for name in done if caller.who in ("", name)],
    }


def _next(service: Service, name: str, person: str) -> dict[str, Any]:
    at = desk(service.workspace.annotations, name)
    found = at.next(person)
    return {
        "held": at.held,
        "person": person,
        "task": found,
        "table": _table(found),
        "progress": at.progress(person),
        "grades": GRADES,
        "said": "",
    }


def _dispute(service: Service, name: str, person: str, caller: Caller) -> dict[str, Any]:
    at = desk(service.workspace.annotations, name)
    _not_an_annotator(at, caller)
    waiting = at.disputes(person)
    first = waiting[0] if waiting else None
    return {
        "held": at.held,
        "person": person,
        "dispute": first,
        "table": _table(first.task if first else None),
        "left": len(waiting),
        "grades": GRADES,
    }


def _table(task: Task | None) -> str:
    """The markup of a passage that is a table, cleaned again."""
    return clean(task.table_html) if task is not None and task.table_html else ""


def _person(caller: Caller, asked: str) -> str:
    """Who judges: the name of the key, or without keys whoever the address names."""
    if caller.who:
        return check_id(caller.who, "name of the key")
    if not asked:
        raise InputError("who judges is not known", hint="begin at the list of rounds")
    return check_id(asked, "annotator")


def _not_an_annotator(at: Desk, caller: Caller) -> None:
    """Whoever judges must not see what the other one says."""
    if caller.who in at.held.annotators:
        raise ProblemError(
            403,
            "forbidden",
            f"{caller.who} judges in {at.held.round_id} and must not see the other's grades",
            hint="a third person looks after the round",
        )


def _grade(fields: dict[str, str]) -> int | None:
    text = fields.get("grade", "")
    if text == "u":
        return None
    if text not in {"0", "1", "2", "3"}:
        raise InputError(f"{text!r:.20} is not a grade", hint="0 to 3, or u: cannot judge")
    return int(text)
