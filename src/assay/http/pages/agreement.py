"""How far is a round: who has judged how much, do they agree, and about which passages not?"""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from assay.app.annotation import KAPPA_FLOOR, JudgedPair, open_desk
from assay.errors import InputError
from assay.http.pages.annotate import refuse_annotator
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import Evaluator, ServiceOf, cli, page
from assay.http.pages.page import router as new_router
from assay.model.annotation import Purpose

router = new_router()

GRADES = ("", "0", "1", "2", "3", "u")


@router.get("/annotate/{name}/agreement")
async def agreement_page(
    name: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """One round, for whoever runs it: progress, agreement, and what comes next."""

    def work() -> dict[str, Any]:
        desk = open_desk(service.workspace, name)
        refuse_annotator(desk, caller)
        found = desk.agreement()
        disputes = len(desk.disputes())
        return {
            "round": desk.round,
            "found": found,
            "floor": KAPPA_FLOOR,
            "voices": desk.voices(),
            "disputes": disputes,
            "decided": len(found.differences) - disputes,
            "texts": {query.query_id: query.query_text for query in desk.queries},
            "alone": len(desk.round.annotators) < 2,
            "first": desk.round.purpose is Purpose.FIRST,
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


@router.get("/annotate/{name}/passages")
async def passages_page(
    name: str, request: Request, service: ServiceOf, caller: Evaluator
) -> Response:
    """Passages that both have judged: all, those of a query, or those of a cell of the table."""
    params = request.query_params
    chosen = {one: params.get(one, "") for one in ("query", "first", "second", "differ")}
    if chosen["first"] not in GRADES or chosen["second"] not in GRADES:
        raise InputError("a cell is named by two grades", hint="0 to 3, or u for cannot judge")
    number = page_number(params.get("page"))

    def work() -> dict[str, Any]:
        desk = open_desk(service.workspace, name)
        refuse_annotator(desk, caller)
        rows = [one for one in desk.pairs() if _matches(one, chosen)]
        start = (number - 1) * PAGE
        return {
            "round": desk.round,
            "rows": rows[start : start + PAGE],
            "total": len(rows),
            "listing": listing(
                f"/annotate/{name}/passages", list(chosen.items()), number, len(rows)
            ),
            "texts": {query.query_id: query.query_text for query in desk.queries},
        }

    return page(
        request,
        "ui/passages.html",
        **await service.work(work),
        chosen=chosen,
        grades=GRADES[1:],
        commands=[cli("testset", "agreement", "--round", name, "--json")],
    )


def _matches(pair: JudgedPair, chosen: dict[str, str]) -> bool:
    said = ["u" if grade is None else str(grade) for grade in pair.grades]
    return (
        chosen["query"] in ("", pair.task.query_id)
        and chosen["first"] in ("", said[0])
        and chosen["second"] in ("", said[1])
        and (not chosen["differ"] or pair.differs)
    )
