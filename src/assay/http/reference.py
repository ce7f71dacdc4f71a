"""What does the OpenAPI document say, and how is it shown as a page?"""

from __future__ import annotations

import json
import threading
from itertools import groupby
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from assay.http.edge.auth import SESSION_COOKIE

_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key: assay_..."},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE},
}

_ALONE = threading.Lock()


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI 3.1 document, made once: that takes about a second of a core."""
    with _ALONE:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            made["components"]["securitySchemes"] = _SCHEMES
            made["security"] = [{name: []} for name in _SCHEMES] + [{}]
            _drop_framework_errors(made)
            app.openapi_schema = made
    return app.openapi_schema


def document_json(app: FastAPI) -> bytes:
    """The same as JSON, written once."""
    whole = document(app)
    with _ALONE:
        if not hasattr(app.state, "openapi_json"):
            app.state.openapi_json = JSONResponse(whole).body
    written: bytes = app.state.openapi_json
    return written


def _drop_framework_errors(made: dict[str, Any]) -> None:
    """Remove the error forms of the framework: all errors here are problems."""
    for methods in made["paths"].values():
        for operation in methods.values():
            for status, answer in operation.get("responses", {}).items():
                if int(status) >= 400:
                    answer["content"].pop("application/json", None)
    for name in ("HTTPValidationError", "ValidationError"):
        made["components"]["schemas"].pop(name, None)


def operations(whole: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Every operation for the page, by noun."""
    rows = [
        _operation(whole, method.upper(), path, one)
        for path, methods in whole["paths"].items()
        for method, one in methods.items()
    ]
    rows.sort(key=lambda row: (row["noun"], row["path"], row["method"]))
    return [(noun, list(part)) for noun, part in groupby(rows, key=lambda row: row["noun"])]


def _operation(
    whole: dict[str, Any], method: str, path: str, one: dict[str, Any]
) -> dict[str, Any]:
    content = one.get("requestBody", {}).get("content", {})
    body = next(iter(content.values()), None)
    return {
        "id": f"{method}-{path}".replace("/", "_").replace("{", "").replace("}", ""),
        "noun": one["tags"][0],
        "method": method,
        "path": path,
        "line": one.get("description") or one["summary"],
        "parameters": [_parameter(part) for part in one.get("parameters", ())],
        "body": None if body is None else json.dumps(_example(whole, body), indent=2),
        "answers": [
            (status, answer["description"])
            for status, answer in one["responses"].items()
            if int(status) < 400
        ],
    }


def _parameter(part: dict[str, Any]) -> dict[str, Any]:
    schema = part["schema"]
    kinds = [schema, *schema.get("anyOf", ())]
    words = [word for kind in kinds for word in kind.get("enum", ())]
    types = [kind["type"] for kind in kinds if kind.get("type", "null") != "null"]
    examples = schema.get("examples") or part.get("examples") or [""]
    return {
        "name": part["name"],
        "place": part["in"],
        "required": part.get("required", False),
        "about": part.get("description") or schema.get("description", ""),
        "kind": " | ".join(map(str, words or types)),
        "default": schema.get("default"),
        "example": next(iter(examples)) if isinstance(examples, list) else "",
    }


def _example(whole: dict[str, Any], body: dict[str, Any]) -> Any:
    schema = body["schema"]
    if "example" in body or body.get("examples"):
        return body.get("example") or next(iter(body["examples"].values()))["value"]
    return _of_schema(whole, schema)


def _of_schema(whole: dict[str, Any], schema: dict[str, Any]) -> Any:
    """An example of a schema: its own, or one made of those of its parts."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _of_schema(whole, whole["components"]["schemas"][name])
    for several in ("anyOf", "oneOf"):
        if several in schema and "default" not in schema:
            return _of_schema(whole, schema[several][0])
    own = [*schema.get("examples", ()), *schema.get("enum", ())]
    if own or "default" in schema:
        return own[0] if own else schema["default"]
    return _of_parts(whole, schema)


def _of_parts(whole: dict[str, Any], schema: dict[str, Any]) -> Any:
    if schema.get("type") == "array":
        return [_of_schema(whole, schema["items"])]
    if "properties" in schema:
        parts = schema["properties"]
        return {name: _of_schema(whole, parts[name]) for name in schema.get("required", ())}
    plain = {"string": "text", "integer": 1, "number": 0.5, "boolean": True}
    return plain.get(schema.get("type", ""), {})


def route_paths(app: FastAPI) -> list[str]:
    """The paths of every route, as templates."""
    return [route.path for route in app.routes if isinstance(route, APIRoute)]
