"""A service of vectors and scores on this machine: real HTTP, in each form that is spoken."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from assay.testing.encoders import HashingDense

Failure: TypeAlias = tuple[int, dict[str, str], bytes]


class ModelService:
    """Vectors by hashed words, scores by shared words; ``failures`` are replied first, in turn."""

    def __init__(self, *failures: Failure, dimension: int = 64) -> None:
        self.failures = list(failures)
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.dimension = dimension
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                if outer.failures:
                    status, headers, data = outer.failures.pop(0)
                else:
                    status, headers, data = 200, {"x-compute-tokens": "5"}, outer.reply(body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def reply(self, body: dict[str, Any]) -> bytes:
        """What a service says to this request; entries come in another order than asked."""
        if "input" in body:
            rows = self._rows(body["input"])
            data = [{"index": at, "embedding": row} for at, row in enumerate(rows)][::-1]
            tokens = sum(len(text.split()) for text in body["input"])
            return json.dumps({"data": data, "usage": {"total_tokens": tokens}}).encode()
        if "inputs" in body:
            return json.dumps(self._rows(body["inputs"])).encode()
        texts = body.get("documents", body.get("texts", []))
        wanted = set(body["query"].split())
        name = "relevance_score" if "documents" in body else "score"
        scored = [{"index": at, name: len(wanted & {*t.split()})} for at, t in enumerate(texts)]
        scored.sort(key=lambda row: -row[name])
        return json.dumps({"results": scored} if "documents" in body else scored).encode()

    def _rows(self, texts: list[str]) -> list[list[float]]:
        rows = 3 * HashingDense().encode(texts, "passage")  # not of unit length
        rows[:, 0] += self.dimension < rows.shape[1]  # what is left is not all zeros
        return [[float(x) for x in row[: self.dimension]] for row in rows]

    @property
    def url(self) -> str:
        """The address of the service."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ModelService:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def fails(status: int, retry_after: str | None = None) -> Failure:
    """A failure, with the wait that it asks for."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return status, headers, b'{"error": "no luck"}'


def says(text: str) -> Failure:
    """A reply of that text."""
    return 200, {}, text.encode()
