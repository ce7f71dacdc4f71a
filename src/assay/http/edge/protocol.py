"""How does the service answer what is not HTTP, and how long does it wait for a client?

Uvicorn's own protocol with four changes: its refusals have the shape of all others, clients that
send their headers too slowly, or do not read the answer, are cut off, and where there are too many
connections, the one that has been without a request for longest makes room for a new one.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay import limits
from assay.http.edge.problems import MEDIA_TYPE, Problem, busy

HEAD_SECONDS = 10.0
READ_SECONDS = 30.0
"""How long a client may leave an answer unread; the number of connections is limited."""
LINGER_SECONDS = 1.0


class Protocol(H11Protocol):
    """HTTP/1.1 with a deadline for the head, and one for reading the answer.

    ``most_connections`` may be open at the same time. Silent ones never keep a newcomer out.
    """

    most_connections = limits.MAX_CONNECTIONS
    read_seconds = READ_SECONDS
    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None
    _refused = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        # connections without a request under way, the longest first; each server has its own
        self._idle: dict[Protocol, None] = vars(self.server_state).setdefault("idle", {})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected; its first request must follow soon."""
        super().connection_made(transport)
        full = len(self.connections) > self.most_connections and not self._make_room()
        self._idle[self] = None
        if full:
            self._answer(busy("too many connections"))
            return
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def data_received(self, data: bytes) -> None:
        """Bytes have arrived; between two requests the keep-alive timer of uvicorn applies."""
        if self._refused:
            return  # closing while bytes still arrive would lose the answer we have sent
        if self._head_timer is None and self.conn.their_state is h11.IDLE:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_is_late)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
            self._idle.pop(self, None)

    def on_response_complete(self) -> None:
        """A request was answered; the next one may have arrived already."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._idle[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has left."""
        self._idle.pop(self, None)
        self._stop_timer()
        self._stop_waiting()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read what we send; it has some time to go on."""
        super().pause_writing()
        self._stop_waiting()
        self._read_timer = self.loop.call_later(self.read_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._stop_waiting()
        super().resume_writing()

    def _make_room(self) -> bool:
        """Cut off the connection that has been without a request for longest, if there is one."""
        longest = next(iter(self._idle), None)
        if longest is None:
            return False
        del self._idle[longest]
        self.connections.discard(longest)
        longest.transport.abort()
        return True

    def _stop_waiting(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def send_400_response(self, msg: str) -> None:
        """Refuse what could not be read as HTTP."""
        problem = Problem(400, "bad_http", msg, "send HTTP/1.1 with a head of at most 64 KiB")
        self._answer(problem)

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.conn.our_state is h11.IDLE and not self.transport.is_closing():
            self._answer(Problem(408, "slow_head", "the request did not arrive in time", None))

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _answer(self, problem: Problem) -> None:
        body = problem.body(secrets.token_hex(8))
        events: list[Any] = []
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            headers = [
                (b"content-type", MEDIA_TYPE.encode()),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
                (b"x-content-type-options", b"nosniff"),
            ]
            events = [
                h11.Response(status_code=problem.status, headers=headers),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ]
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self._refused = True
        self._idle[self] = None
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)
