"""What do all pages share: the menu, the caller's rights, forms, and commands to copy?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from assay.http.edge.auth import Caller, requires
from assay.http.edge.problems import ProblemError
from assay.http.pages.shell import surroundings
from assay.http.routing import the_service
from assay.http.service import Service
from assay.http.templating import render, render_block

ServiceOf = Annotated[Service, Depends(the_service)]
Reader = Annotated[Caller, Depends(requires("read"))]
Evaluator = Annotated[Caller, Depends(requires("evaluate"))]
Administrator = Annotated[Caller, Depends(requires("admin"))]
Annotator = Annotated[Caller, Depends(requires("annotate"))]

MAX_FIELDS = 500


@dataclass(frozen=True, slots=True)
class Command:
    """A command to copy, and what kind of command it is."""

    label: str
    line: str


def router() -> APIRouter:
    """A router of pages; they are not part of the documented interface."""
    return APIRouter(include_in_schema=False)


def page(request: Request, template: str, *, block: str = "", **values: Any) -> HTMLResponse:
    """A page, or only its ``block`` if htmx asks for a part to replace."""
    service: Service = request.app.state.service
    caller: Caller = request.scope["assay.caller"]
    shared = surroundings(request.url.path, caller, open_service=service.keyring.open)
    if block and is_htmx(request):
        return HTMLResponse(render_block(template, block, **shared, **values))
    return HTMLResponse(render(template, **shared, **values))


def is_htmx(request: Request) -> bool:
    """Whether htmx asks for a part of a page."""
    return request.headers.get("hx-request") == "true"


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form; of a repeated one, the last."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise ProblemError(400, "bad_form", "the form has too many fields") from None
    return dict(pairs)


def address(path: str, params: Mapping[str, Any] | Sequence[tuple[str, Any]] = ()) -> str:
    """A path with parameters; those that are None or empty are left out."""
    pairs = list(params.items()) if isinstance(params, Mapping) else list(params)
    kept = [(name, value) for name, value in pairs if value is not None and value != ""]
    return f"{path}?{urlencode(kept)}" if kept else path


def cli(*words: str) -> Command:
    """A command line, quoted for the shell."""
    return Command("command line", shlex.join(("assay", *words)))


def curl(
    request: Request, path: str, params: Mapping[str, Any] | Sequence[tuple[str, Any]] = ()
) -> Command:
    """The same over HTTP."""
    where = shlex.quote(_root(request) + address(path, params))
    return Command("curl", f"curl {_key(request)}{where}")


def curl_post(request: Request, path: str, body: Mapping[str, Any]) -> Command:
    """The same over HTTP, with a body."""
    words = ("--json", json.dumps(body, ensure_ascii=False), _root(request) + path)
    return Command("curl", f"curl {_key(request)}{shlex.join(words)}")


def _key(request: Request) -> str:
    """The header that a service with keys needs; the shell inserts the key."""
    service: Service = request.app.state.service
    return "" if service.keyring.open else '-H "Authorization: Bearer $ASSAY_API_KEY" '


def _root(request: Request) -> str:
    return str(request.base_url).rstrip("/")
