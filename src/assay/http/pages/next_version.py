"""What would the next version of a test set be, why, and how is it written?

Everything is shown before anything is written: which queries leave and why, which come in, and what
that does to stored runs. A first set is written as far as it is judged.
"""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app import first_set, refresh, testsets
from assay.app.annotation import Desk, open_desk
from assay.errors import AgreementError, AssayError, ConflictError, InputError
from assay.http.pages.annotate import refuse_annotator
from assay.http.pages.held_out import MASK
from assay.http.pages.page import Evaluator, ServiceOf, cli, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.service import Service
from assay.model.annotation import Purpose
from assay.model.testset import TestSet

router = new_router()


@router.get("/annotate/{name}/next")
async def preview(name: str, request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """The next version before it is written, with the reason of every change."""
    count = _count(request.query_params.get("replace", ""))

    def work() -> dict[str, Any]:
        desk = open_desk(service.workspace, name)
        refuse_annotator(desk, caller)
        written = _written(service, name)
        values = {
            "round": desk.round,
            "first": desk.round.purpose is Purpose.FIRST,
            "alone": len(desk.round.annotators) < 2,
            "written": written,
            "waiting": desk.open_items(),
            "proposal": None,
            "finished": None,
            "problem": None,
            "apart": False,
        }
        if desk.round.closed_at:
            return values
        try:
            return {**values, **_proposed(service, desk, count)}
        except AssayError as error:
            return {**values, "problem": error, "apart": isinstance(error, AgreementError)}

    values = await service.work(work)
    about = values["round"]
    command = (
        cli("testset", "finish", "--round", about.round_id)
        if values["first"]
        else cli("testset", "refresh", about.test_set, "--round", about.round_id, "--dry-run")
    )
    return page(
        request, "ui/next_version.html", **values, count=count, mask=MASK, commands=[command]
    )


@router.post("/ui/next/{name}")
async def write(name: str, request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Write what was shown, unless it has changed since, and show the new set."""
    fields = await form_of(request)
    count = _count(fields.get("replace", ""))

    def work() -> str:
        desk = open_desk(service.workspace, name)
        refuse_annotator(desk, caller)
        if desk.round.purpose is Purpose.FIRST:
            close = bool(fields.get("close"))
            return first_set.finish(service.workspace, name, close=close).test_set.name
        proposal = _proposal(service, desk, count)
        if fields.get("checksum") != proposal.test_set.checksum:
            raise ConflictError(
                "grades or decisions have changed since this page was shown",
                hint="reload the page and look again",
            )
        refresh.carry_out(service.workspace, proposal)
        return proposal.test_set.name

    return RedirectResponse(f"/testsets/{await service.work(work)}", 303)


def _proposed(service: Service, desk: Desk, count: int | None) -> dict[str, Any]:
    if desk.round.purpose is Purpose.FIRST:
        done = first_set.finish(service.workspace, desk.round.round_id, dry_run=True)
        texts = {query.query_id: query.query_text for query in desk.queries}
        return {"finished": done, "texts": texts}
    proposal = _proposal(service, desk, count)
    texts = {query.query_id: query.query_text for query in (*desk.queries, *_shown(proposal))}
    kinds = {query.query_id: query.query_type for query in (*desk.queries, *_shown(proposal))}
    return {
        "proposal": proposal,
        "texts": texts,
        "kinds": kinds,
        "held": proposal.parent.held_out_ids | proposal.test_set.held_out_ids,
    }


def _shown(proposal: refresh.Proposal) -> tuple[Any, ...]:
    return (*proposal.parent.queries, *proposal.test_set.queries)


def _proposal(service: Service, desk: Desk, count: int | None) -> refresh.Proposal:
    parent = testsets.load(service.workspace.layout, desk.round.test_set)
    return refresh.propose(service.workspace, parent, round_id=desk.round.round_id, count=count)


def _written(service: Service, round_id: str) -> list[TestSet]:
    """The sets that came of a round."""
    readings = (one.reading.test_set for one in service.workspace.test_sets() if one.reading)
    return [found for found in readings if found and found.provenance.get("round") == round_id]


def _count(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 6):
        raise InputError(f"{text!r:.40} is not a number of queries", hint="as in 20")
    return int(text)
