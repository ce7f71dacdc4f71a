"""Is this request meant for this service, in a form that it reads?

Cheap checks of the head of a request, before anything is parsed: the Host (against DNS rebinding),
the Origin (against forms of other sites), the encoding of the address and the kind of body.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from starlette.types import Scope

from assay import limits
from assay.http.edge.exchange import Exchange, has_body
from assay.http.edge.problems import Fault, Problem

_PORT = re.compile(r":[0-9]{1,5}$")
_JSON = re.compile(r"application/(json|[a-z.+-]+\+json)\s*(;.*)?", re.IGNORECASE)
_FORM = "application/x-www-form-urlencoded"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_QUERIES = (
    "application/yaml", "text/yaml", "text/csv", "text/tab-separated-values",
    "application/x-ndjson", "application/vnd.apache.parquet",
)  # fmt: skip
OTHER_BODIES = {
    "/v1/files": ("application/octet-stream",),
    "/v1/documents": ("application/x-ndjson", "text/plain", "text/markdown"),
    **dict.fromkeys(("/v1/testsets", "/v1/testsets/validate", "/v1/evaluate"), _QUERIES),
}
"""Paths that take something other than JSON."""


def refusal(exchange: Exchange, allowed_hosts: frozenset[str]) -> Problem | None:
    """Why a request is refused before it is read; None if nothing is wrong."""
    scope, headers = exchange.scope, exchange.headers
    host = headers.get(b"host", b"").decode("latin-1").lower()
    if _PORT.sub("", host) not in allowed_hosts:
        return Problem(
            421,
            "unknown_host",
            "this service does not answer to this Host",
            "use its own name, or add this one to allowed_hosts in assay.yaml",
        )
    return _foreign(scope, headers, host) or _address(scope) or _body(scope, headers)


def _foreign(scope: Scope, headers: dict[bytes, bytes], host: str) -> Problem | None:
    """A page of another site must not make a browser change anything here."""
    if scope["method"] in _SAFE_METHODS:
        return None
    origin = headers.get(b"origin")
    if origin is None:
        if not _takes_forms(scope["path"]):
            return None
        return Problem(
            403, "foreign_origin", "a form must be sent with the Origin of its page", None
        )
    if origin.decode("latin-1").lower().partition("://")[2] == host:
        return None
    return Problem(403, "foreign_origin", "requests from other sites are refused", None)


def _takes_forms(path: str) -> bool:
    return path.startswith("/ui/") or path in {"/sign-in", "/sign-out"}


def _address(scope: Scope) -> Problem | None:
    query: bytes = scope["query_string"]
    if query.count(b"&") >= limits.MAX_PARAMETERS:
        return Problem(400, "too_many_parameters", "too many parameters in the address", None)
    raw = scope.get("raw_path") or scope["path"].encode()
    for name, part in (("path", raw), ("query", query)):
        if b"%" not in part and part.isascii():
            continue
        try:
            text = unquote_to_bytes(part).decode("utf-8")
        except UnicodeDecodeError:
            return _bad(name, "not UTF-8")
        if "\0" in text:
            return _bad(name, "must not contain U+0000")
    return None


def _bad(where: str, message: str) -> Problem:
    return Problem(
        400, "bad_address", f"{where}: {message}", "encode it as UTF-8", (Fault(where, message),)
    )


def _body(scope: Scope, headers: dict[bytes, bytes]) -> Problem | None:
    encoding = headers.get(b"content-encoding", b"identity").decode("latin-1").lower()
    if encoding != "identity":
        return Problem(
            415, "compressed", "compressed bodies are not read", "send the body as it is"
        )
    if not has_body(headers) or scope["method"] in _SAFE_METHODS:
        return None
    kind = headers.get(b"content-type", b"").decode("latin-1")
    forms = (_FORM,) if _takes_forms(scope["path"]) else ()
    others = OTHER_BODIES.get(scope["path"], forms)
    if _JSON.fullmatch(kind) or kind.partition(";")[0].strip().lower() in others:
        return None
    return Problem(
        415,
        "unsupported_media_type",
        "the body must be application/json",
        " or ".join(("send Content-Type: application/json", *others)),
    )
