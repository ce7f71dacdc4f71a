"""A service on this machine that replies as a test says: real HTTP."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self


class Reply(NamedTuple):
    """What a service says: a status, headers and a body, after some seconds."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float = 0.0


class ScriptedService:
    """Gives ``replies`` in turn, then ``usual`` ones; keeps what it was asked."""

    PATH = ""  # of the address that clients are given

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self._left = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                reply = outer.replies.pop(0) if outer.replies else outer.usual(body)
                outer._left.wait(reply.seconds)
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client had a deadline

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def usual(self, body: dict[str, Any]) -> Reply:
        """The reply to this request where none is scripted."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        """The address of the service."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{self.PATH}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._left.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def fails(status: int, retry_after: str | None = None) -> Reply:
    """A failure, with the wait that it asks for."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Reply(status, headers, b'{"error": {"message": "no luck"}}')
