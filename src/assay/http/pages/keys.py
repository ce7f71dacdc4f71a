"""Who am I, what may I do, and who else may use this service?"""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app import keys
from assay.app.keys import SCOPES, NewKey
from assay.http.edge.auth import Caller, unknown_caller
from assay.http.pages.page import Administrator, ServiceOf, cli, curl, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.pages.session import begin_session
from assay.http.routes.keys import make_key, take_key

router = new_router()

ROLES = {
    "read": ("Look", "search, and read runs, comparisons and test sets", ("read",)),
    "evaluate": ("Evaluate", "also run evaluations, tag runs, change test sets",
                 ("read", "evaluate")),
    "annotate": ("Judge", "also judge passages under the name of the key", ("read", "annotate")),
    "admin": ("Administer", "everything: documents, deleting runs, keys", ("admin",)),
}  # fmt: skip
"""What a person may be: a label, what it means, and the scopes of the key."""
MEANING = {
    "read": "search, and read runs, comparisons and test sets",
    "evaluate": "run evaluations, tag runs, change test sets, see held-out queries",
    "annotate": "judge passages under the name of the key",
    "admin": "everything: also documents, the index, deleting runs, keys",
}


@router.get("/keys")
async def keys_page(request: Request, service: ServiceOf) -> Response:
    """The caller, and for administrators every key."""
    caller = _known(request)
    return await _page(request, service, caller)


@router.post("/ui/keys")
async def create(request: Request, service: ServiceOf, caller: Administrator) -> Response:
    """Make a key and show its secret once; the first one also signs this browser in."""
    fields = await form_of(request)
    name, role = fields.get("name", "").strip(), fields.get("role", "read")
    days = float(fields["days"]) if fields.get("days", "").isdecimal() else None
    scopes = list(ROLES.get(role, ROLES["read"])[2])
    was_open = service.keyring.open
    made = await service.work(lambda: make_key(service, caller, name, scopes, days))
    shown = await _page(request, service, caller, made=made, closed=was_open)
    if was_open:
        begin_session(request, shown, service.keyring.open_session(made.key))
    return shown


@router.post("/ui/keys/{key_id}/revoke")
async def revoke(
    key_id: str, request: Request, service: ServiceOf, caller: Administrator
) -> Response:
    """Revoke a key."""
    del request
    await service.work(lambda: take_key(service, caller, key_id))
    return RedirectResponse("/keys", 303)


async def _page(
    request: Request,
    service: Any,
    caller: Caller,
    made: NewKey | None = None,
    *,
    closed: bool = False,
) -> Response:
    rows = ()
    if caller.may("admin"):
        rows = await service.work(lambda: keys.list_keys(service.workspace.layout))
    return page(
        request,
        "ui/keys.html",
        keys=sorted(rows, key=lambda row: (row.state != "active", row.created_at)),
        made=made,
        closed=closed,
        roles=ROLES,
        wanted={
            "name": request.query_params.get("name", "")[:64],
            "role": request.query_params.get("role", ""),
        },
        scopes={name: MEANING[name] for name in SCOPES if caller.may(name)},
        denied={name: MEANING[name] for name in SCOPES if not caller.may(name)},
        commands=[
            cli("keys", "create", "NAME", "--scope", "read", "--scope", "evaluate"),
            curl(request, "/v1/whoami"),
        ],
    )


def _known(request: Request) -> Caller:
    caller: Caller = request.scope["assay.caller"]
    if not caller.scopes:
        raise unknown_caller("this service needs an API key")
    return caller
