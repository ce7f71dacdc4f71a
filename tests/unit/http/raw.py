"""How is an application asked without a server, so that a test decides when bytes come?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message

JSON = (b"content-type", b"application/json")
FORM = (b"content-type", b"application/x-www-form-urlencoded")
ORIGIN = (b"origin", b"http://localhost")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: 0 where nothing did."""

    status: int
    body: bytes

    def json(self) -> Any:
        """The value of the body."""
        return json.loads(self.body)


async def ask(
    app: ASGIApp,
    method: str,
    path: str,
    *headers: tuple[bytes, bytes],
    pieces: Sequence[bytes] = (),
    length: int | None = None,
    leaves: bool = False,
    query: bytes = b"",
) -> Answer:
    """Send the pieces of a body; with ``length`` longer than they are the rest never comes.

    With ``leaves`` the client goes away after the last piece.
    """
    promised = sum(map(len, pieces)) if length is None else length
    coming: list[Message] = [
        {"type": "http.request", "body": piece, "more_body": True} for piece in pieces
    ]
    if length is None:
        coming.append({"type": "http.request", "body": b"", "more_body": False})
    sent: list[Message] = []

    async def receive() -> Message:
        if coming:
            return coming.pop(0)
        if leaves:
            return {"type": "http.disconnect"}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    given = [(b"host", b"localhost"), (b"content-length", b"%d" % promised), *headers]
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(),
        "query_string": query, "headers": given, "client": ("127.0.0.1", 1),
        "server": ("localhost", 80), "scheme": "http", "http_version": "1.1", "root_path": "",
    }  # fmt: skip
    await app(scope, receive, send)
    starts = [one["status"] for one in sent if one["type"] == "http.response.start"]
    return Answer(starts[0] if starts else 0, b"".join(one.get("body", b"") for one in sent))
