"""How is a route declared, so that its body is read strictly and its refusals are documented?"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from typing import Annotated, Any, TypeVar, get_origin

from fastapi import APIRouter, Depends, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel

from assay import limits, strict_json
from assay.app.workspace import Workspace
from assay.errors import AssayError
from assay.http.edge.auth import Caller, requires
from assay.http.edge.problems import Fault, ProblemError, of_error
from assay.http.service import Service
from assay.http.wire.base import ProblemBody
from assay.model.codec import json_schema

R = TypeVar("R", bound=Response)
LARGE_BYTES = 64 << 10


class StrictRequest(Request):
    """A request whose JSON is read strictly: no duplicate keys, no NaN, no deep nesting."""

    async def json(self) -> Any:
        """The value of the body."""
        body = await self.body()
        if len(body) > LARGE_BYTES:  # takes seconds, which would hold up other requests
            return await asyncio.to_thread(json_value, body)
        return json_value(body)


def json_value(body: bytes) -> Any:
    """The one value of a body; a problem where it is not JSON, or too large."""
    try:
        # a value takes up to a hundred times the room of the bytes that it is written in
        if sum(map(body.count, (b",", b"[", b"{"))) > limits.MAX_BODY_VALUES:
            raise ProblemError(
                413,
                "too_large",
                f"the body has more than {limits.MAX_BODY_VALUES:,} values",
                hint="send it in parts",
            )
        values = strict_json.values(body, "body")
    except AssayError as error:
        problem = of_error(error)
        raise ProblemError(
            400, problem.code, problem.detail, hint=problem.hint, errors=problem.errors
        ) from None
    if len(values) != 1:
        raise ProblemError(400, "bad_format", "the body must be one JSON value")
    return values[0][1]


class StrictRoute(APIRoute):
    """A route that refuses a parameter given twice instead of silently choosing one."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler of the framework."""
        plain = super().get_route_handler()
        lists = frozenset(_lists(self.dependant))

        async def handler(request: Request) -> Response:
            counts = Counter(name for name, _ in request.query_params.multi_items())
            twice = [name for name, count in counts.items() if count > 1 and name not in lists]
            if twice:
                faults = [Fault(f"query.{name}", "given more than once") for name in twice]
                detail = f"{faults[0].where}: given more than once"
                raise ProblemError(422, "repeated_parameter", detail, errors=faults)
            return await plain(StrictRequest(request.scope, request.receive))

        return handler


def _lists(dependant: Dependant) -> Iterator[str]:
    """The parameters of an address that a route declares as lists, which may be repeated."""
    for one in dependant.query_params:
        kind = one.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            every = {about.alias or name: about for name, about in kind.model_fields.items()}
        else:
            every = {one.alias: one.field_info}
        yield from (name for name, about in every.items() if get_origin(about.annotation) is list)
    for inner in dependant.dependencies:
        yield from _lists(inner)


async def the_service(request: Request) -> Service:
    """The service that a request came to."""
    service: Service = request.app.state.service
    return service


async def json_response(service: Service, task: Callable[[], Any]) -> JSONResponse:
    """What a task returns, written as JSON on its thread: a large answer takes seconds."""
    return await service.work(lambda: JSONResponse(task()))


async def computed(
    service: Service,
    seconds: Callable[[Workspace], float],
    function: Callable[..., R],
    *given: Any,
) -> R:
    """The response of ``function``, a function of a module that may take long.

    It is called with the workspace and what is given. ``seconds`` estimates how long a core
    computes on it: what takes long runs in a process that can be ended.
    """
    return await service.work(lambda: service.compute(seconds(service.workspace), function, *given))


ServiceOf = Annotated[Service, Depends(the_service)]
Reader = Annotated[Caller, Depends(requires("read"))]
Evaluator = Annotated[Caller, Depends(requires("evaluate"))]
Admin = Annotated[Caller, Depends(requires("admin"))]

_REASONS = {
    400: "The request cannot be read",
    401: "No valid key",
    403: "The key lacks the scope",
    404: "Not found",
    408: "The body arrived too slowly",
    409: "The id already names something else",
    413: "Too large",
    415: "The body is of another kind",
    422: "A value is not allowed",
    429: "Too many requests from this caller",
    500: "A defect of the service",
    502: "Another service, which this one called, failed",
    503: "Overloaded, or not ready",
    504: "The deadline passed",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of refusals: these, and those that every route can give."""
    everywhere = (400, 401, 403, 413, 415, 422, 429, 500, 503, 504)
    return {
        status: {
            "description": _REASONS[status],
            "model": ProblemBody,
            "content": {"application/problem+json": {"schema": _SCHEMA}},
        }
        for status in sorted({*everywhere, *statuses})
    }


def answers(
    kind: Any, status: int = 200, *, request_id: bool = False
) -> dict[int | str, dict[str, Any]]:
    """The documentation of an answer: a type that ``model.codec`` writes, or its schema."""
    schema = kind if isinstance(kind, dict) else json_schema(kind)
    if request_id:
        schema["properties"]["request_id"] = {"type": "string"}
        schema["required"].append("request_id")
    about = schema.get("description", "Successful response").rstrip(".")
    return {status: {"description": about, "content": {"application/json": {"schema": schema}}}}


def answer_with(about: str, status: int = 200, /, **fields: Any) -> dict[int | str, dict[str, Any]]:
    """The documentation of an answer that is an object with these fields, each with its type."""
    schema = {
        "type": "object",
        "properties": {name: json_schema(kind) for name, kind in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }
    return {status: {"description": about, "content": {"application/json": {"schema": schema}}}}


_SCHEMA = {"$ref": "#/components/schemas/ProblemBody"}


def router(noun: str, prefix: str = "") -> APIRouter:
    """A router for one noun."""
    return APIRouter(prefix=prefix, tags=[noun], route_class=StrictRoute)
