"""Is a client cut off that does not take its answer?"""

from __future__ import annotations

import asyncio
import socket
import time

import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from assay.http.edge.protocol import Protocol

PART = b"x" * 65_536


class Hasty(Protocol):
    """The protocol of the service, only less patient."""

    read_seconds = 0.3


async def endless(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer without end."""
    del scope, receive
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": PART, "more_body": True})
        await asyncio.sleep(0.001)


async def connections(*, reads: bool) -> tuple[int, int]:
    """How many there are soon after a client has come, and a second later."""
    config = uvicorn.Config(endless, http=Hasty, log_config=None, lifespan="off")
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Hasty(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    with socket.create_connection(server.sockets[0].getsockname()) as raw:
        raw.setblocking(False)
        await loop.sock_sendall(raw, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await loop.sock_recv(raw, 1)
        soon = len(state.connections)
        until = time.monotonic() + 1.2
        while time.monotonic() < until:
            if reads:
                await loop.sock_recv(raw, 1 << 20)
            await asyncio.sleep(0.02)
        later = len(state.connections)
    server.close()
    for task in list(state.tasks):
        task.cancel()
    await asyncio.sleep(0.05)
    return soon, later


def test_a_client_that_reads_nothing_is_cut_off() -> None:
    assert asyncio.run(connections(reads=False)) == (1, 0)


def test_a_client_that_reads_slowly_is_served() -> None:
    assert asyncio.run(connections(reads=True)) == (1, 1)
