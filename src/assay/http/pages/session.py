"""How does a person sign in? A key is typed once and becomes a session cookie."""

from __future__ import annotations

import math
import re
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from assay.http.edge.auth import SESSION_COOKIE, SESSION_SECONDS
from assay.http.edge.problems import ProblemError
from assay.http.pages.page import ServiceOf, form_of, page
from assay.http.pages.page import router as new_router

router = new_router()

_INSIDE = re.compile(r"/[A-Za-z0-9_.~-][^\\\x00-\x1f]*|/")
"""An address of this service: exactly one leading slash, so that it cannot name another host."""


@router.get("/")
async def home() -> RedirectResponse:
    """The first page."""
    return RedirectResponse("/search", 303)


@router.get("/sign-in")
async def form(
    request: Request, following: Annotated[str, Query(alias="next", max_length=4_000)] = "/"
) -> HTMLResponse:
    """Ask for a key."""
    return page(request, "ui/sign_in.html", following=_inside(following), wrong="")


@router.post("/sign-in")
async def sign_in(request: Request, service: ServiceOf) -> Response:
    """Begin a session if the key is valid."""
    fields = await form_of(request)
    following = fields.get("next", "/")
    try:
        token = service.keyring.open_session(fields.get("key", "").strip())
    except ProblemError:
        shown = page(
            request,
            "ui/sign_in.html",
            following=_inside(following),
            wrong="This key is not valid. It may be mistyped, expired or revoked.",
        )
        address = request.client.host if request.client else "unknown"
        wait = service.wrong_keys.wait_for(address)
        shown.status_code = 429 if wait else 401
        if wait:
            shown.headers["retry-after"] = str(math.ceil(wait))
        return shown
    answer = RedirectResponse(_inside(following), 303)
    begin_session(request, answer, token)
    return answer


def begin_session(request: Request, answer: Response, token: str) -> None:
    """Let an answer sign the browser in."""
    answer.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=_encrypted(request),
        path="/",
    )


@router.post("/sign-out")
async def sign_out(request: Request, service: ServiceOf) -> Response:
    """End the session."""
    service.keyring.close_session(request.cookies.get(SESSION_COOKIE, ""))
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="strict")
    return answer


def _encrypted(request: Request) -> bool:
    """Whether the browser uses TLS, even if a proxy in front of us terminates it."""
    return request.headers.get("origin", "").startswith("https://")


def _inside(target: str) -> str:
    return target if _INSIDE.fullmatch(target) else "/"
