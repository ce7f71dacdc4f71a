"""What does a person see where a program would get problem+json?"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from assay.http.edge.auth import SESSION_COOKIE
from assay.http.edge.problems import MAX_SHOWN, MEDIA_TYPE, Problem
from assay.http.pages.shell import NOBODY, surroundings
from assay.http.templating import render, render_block

if TYPE_CHECKING:
    from assay.http.edge.exchange import Exchange

HTML = "text/html; charset=utf-8"
HEADINGS = {
    400: "This cannot be read",
    401: "Please sign in",
    403: "This key may not do that",
    404: "Not found",
    409: "That conflicts with what is there",
    413: "That is too large",
    422: "Something is not allowed",
    429: "Too many requests",
    500: "Something went wrong here",
    503: "Not ready",
    504: "That took too long",
}
_FOR_PROGRAMS = ("/v1/", "/api/", "/metrics", "/healthz", "/readyz", "/openapi.json")


def answer(problem: Problem, exchange: Exchange) -> tuple[bytes, str]:
    """The body and its media type: a page for a browser, JSON for programs."""
    if not _for_a_person(exchange):
        return problem.body(exchange.request_id), MEDIA_TYPE
    part = exchange.headers.get(b"hx-request") == b"true"
    ended = problem.status == HTTPStatus.UNAUTHORIZED and _had_session(exchange)
    caller = exchange.scope.get("assay.caller", NOBODY)
    without_key = bool(caller.scopes) and not caller.name.startswith("key ")
    values = {
        **surroundings(exchange.scope["path"], caller, open_service=without_key),
        "problem": problem,
        "part": part,
        "title": HTTPStatus(problem.status).phrase,
        "heading": "Your session has ended"
        if ended
        else HEADINGS.get(problem.status, "This request cannot be answered"),
        "faults": problem.errors[:MAX_SHOWN],
        "request_id": exchange.request_id,
        "back": _back(exchange),
    }
    if part:
        return render_block("ui/problem.html", "problem", **values).encode(), HTML
    return render("ui/problem.html", **values).encode(), HTML


def _had_session(exchange: Exchange) -> bool:
    """Whether the browser was signed in; a session ends after hours, or with its key."""
    return SESSION_COOKIE.encode() in exchange.headers.get(b"cookie", b"")


def _for_a_person(exchange: Exchange) -> bool:
    path: str = exchange.scope["path"]
    if path.startswith(_FOR_PROGRAMS):
        return False
    accepted = exchange.headers.get(b"accept", b"").lower()
    return b"text/html" in accepted or exchange.headers.get(b"hx-request") == b"true"


def _back(exchange: Exchange) -> str:
    """Where to go after signing in: the page that was asked for."""
    path: str = exchange.scope["path"]
    if exchange.scope["method"] != "GET" or path == "/sign-in":
        return "/sign-in"
    query = exchange.scope["query_string"].decode("latin-1")
    return f"/sign-in?{urlencode({'next': f'{path}?{query}' if query else path})}"
