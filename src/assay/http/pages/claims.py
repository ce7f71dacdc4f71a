"""Where do people grade the claims of answers beside the passages that they cite?

A person with a key grades under its name; without keys, the address says who grades (``as``). What
the judge said of a claim is on none of these pages but the last, which compares it with people.
"""

from __future__ import annotations

import re
from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app import judges
from assay.app.engine import GRADED_ANSWERS
from assay.app.judges import ClaimDesk, ClaimTask
from assay.errors import InputError
from assay.http.pages.annotate import person_of
from assay.http.pages.page import Annotator, Evaluator, ServiceOf, address, cli, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.service import Service
from assay.model.judges import Support

router = new_router()

LABELS = (
    (Support.SUPPORTED, "s", "Supported", "a cited passage says it, in these words or others"),
    (Support.UNSUPPORTED, "n", "Not supported", "they say too little about it, or nothing"),
    (Support.CONTRADICTED, "c", "Contradicted", "a cited passage says the opposite"),
)

_PIECES = re.compile(r"\w+|[^\w\s]")
_MARKS = r"(?:\s|\[[^\[\]]{1,40}\])*"  # what may stand between two pieces of a claim


@router.get("/claims")
async def runs_page(request: Request, service: ServiceOf, caller: Annotator) -> Response:
    """Runs whose answers were judged, to choose one to grade."""
    found = await service.work(lambda: judges.judged_runs(service.workspace))
    return page(
        request,
        "ui/judged_runs.html",
        runs=found,
        who=caller.who,
        commands=[cli("judge", "claims", "RUN", "--as", "NAME")],
    )


@router.get("/claims/{ref}")
async def claim_page(ref: str, request: Request, service: ServiceOf, caller: Annotator) -> Response:
    """The next claim for one person."""
    params = request.query_params
    person = person_of(caller, params.get("as", ""))
    values = await service.work(lambda: _next(service, _desk(service, ref, params), person))
    return page(request, "ui/claims.html", block="task", **values)


@router.post("/ui/claims/{ref}")
async def grade(ref: str, request: Request, service: ServiceOf, caller: Annotator) -> Response:
    """Store a grade or take back the last one, and show the next claim."""
    fields = await form_of(request)
    person = person_of(caller, fields.get("as", ""))

    def work() -> dict[str, Any]:
        desk = _desk(service, ref, fields)
        message = ""
        if fields.get("undo"):
            undone = desk.undo(person).claim_id
            message = "There is nothing to undo." if undone is None else "Undone."
        else:
            desk.grade(person, fields.get("claim_id", ""), _label(fields.get("label", "")))
        return {**_next(service, desk, person), "message": message}

    return page(request, "ui/claims.html", block="task", **await service.work(work))


@router.get("/claims/{ref}/agreement")
async def agreement_page(
    ref: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """How far the judge agrees with the people who graded, as it was last compared."""
    del caller
    info = await service.work(lambda: service.workspace.runs.run(ref))
    found = judges.last_check(info)
    return page(
        request,
        "ui/claim_agreement.html",
        ref=ref,
        info=info,
        found=found,
        commands=[cli("judge", "check", ref)],
    )


@router.post("/ui/claims/{ref}/check")
async def check(ref: str, request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Compare the judge with people now, and keep what was found with the run."""
    del request, caller
    run_id = await service.work(lambda: judges.check(service.workspace, ref).run_id)
    return RedirectResponse(address(f"/claims/{run_id}/agreement"), 303)


def _desk(service: Service, ref: str, fields: Any) -> ClaimDesk:
    answers, seed = (
        _whole(fields, name, usual) for name, usual in (("answers", GRADED_ANSWERS), ("seed", 0))
    )
    return judges.open_claims(service.workspace, ref, answers=answers, seed=seed)


def _next(service: Service, desk: ClaimDesk, person: str) -> dict[str, Any]:
    turn = desk.turn(person)
    cited = [one.chunk_id for one in turn.task.passages] if turn.task else []
    return {
        "labels_of": service.workspace.labels(cited),
        "desk": desk,
        "person": person,
        "task": turn.task,
        "answer": _parted(turn.task) if turn.task else (),
        "progress": turn.progress,
        "labels": LABELS,
        "message": "",
    }


def _parted(task: ClaimTask) -> tuple[str, str, str]:
    """The answer before, in and after the claim, which has none of the answer's marks."""
    found = re.search(_MARKS.join(map(re.escape, _PIECES.findall(task.claim))), task.answer)
    if found is None:
        return task.answer, "", ""
    return task.answer[: found.start()], found[0], task.answer[found.end() :]


def _label(text: str) -> Support:
    if text not in set(Support):
        raise InputError(f"{text!r:.40} is not a label", hint=", ".join(Support))
    return Support(text)


def _whole(fields: Any, name: str, usual: int) -> int:
    text = fields.get(name) or str(usual)
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError(f"{name}: {text!r:.40} is no whole number")
    return int(text)
