"""Which configurations are saved from the playground?"""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import QueryParams
from starlette.responses import PlainTextResponse, Response

from assay.app.configurations import configuration_text
from assay.app.configurations import save_configuration as save
from assay.http.pages.page import Evaluator, Reader, ServiceOf, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.pages.pane import read_pane

router = new_router()


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
