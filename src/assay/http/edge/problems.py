"""What does an error look like over HTTP?

One shape for every 4xx and 5xx: ``application/problem+json`` (RFC 9457) with a stable ``code``, the
``request_id`` that is also in the log, what to do next as ``hint``, and one entry in ``errors`` per
thing that is wrong. It never has a traceback, a path or a long value. People get the same as a page
(``pages/problem_page.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException

from assay.errors import AssayError, PlacedError
from assay.errors import Problem as FileProblem

MEDIA_TYPE = "application/problem+json"
MAX_SHOWN = 50
"""The most entries in ``errors``; a body can be wrong in a million places."""
MAX_MESSAGE = 1_000


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: where (``query.k``, ``body.queries.3.grade``) and what."""

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One refusal or failure."""

    status: int
    code: str
    detail: str
    hint: str | None = None
    errors: tuple[Fault, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> bytes:
        """The JSON of the answer."""
        content: dict[str, Any] = {
            "type": f"urn:assay:problem:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": _short(self.detail),
            "code": self.code,
            "request_id": request_id,
            "hint": self.hint,
            "errors": [
                {"where": _short(fault.where), "message": _short(fault.message)}
                for fault in self.errors[:MAX_SHOWN]
            ],
        }
        return json.dumps(content).encode("ascii")


class ProblemError(HTTPException):
    """Ends a request with a problem."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        hint: str | None = None,
        errors: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail)
        self.problem = Problem(status, code, detail, hint, tuple(errors), headers or {})


def busy(detail: str, *, status: int = 503, code: str = "overloaded", after: int = 1) -> Problem:
    """A refusal under load, with the time to try again after."""
    hint = f"try again after {after} s" if after > 1 else "try again after a second"
    return Problem(status, code, detail, hint, headers={"retry-after": str(after)})


def of_error(error: AssayError) -> Problem:
    """The problem that an error of ours stands for."""
    faults = _faults(error)
    headers = {"retry-after": "1"} if error.http_status in {429, 503} else {}
    return Problem(
        error.http_status, error.code, error.public_message, error.hint, faults, headers=headers
    )


def _faults(error: AssayError) -> tuple[Fault, ...]:
    """One entry per problem of a file, or the only one."""
    listed = getattr(error, "problems", None)
    if listed is not None:
        return faults_of(listed)
    return (Fault("input", error.message),) if isinstance(error, PlacedError) else ()


def faults_of(problems: Iterable[FileProblem]) -> tuple[Fault, ...]:
    """The problems of a file, each with the query or line that it is about."""
    return tuple(
        Fault(str(problem.query_id or problem.line or "input"), problem.message)
        for problem in problems
    )


def of_http(error: HTTPException) -> Problem:
    """A refusal of the framework: unknown path, wrong method, unreadable body."""
    if isinstance(error, ProblemError):
        return error.problem
    known = {404: "not_found", 405: "method_not_allowed", 400: "bad_request"}
    code = known.get(error.status_code, "refused")
    detail = "there is nothing at this address" if code == "not_found" else str(error.detail)
    headers = error.headers or {}
    allowed = headers.get("Allow") or headers.get("allow")
    hint = f"this address takes {allowed}; /openapi.json describes it" if allowed else None
    return Problem(error.status_code, code, detail, hint, headers=headers)


def of_validation(errors: Sequence[Any]) -> Problem:
    """What the wire models reject, field by field, without echoing what was sent."""
    faults = tuple(
        Fault(".".join(str(part) for part in error["loc"]), _reason(error)) for error in errors
    )
    first = faults[0]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return Problem(
        422, "invalid", f"{first.where}: {first.message}{more}", "see errors", errors=faults
    )


def internal() -> Problem:
    """A defect of ours; the log has the details."""
    return Problem(500, "internal", "the service failed unexpectedly", "report the request_id")


def _reason(error: Mapping[str, Any]) -> str:
    if error["type"] == "extra_forbidden":
        return "unknown"
    message = str(error["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _short(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 3]}..."
