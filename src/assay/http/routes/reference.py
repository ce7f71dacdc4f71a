"""What does this service offer? The OpenAPI document, and a page that shows it."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import HTMLResponse, Response

from assay.http.pages.page import page
from assay.http.reference import document, document_json, operations
from assay.http.routing import ServiceOf
from assay.http.routing import router as new_router

router = new_router("reference")


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request, service: ServiceOf) -> Response:
    """The OpenAPI 3.1 document."""
    found = await service.work(lambda: document_json(request.app))
    return Response(found, media_type="application/json")


@router.get("/docs", include_in_schema=False)
async def docs(request: Request, service: ServiceOf) -> HTMLResponse:
    """A page with every route, its parameters, an example, and a form to try it."""

    def shown() -> HTMLResponse:
        whole = document(request.app)
        return page(request, "docs.html", info=whole["info"], groups=operations(whole))

    return await service.work(shown)
