"""Where do two people judge passages independently, and a third decide where they differ?

A person with a key judges under its name; without keys, the address says who judges (``as``). A
grade is stored before the next passage is shown. Every passage has an address, so that a judge can
go back as far as they like and a decision can be looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app.annotation import RULES, Desk, open_desk
from assay.errors import InputError, UsageError
from assay.http.edge.auth import Caller, require
from assay.http.edge.problems import ProblemError
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import Annotator, Evaluator, Reader, ServiceOf, address, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.service import Service
from assay.model.annotation import ItemKey, Purpose
from assay.model.document import check_id

router = new_router()

GRADES = (
    (3, "Perfect", "answers the question fully by itself"),
    (2, "Good", "answers most of it, or all of it with some thought"),
    (1, "Partly", "on the topic, answers a part"),
    (0, "Not", "does not answer it, even if it shares words"),
)
RULE_WORDS = {
    "mean-down": "the mean of both, rounded down",
    "lower": "the lower grade",
    "higher": "the higher grade",
}
COORDINATOR = "coordinator"  # who decides, where nobody is named


@router.get("/annotate/{name}")
async def task_page(name: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The next passage for one annotator, or the one that the address names.

    Who runs the round and does not judge in it is led to its figures.
    """
    params = request.query_params
    if "as" not in params and caller.may("evaluate"):
        desk = await service.work(lambda: open_desk(service.workspace, name))
        if caller.who not in desk.round.annotators:
            return RedirectResponse(f"/annotate/{desk.round.round_id}/agreement", 303)
    require(caller, "annotate")
    person = person_of(caller, params.get("as", ""))
    key = _key(params)
    values = await service.work(lambda: _turn(service, name, person, key))
    return page(request, "ui/annotate.html", block="task", **values)


@router.get("/annotate/{name}/mine")
async def mine_page(name: str, request: Request, service: ServiceOf, caller: Annotator) -> Response:
    """Everything that one annotator has graded, the last grade first."""
    person = person_of(caller, request.query_params.get("as", ""))

    number = page_number(request.query_params.get("page"))

    def work() -> dict[str, Any]:
        desk = open_desk(service.workspace, name)
        judged = desk.judged(person)[::-1]
        start = (number - 1) * PAGE
        return {
            "round": desk.round,
            "judged": judged[start : start + PAGE],
            "listing": listing(f"/annotate/{name}/mine", [("as", person)], number, len(judged)),
            "progress": desk.progress(person),
        }

    return page(request, "ui/my_grades.html", person=person, **await service.work(work))


@router.post("/ui/annotate/{name}")
async def grade(name: str, request: Request, service: ServiceOf, caller: Annotator) -> Response:
    """Store a grade or undo the last one, and show the next passage."""
    fields = await form_of(request)
    person = person_of(caller, fields.get("as", ""))

    def work() -> dict[str, Any]:
        desk = open_desk(service.workspace, name)
        if fields.get("undo"):
            undone = desk.undo(person).undone
            message = "There is nothing to undo." if undone is None else "Undone: grade it again."
            return _turn(service, name, person, undone.key if undone else None, message)
        key = (fields.get("query_id", ""), fields.get("chunk_id", ""))
        desk.grade(person, key, _grade(fields), fields.get("comment", "").strip())
        return _turn(service, name, person)

    return page(request, "ui/annotate.html", block="task", **await service.work(work))


@router.get("/annotate/{name}/decide")
async def dispute_page(
    name: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """The next difference for the third person, or the one that the address names."""
    person = person_of(caller, request.query_params.get("as", "") or COORDINATOR)
    key = _key(request.query_params)
    values = await service.work(lambda: _dispute(service, name, person, caller, key))
    return page(request, "ui/decide.html", block="task", **values)


@router.post("/ui/decide/{name}")
async def decide(name: str, request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Store or take back a decision, or let a rule decide the rest; then the next difference."""
    fields = await form_of(request)
    person = person_of(caller, fields.get("as", ""))

    def work() -> dict[str, Any]:
        desk = open_desk(service.workspace, name)
        key = _key(fields)
        if fields.get("rule"):
            decided = len(desk.decide_by_rule(fields["rule"], person))
            return _dispute(
                service, name, person, caller, None, f"The rule decided {decided} of them."
            )
        if fields.get("unrule"):
            desk.undecide_rules(person)
            return _dispute(service, name, person, caller, None, "Taken back.")
        if fields.get("undo"):
            undone = desk.undecide(person, key if fields["undo"] == "this" else None)
            message = "There is nothing to undo." if undone is None else "Taken back: decide again."
            return _dispute(service, name, person, caller, undone.key if undone else None, message)
        desk.decide(person, key or ("", ""), _grade(fields), fields.get("comment", "").strip())
        return _dispute(service, name, person, caller)

    return page(request, "ui/decide.html", block="task", **await service.work(work))


def _turn(
    service: Service, name: str, person: str, key: ItemKey | None = None, message: str = ""
) -> dict[str, Any]:
    """What an annotator sees: a passage, the grade they gave it, and the ways back and on."""
    desk = open_desk(service.workspace, name)
    progress = desk.progress(person)
    task = desk.task(person, key) if key else desk.next(person)
    given = desk.grades(person)
    keys = [one.key for one in given]
    shown = (task.query_id, task.chunk_id) if task else ("", "")
    judged = shown in keys
    at = keys.index(shown) if judged else len(keys)
    following = keys[at + 1] if at + 1 < len(keys) else None
    return {
        "round": desk.round,
        "person": person,
        "task": task,
        "given": given[at] if judged else None,
        "back": _place(desk, person, keys[at - 1]) if at else None,
        "on": _place(desk, person, following) if judged else None,
        "progress": progress,
        "standing": desk.standing() if _owns(desk, person) else None,
        "grades": GRADES,
        "message": message,
    }


def _place(desk: Desk, person: str, key: ItemKey | None) -> str:
    """The address of a passage for an annotator; of the next one that waits, without a key."""
    params = {"as": person}
    if key is not None:
        params |= {"query_id": key[0], "chunk_id": key[1]}
    return address(f"/annotate/{desk.round.round_id}", params)


def _owns(desk: Desk, person: str) -> bool:
    """Whether it is this person's grades that a first test set follows from."""
    return desk.round.purpose is Purpose.FIRST and person == desk.round.annotators[0]


def _dispute(
    service: Service,
    name: str,
    person: str,
    caller: Caller,
    key: ItemKey | None = None,
    message: str = "",
) -> dict[str, Any]:
    desk = open_desk(service.workspace, name)
    refuse_annotator(desk, caller)
    waiting, decided = desk.disputes(person), desk.decided(person)
    earlier = None
    dispute = waiting[0] if waiting else None
    if key is not None:
        known = {_key_of(one): one for one in waiting}
        settled = {one.decision.key: one for one in decided}
        earlier = settled.get(key)
        dispute = earlier.dispute if earlier else known.get(key)
        if dispute is None:
            raise UsageError("the annotators agree about this passage", hint="choose another one")
    return {
        "round": desk.round,
        "person": person,
        "dispute": dispute,
        "earlier": earlier,
        "left": len(waiting),
        "decided": decided,
        "by_rule": sum(bool(one.decision.rule) for one in decided),
        "undoable": any(one.decision.by == person and not one.decision.rule for one in decided),
        "rules": {rule: RULE_WORDS[rule] for rule in RULES},
        "grades": GRADES,
        "message": message,
    }


def _key_of(dispute: Any) -> ItemKey:
    return dispute.task.query_id, dispute.task.chunk_id


def _key(fields: Mapping[str, str]) -> ItemKey | None:
    """The passage that an address or a form names, if it names one."""
    query, chunk = fields.get("query_id", ""), fields.get("chunk_id", "")
    return (query, chunk) if query and chunk else None


def person_of(caller: Caller, named: str) -> str:
    """Who judges: the name of the key; without keys, the one that the address names."""
    if caller.who:
        return check_id(caller.who, "name of the key")
    if not named:
        raise InputError("the address does not say who judges", hint="start at the list of rounds")
    return check_id(named, "annotator")


def refuse_annotator(desk: Desk, caller: Caller) -> None:
    """Annotators must not see each other's grades; who judges alone has no other."""
    try:
        desk.refuse_judge(caller.who)
    except UsageError as refused:
        raise ProblemError(
            403, "forbidden", refused.public_message, hint="ask the person who runs the round"
        ) from None


def _grade(fields: Mapping[str, str]) -> int | None:
    text = fields.get("grade", "")
    if text == "u":
        return None
    if text not in {"0", "1", "2", "3"}:
        raise InputError(
            f"{text!r:.20} is not a grade", hint="choose 0 to 3, or u if you cannot judge it"
        )
    return int(text)
