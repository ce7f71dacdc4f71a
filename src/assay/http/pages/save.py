"""What can be saved from the playground? Questions into test sets, and configurations."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import QueryParams
from starlette.responses import PlainTextResponse, Response

from assay.app.configurations import configuration_text
from assay.app.configurations import save_configuration as save
from assay.app.testsets import add_query
from assay.errors import InputError
from assay.http.pages.page import Evaluator, Reader, ServiceOf, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.pages.pane import read_pane
from assay.model.document import check_doc_id, check_id
from assay.model.testset import GoldenQuery, Judgment
from assay.plural import counted
from assay.search.request import SEARCH_OPTIONS

router = new_router()

GRADE = "grade:"


@router.post("/ui/save-query")
async def save_query(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Put a question with its graded results into a test set of the workspace."""
    del caller
    fields = await form_of(request)
    name = fields.get("set", "").strip()
    query = _query(fields)
    layout = service.workspace.layout
    found = await service.work(lambda: add_query(layout, name, query))
    return page(
        request,
        "ui/saved.html",
        block="answer",
        text=f"{query.query_id} is now in {name} ({counted(len(found.queries), 'query')}).",
        link=f"/testsets/{name}",
        link_text="Open the test set",
        content="",
    )


@router.post("/ui/save-configuration")
async def save_configuration(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Keep the configuration of a pane under a name."""
    del caller
    fields = await form_of(request)
    searcher = await service.searcher()
    params = QueryParams(urlsplit(fields.get("address", "")).query)
    pane = read_pane(params, searcher.defaults, "B" if fields.get("prefix") == "b_" else "A")
    name = fields.get("name", "").strip()
    layout = service.workspace.layout
    path = await service.work(lambda: save(layout, name, pane.options))
    return page(
        request,
        "ui/saved.html",
        block="answer",
        text=f"Saved as {path.name}. To test it against another configuration, run in a terminal: "
        f"assay eval ab {path.name} OTHER.yaml --testset NAME",
        link="",
        link_text="",
        content=path.read_text(encoding="utf-8"),
    )


@router.get("/search/configuration/{name}")
async def configuration(name: str, service: ServiceOf, caller: Reader) -> Response:
    """What was saved under a name."""
    del caller
    text = await service.work(lambda: configuration_text(service.workspace.layout, name))
    return PlainTextResponse(text)


def _query(fields: dict[str, str]) -> GoldenQuery:
    text = " ".join(fields.get("q", "").split())
    judgments = [
        Judgment(check_doc_id(name.removeprefix(GRADE), "chunk"), _grade(value))
        for name, value in fields.items()
        if name.startswith(GRADE) and value
    ]
    if not any(one.grade for one in judgments):
        raise InputError(
            "no result is graded above 0",
            hint="give at least one result that answers the question a grade from 1 to 3",
        )
    given = fields.get("query_id", "").strip()
    kind = fields.get("query_type", "")
    return GoldenQuery(
        query_id=check_id(given or _id_of(text), "query_id"),
        query_text=text,
        query_type=SEARCH_OPTIONS["query_type"].read(kind) if kind else None,
        relevant_docs=tuple(judgments),
    )


def _grade(text: str) -> int:
    if text not in {"0", "1", "2", "3"}:
        raise InputError(f"{text!r:.20} is not a grade", hint="0, 1, 2 or 3")
    return int(text)


def _id_of(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "query"
