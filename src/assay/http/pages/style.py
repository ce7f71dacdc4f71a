"""Which styles do pages have? Those of reports, and those of the service on top."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

from fastapi import Request, Response

from assay.http.pages.page import router as new_router

router = new_router()

SHEETS = ("ui.css", "documents.css", "workbench.css", "rounds.css")
"""What is on top of the styles of reports; a later one wins."""


@router.get("/ui/style.css")
async def style(request: Request) -> Response:
    """One stylesheet for all pages; unchanged ones are not sent again."""
    text, mark = _sheet()
    headers = {"etag": mark, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(text, media_type="text/css; charset=utf-8", headers=headers)


@cache
def _sheet() -> tuple[bytes, str]:
    reports = resources.files("assay.render") / "templates" / "style.css"
    own = resources.files("assay.http") / "static"
    text = b"".join(sheet.read_bytes() for sheet in (reports, *(own / name for name in SHEETS)))
    return text, f'"{hashlib.sha256(text).hexdigest()[:16]}"'
