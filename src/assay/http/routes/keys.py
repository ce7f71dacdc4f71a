"""Who is calling, and who else may?"""

from __future__ import annotations

from typing import Annotated

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import Field

from assay.app import keys
from assay.app.keys import KeyRow, NewKey
from assay.http.edge.auth import Caller, unknown_caller
from assay.http.routing import Admin, ServiceOf, answer_with, answers, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Id, Wire
from assay.model.codec import encode

router = new_router("keys", prefix="/v1")


class NewKeyRequest(Wire):
    """Whom a key is for, what it may do, and for how long."""

    name: Annotated[str, Field(min_length=1, max_length=64, examples=["ann"])]
    scopes: Annotated[
        list[str], Field(min_length=1, max_length=10, examples=[["read", "evaluate"]])
    ] = Field(default_factory=lambda: ["read"])
    days: Annotated[float | None, Field(gt=0, description="Without it, it never expires.")] = None


@router.get(
    "/whoami",
    responses={
        **answer_with("The caller", name=str, key_id=str | None, scopes=list[str], open=bool),
        **refusals(),
    },
)
async def who_am_i(request: Request, service: ServiceOf) -> JSONResponse:
    """Whom the key of this request was made for, and what it may do.

    ``open`` says that the service has no keys yet and answers this machine only.
    """
    caller: Caller = request.scope["assay.caller"]
    if not caller.scopes:
        raise unknown_caller("this service needs an API key")
    kind, _, key_id = caller.name.partition(" ")
    return JSONResponse(
        {
            "name": caller.who or caller.name,
            "key_id": key_id if kind == "key" else None,
            "scopes": sorted(caller.scopes),
            "open": service.keyring.open,
        }
    )


@router.get(
    "/keys", responses={**answer_with("Every key that was made", keys=list[KeyRow]), **refusals()}
)
async def list_keys(service: ServiceOf, caller: Admin) -> JSONResponse:
    """Every key with its scopes and state, without its secret."""
    del caller
    rows = await service.work(lambda: keys.list_keys(service.workspace.layout))
    return JSONResponse({"keys": encode(rows)})


@router.post("/keys", status_code=201, responses={**answers(NewKey, 201), **refusals()})
async def create_key(body: NewKeyRequest, service: ServiceOf, caller: Admin) -> JSONResponse:
    """Make a key; its secret is in this answer and nowhere else."""
    made = await service.work(lambda: make_key(service, caller, body.name, body.scopes, body.days))
    return JSONResponse(encode(made), 201)


@router.delete("/keys/{key_id}", responses={**answers(KeyRow), **refusals(404)})
async def revoke_key(key_id: Id, service: ServiceOf, caller: Admin) -> JSONResponse:
    """Revoke a key at once, with every session that was opened with it."""
    return JSONResponse(encode(await service.work(lambda: take_key(service, caller, key_id))))


def make_key(
    service: Service, caller: Caller, name: str, scopes: list[str], days: float | None
) -> NewKey:
    """Make a key that this service knows at once; the log says who made it."""
    made = keys.create_key(service.workspace.layout, name, scopes, days=days)
    service.keyring.read_again()
    service.log.info("key made", key=made.about.key_id, by=caller.name)
    return made


def take_key(service: Service, caller: Caller, key_id: str) -> KeyRow:
    """Revoke a key; this service refuses it from now on."""
    row = keys.revoke_key(service.workspace.layout, key_id)
    service.keyring.read_again()
    service.log.info("key revoked", key=key_id, by=caller.name)
    return row
