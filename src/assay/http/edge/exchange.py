"""What is known about one request until it is answered, and what has every answer?"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import MutableMapping
from typing import Any, ClassVar

from starlette.types import Message, Receive, Scope, Send

from assay import limits
from assay.http.edge.problems import Problem
from assay.http.pages.problem_page import answer

LINGER_SECONDS = 2.0
LINGER_BYTES = 4 * limits.MAX_BODY_BYTES
MAX_LINGERING = 100
"""More refused bodies than these are cut off at once: they must not take every connection."""
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
_SAFE_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_NO_STORE = (b"cache-control", b"no-store")


class Exchange:
    """One request and its answer: adds headers, remembers status and duration."""

    _lingering: ClassVar[int] = 0

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.request_id = _request_id(self.headers.get(b"x-request-id"))
        self.status = 0
        self.started = False
        self.finished = False
        self.body_complete = not has_body(self.headers)
        self._early = False
        self.disconnected = False
        self._receive = receive
        self._send = send
        self._began = time.perf_counter()
        state: MutableMapping[str, Any] = scope
        state["assay.exchange"] = self

    @property
    def seconds(self) -> float:
        """Its duration so far."""
        return time.perf_counter() - self._began

    async def send(self, message: Message) -> None:
        """Pass a message on, with our headers on the first.

        A refusal may be sent before the whole body has arrived: the rest of the body is discarded
        and the connection closed.
        """
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.started = True
            self._early = self.status >= 400 and not self.body_complete
            headers = [*message.get("headers", ()), (b"x-request-id", self.request_id.encode())]
            if not any(name == b"cache-control" for name, _ in headers):
                headers.append(_NO_STORE)
            if self._early:
                headers.append((b"connection", b"close"))
            message = {**message, "headers": [*headers, *_SAFE_HEADERS]}
        elif not message.get("more_body", False):
            if self._early:
                await self._send({**message, "more_body": True})
                await self._linger()
                message = {"type": "http.response.body", "body": b""}
            self.finished = True
        await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        """Answer with a problem, unless an answer has been started."""
        if self.started:
            return
        body, kind = answer(problem, self)
        headers = [
            (b"content-type", kind.encode()),
            (b"content-length", str(len(body)).encode()),
            *((name.encode(), value.encode()) for name, value in problem.headers.items()),
        ]
        await self.send(
            {"type": "http.response.start", "status": problem.status, "headers": headers}
        )
        shown = b"" if self.scope["method"] == "HEAD" else body
        await self.send({"type": "http.response.body", "body": shown})

    async def _linger(self) -> None:
        """Read and discard the rest for a moment: closing at once would lose our answer as well."""
        if Exchange._lingering >= MAX_LINGERING:
            return
        dropped = 0
        Exchange._lingering += 1
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while dropped < LINGER_BYTES:
                    message = await self._receive()
                    dropped += len(message.get("body", b""))
                    if message["type"] != "http.request" or not message.get("more_body", False):
                        return
        except TimeoutError:
            return
        finally:
            Exchange._lingering -= 1


def has_body(headers: dict[bytes, bytes]) -> bool:
    """Whether a request announces a body."""
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


def _request_id(given: bytes | None) -> str:
    """The caller's own id if it is harmless, else a new one."""
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given.decode("ascii")
    return secrets.token_hex(8)
