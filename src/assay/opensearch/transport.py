"""How are requests sent to the cluster, with deadlines and failover?

The node with the fewest open requests is tried first, so that one that hangs gets no more of them.
A node that cannot be reached or does not answer in time is skipped, and tried last for a while.
Only idempotent requests are sent again: reads, and writes under our own ids. Credentials never
appear in a URL, a log or an error.
"""

from __future__ import annotations

import base64
import itertools
import json
import random
import ssl
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay.errors import ConfigError, EngineError
from assay.opensearch.node import LateError, Node, UnreachableError

USER, PASSWORD, KEY, CA = (
    "ASSAY_OPENSEARCH_USER",
    "ASSAY_OPENSEARCH_PASSWORD",
    "ASSAY_OPENSEARCH_API_KEY",
    "ASSAY_OPENSEARCH_CA",
)  # as messages name them
LOOPBACK = ("localhost", "127.0.0.1", "::1")
BUSY = frozenset({429, 502, 503, 504})
PATIENCE_SECONDS = 120.0
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0
REST_SECONDS = 10.0  # how long a failed node is tried last
BULK = "/_bulk?timeout=10s"  # how long the cluster itself waits for a missing shard


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who asks the cluster, and which file of certificates vouches for its nodes."""

    user: str = ""
    password: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    ca: Path | None = None


NOBODY = Credentials()


class NoNodeError(EngineError):
    """No node could be reached."""


class Transport:
    """Requests to any node of a cluster; ``exposed`` are those that get credentials unencrypted."""

    def __init__(
        self, urls: str, credentials: Credentials = NOBODY, *, timeout: float = 30.0
    ) -> None:
        named = [url.rstrip("/") for url in urls.replace(",", " ").split()]
        if not named or not all(map(_is_address, named)):
            raise ConfigError(
                "the setting opensearch_url names no node",
                hint="such as https://search-1:9200 https://search-2:9200",
            )
        if any("@" in url for url in named):
            raise ConfigError(
                "the setting opensearch_url holds credentials",
                hint=f"put them into {USER} and {PASSWORD}",
            )
        self._timeout = timeout
        who = _authorization(credentials)
        headers = {"Content-Type": "application/json", **who}
        self.exposed = [url for url in named if who and _is_open(url)]
        tls = _trust(credentials) if any(url.startswith("https://") for url in named) else None
        self._nodes = [
            Node(url, headers, tls if url.startswith("https://") else None) for url in named
        ]
        self._turn = itertools.count(random.randrange(len(named)))  # noqa: S311
        self._resting: dict[str, float] = {}  # node to when it may be asked first again

    def close(self) -> None:
        """Close all connections."""
        for node in self._nodes:
            node.close()

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        missing: bool = False,
        late: bool = False,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """The response as JSON.

        With ``missing``, 404 is an empty response; with ``late``, the cluster's own timeout (408)
        is a response, too.
        """
        content = None if body is None else json.dumps(body).encode()
        status, answer = self._any_node(method, path, content, timeout)
        if status == 404 and missing:
            return {}
        if status >= 300 and not (late and status == 408):
            raise _refused(f"{method} {path.partition('?')[0]}", status, answer)
        return answer

    def bulk(self, lines: bytes, timeout: float = 120.0) -> dict[str, Any]:
        """Send many writes at once; retry while the cluster is busy or unreachable."""
        until = time.monotonic() + PATIENCE_SECONDS
        pause = FIRST_PAUSE_SECONDS
        while True:
            last = time.monotonic() + pause > until
            try:
                status, answer = self._any_node("POST", BULK, lines, timeout)
            except NoNodeError:
                if last:
                    raise
            else:
                if status < 300:
                    return answer
                if status not in BUSY or last:
                    raise _refused("a bulk load", status, answer)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _any_node(
        self, method: str, path: str, content: bytes | None, timeout: float | None
    ) -> tuple[int, dict[str, Any]]:
        """The first response of any node, in order of preference."""
        seconds = self._timeout if timeout is None else timeout
        problem: Exception | None = None
        for node in self._in_turn():
            try:
                status, answer = node.request(method, path, content, seconds)
                return status, _json(status, answer)
            except LateError as late:  # it may still be working on it: do not try the others
                self._resting[node.url] = time.monotonic() + REST_SECONDS
                raise EngineError("OpenSearch did not answer in time") from late
            except UnreachableError as failed:
                self._resting[node.url] = time.monotonic() + REST_SECONDS
                problem = failed
        raise NoNodeError(
            f"no node of OpenSearch can be reached: {problem}",
            hint=f"is the cluster up? check the setting opensearch_url, and {CA} for https",
        ) from problem

    def _in_turn(self) -> list[Node]:
        """All nodes, the least busy first, recently failed ones last."""
        first = next(self._turn) % len(self._nodes)
        nodes = self._nodes[first:] + self._nodes[:first]
        now = time.monotonic()
        return sorted(nodes, key=lambda node: (self._resting.get(node.url, 0.0) > now, node.load))


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is not a number, or an unbalanced bracket
        return False


def _is_open(url: str) -> bool:
    """Whether traffic to this URL is unencrypted."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in LOOPBACK


def _authorization(given: Credentials) -> dict[str, str]:
    """The header that says who asks; none where nobody is named.

    A secret that was read from a file often ends with the line: that is taken off.
    """
    named = (given.api_key, given.user, given.password)
    key, user, password = (text.strip("\r\n") for text in named)
    if key:
        if not (key.isascii() and key.isprintable()):
            raise ConfigError(f"{KEY} contains an invalid character", hint="one line of text")
        return {"Authorization": f"ApiKey {key}"}
    if password and not user:
        raise ConfigError(f"{PASSWORD} is set and {USER} is not", hint=f"set {USER}")
    if user:
        pair = f"{user}:{password}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _trust(given: Credentials) -> ssl.SSLContext:
    """Who may sign a node's certificate: the system's authorities, or those of a file."""
    try:
        return ssl.create_default_context(cafile=given.ca)
    except (OSError, ssl.SSLError) as problem:
        raise ConfigError(f"{CA} names no file of certificates: {problem}") from problem


def _json(status: int, content: bytes) -> dict[str, Any]:
    """The answer; of a refusal the status is enough, so what stands there may be anything."""
    try:
        value = json.loads(content)
    except ValueError:
        if status >= 300:
            return {}
        raise EngineError(
            "OpenSearch did not answer with JSON",
            hint="does the setting opensearch_url name a node of OpenSearch?",
        ) from None
    return value if isinstance(value, dict) else {"value": value}


def _refused(what: str, status: int, answer: dict[str, Any]) -> EngineError:
    unknown = status in (401, 403)
    return EngineError(
        f"OpenSearch refused {what}: {_reason(status, answer)}",
        hint=f"{USER} and {PASSWORD}, or {KEY}, say who asks" if unknown else None,
    )


def _reason(status: int, answer: dict[str, Any]) -> str:
    error = answer.get("error")
    if isinstance(error, dict):
        return f"{status} {error.get('type', '')}: {error.get('reason', '')!s:.300}"
    return f"{status} {error or ''!s:.300}".rstrip()
