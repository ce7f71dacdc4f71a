"""How is a body read that may be too large, too slow or endless, from a client that may leave?

Bytes are counted as they arrive, and the application gets the body once it is complete, so that a
slow sender holds up nobody. After that a task watches for the client to leave, and cancels the work
for one that has left.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from assay import limits
from assay.http.edge.exchange import Exchange
from assay.http.edge.problems import ProblemError


class Inbound:
    """The messages of one request, counted and watched; the body may have ``most`` bytes."""

    def __init__(
        self, receive: Receive, exchange: Exchange, cancel: Callable[[], object], most: int
    ) -> None:
        self._receive = receive
        self._exchange = exchange
        self._cancel = cancel
        self._most = most
        self._seen = 0
        self._held: deque[Message] = deque()
        self._gone = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None

    async def begin(self) -> bool:
        """Read a small body, or the beginning of a large one; False if there is more.

        A body that announces too many bytes is refused.
        """
        length = self._exchange.headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self._most:
            raise self._too_large()
        await self._read(limits.SMALL_BODY_BYTES)
        return self._watch is not None

    async def rest(self) -> None:
        """Read the remainder."""
        await self._read(self._most)

    async def receive(self) -> Message:
        """The next message for the application."""
        if self._held:
            return self._held.popleft()
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _read(self, enough: int) -> None:
        """Read until the body is complete, or until there is more than ``enough`` of it."""
        while self._watch is None and self._seen <= enough:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._exchange.disconnected = True
                raise ClientDisconnect
            self._seen += len(message.get("body", b""))
            if self._seen > self._most:
                raise self._too_large()
            self._held.append(message)
            if not message.get("more_body", False):
                self._complete()

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

    def _too_large(self) -> ProblemError:
        return ProblemError(
            413,
            "too_large",
            f"the body is larger than {self._most:,} bytes",
            hint="send it in smaller parts",
        )
