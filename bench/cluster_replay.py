"""What does our layer take when the cluster works on other machines?

Three nodes on the cores that also run the client make everything in it slower. So the answers of a
real cluster are recorded with the time that each took, and this process gives them back after as
long, without any work to speak of. Whatever is no search goes on to the cluster itself.

``python -m bench.cluster_replay RECORD URL`` prints the port it listens on, and ends with its
standard input.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


def key_of(path: str, body: Any) -> str:
    """One request, however its JSON was written."""
    return f"{path}\n{json.dumps(body, sort_keys=True)}"


@contextmanager
def replaying(record: Path, url: str) -> Iterator[str]:
    """The address of a process that gives the recorded answers."""
    child = subprocess.Popen(
        [sys.executable, "-m", "bench.cluster_replay", str(record), url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(child.stdout.readline())}"
    finally:
        child.communicate()


class Handler(BaseHTTPRequestHandler):
    """Recorded answers for searches, the cluster's own for everything else."""

    protocol_version = "HTTP/1.1"
    record: dict[str, tuple[float, str]]
    host: str

    def do_GET(self) -> None:
        """Ask the cluster."""
        self._answer(*self._forwarded(b""))

    def do_POST(self) -> None:
        """A search that is known, or whatever the cluster says."""
        began = time.perf_counter()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        known = self.record.get(key_of(self.path, json.loads(body))) if body else None
        if known is None:
            self._answer(*self._forwarded(body))
            return
        seconds, text = known
        time.sleep(max(0.0, seconds - (time.perf_counter() - began)))
        self._answer(200, text.encode())

    do_HEAD = do_PUT = do_DELETE = do_POST

    def _forwarded(self, body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.host)
        connection.request(self.command, self.path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing: standard error is for faults."""


def main() -> None:
    Handler.record = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    Handler.host = str(urlsplit(sys.argv[2]).netloc)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
