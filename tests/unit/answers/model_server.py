"""A language model service on this machine: real HTTP, scripted replies."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Reply: TypeAlias = tuple[int, dict[str, str], bytes, float]
DEFAULT = "The dose is 5 mg once daily [1]."


def completion(content: Any) -> bytes:
    return json.dumps(
        {"choices": [{"message": {"role": "assistant", "content": content}}]}
    ).encode()


class ModelServer:
    """Replies in turn with ``(status, headers, body, seconds to wait)``; then with ``DEFAULT``."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self._left = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers), json.loads(body)))
                plain: Reply = (200, {}, completion(DEFAULT), 0.0)
                status, headers, data, wait = outer.replies.pop(0) if outer.replies else plain
                outer._left.wait(wait)
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client had a deadline

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._left.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def says(content: Any) -> Reply:
    return 200, {}, completion(content), 0.0


def fails(status: int, retry_after: str | None = None) -> Reply:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return status, headers, b'{"error": {"message": "no luck"}}', 0.0
