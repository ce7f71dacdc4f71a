"""How is a body read that may be too large, too slow or never end, from a client that may leave?

Bytes are counted while they come. Once the body is complete, somebody watches for the client to go
away; the work for a client that has gone is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import Message, Receive

from assay import limits
from assay.serve.exchange import Exchange, has_body
from assay.serve.problems import ProblemError


class Inbound:
    """The messages of one request, counted and watched."""

    def __init__(self, receive: Receive, exchange: Exchange, cancel: Callable[[], object]) -> None:
        self._receive = receive
        self._exchange = exchange
        self._cancel = cancel
        self._seen = 0
        self._held: Message | None = None
        self._gone = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Refuse a body that says it is too large; watch at once where there is none."""
        headers = self._exchange.headers
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > limits.MAX_BODY_BYTES:
            raise _too_large()
        if not has_body(headers):
            self._held = await self._receive()
            self._complete()

    async def receive(self) -> Message:
        """The next message, as the application sees it."""
        if self._held is not None:
            message, self._held = self._held, None
            return message
        if self._watch is not None:
            await self._gone.wait()
            return {"type": "http.disconnect"}
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._exchange.disconnected = True
            return message
        self._seen += len(message.get("body", b""))
        if self._seen > limits.MAX_BODY_BYTES:
            raise _too_large()
        if not message.get("more_body", False):
            self._complete()
        return message

    def close(self) -> None:
        """Stop watching."""
        if self._watch is not None:
            self._watch.cancel()

    def _complete(self) -> None:
        self._exchange.body_complete = True
        self._watch = asyncio.ensure_future(self._wait_for_the_end())

    async def _wait_for_the_end(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self._exchange.finished:
            self._exchange.disconnected = True
            self._gone.set()
            self._cancel()


def _too_large() -> ProblemError:
    return ProblemError(
        413,
        "too_large",
        f"the body is larger than {limits.MAX_BODY_BYTES} bytes",
        hint="send less at once; the caps are listed by: assay config limits",
    )
