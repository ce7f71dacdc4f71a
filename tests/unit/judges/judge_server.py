"""A language model service on this machine that judges by words: real HTTP, real replies."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from assay.judges.words import WordJudge
from assay.model.judges import JudgeTask, TaskKind

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, "cost": 0.001}


def reads(prompt: str) -> JudgeTask:
    """The task that a prompt of ours asks about."""

    def inside(tag: str) -> str:
        found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", prompt, re.DOTALL)
        return found[1] if found else ""

    if "<claim>" in prompt:
        return JudgeTask(TaskKind.SUPPORT, inside("claim"), inside("passage"))
    return JudgeTask(TaskKind.RELEVANCE, inside("question"), inside("passage"))


def by_words(prompt: str) -> str:
    """A good reply."""
    ((_, opinion),) = WordJudge().judge([reads(prompt)])
    said: dict[str, Any] = {"reason": "as the words are"}
    said |= {"label": opinion.label} if opinion.grade is None else {"grade": opinion.grade}
    return json.dumps(said)


class JudgeServer:
    """Answers with ``reply`` of the last message; counts what was asked, and how much at once."""

    def __init__(self, reply: Callable[[str], str | tuple[int, str]] = by_words) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.busiest = 0
        self._busy = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.requests.append(body)
                    outer.headers.append(dict(self.headers))
                    outer._busy += 1
                    outer.busiest = max(outer.busiest, outer._busy)
                try:
                    said = reply(body["messages"][0]["content"])
                    status, text = said if isinstance(said, tuple) else (200, said)
                    message = {"role": "assistant", "content": text}
                    found = {"choices": [{"message": message}], "usage": USAGE}
                    data = (json.dumps(found) if status == 200 else text).encode()
                finally:
                    with outer._lock:
                        outer._busy -= 1
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client was killed, or had a deadline

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def judge_server(
    reply: Callable[[str], str | tuple[int, str]] = by_words,
) -> Iterator[JudgeServer]:
    server = JudgeServer(reply)
    server.start()
    try:
        yield server
    finally:
        server.stop()
