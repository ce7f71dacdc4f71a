"""What does this service offer? The OpenAPI document, and a page that shows it."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import HTMLResponse, JSONResponse

from assay.http.pages.page import page
from assay.http.reference import document, operations
from assay.http.routing import router as new_router

router = new_router("reference")


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> JSONResponse:
    """The OpenAPI 3.1 document."""
    return JSONResponse(document(request.app))


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """A page with every route, its parameters, an example, and a form to try it."""
    whole = document(request.app)
    return page(request, "docs.html", info=whole["info"], groups=operations(whole))
