"""How are requests sent to one node of a cluster?

By the standard library's HTTP client over connections that are kept open: a search makes three
requests at once, and a general-purpose client would take longer than everything else together
(design/040). Connections that the node has closed meanwhile are reopened.
"""

from __future__ import annotations

import ssl
from collections import deque
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

CONNECT_SECONDS = 2.0
MAX_IDLE = 32  # idle connections kept per node


class UnreachableError(Exception):
    """The node refused the connection, broke it, or does not speak HTTP."""


class LateError(Exception):
    """The node accepted the request and did not answer in time."""


class Node:
    """One node; safe for use by several threads."""

    def __init__(self, url: str, headers: Mapping[str, str], tls: ssl.SSLContext | None) -> None:
        parts = urlsplit(url)
        self.url = url
        self._host, self._port, self._base = parts.hostname or "", parts.port, parts.path
        self._headers = dict(headers)
        self._tls = tls
        self._idle: deque[HTTPConnection] = deque()
        self._under_way: deque[None] = deque()  # shared between threads

    @property
    def load(self) -> int:
        """The number of unanswered requests."""
        return len(self._under_way)

    def request(
        self, method: str, path: str, content: bytes | None, seconds: float
    ) -> tuple[int, bytes]:
        """The status and body of the response."""
        self._under_way.append(None)
        try:
            return self._answer(method, path, content, seconds)
        finally:
            self._under_way.pop()

    def _answer(
        self, method: str, path: str, content: bytes | None, seconds: float
    ) -> tuple[int, bytes]:
        while True:
            kept = self._kept()
            try:
                connection = kept or self._opened(min(seconds, CONNECT_SECONDS))
                return self._exchanged(connection, method, path, content, seconds)
            except TimeoutError as late:
                raise LateError(str(late)) from late
            except (OSError, HTTPException) as broken:
                if kept is None:
                    raise self._unreachable(broken) from broken

    def close(self) -> None:
        """Close all idle connections."""
        while self._idle:
            self._idle.pop().close()

    def _kept(self) -> HTTPConnection | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _opened(self, seconds: float) -> HTTPConnection:
        connection = (
            HTTPConnection(self._host, self._port, timeout=seconds)
            if self._tls is None
            else HTTPSConnection(self._host, self._port, timeout=seconds, context=self._tls)
        )
        try:
            connection.connect()
        except TimeoutError as late:
            raise self._unreachable(late) from late
        return connection

    def _unreachable(self, problem: Exception) -> UnreachableError:
        # the response of an unknown service is not repeated
        said = f": {problem!s:.200}" if isinstance(problem, OSError) else ""
        return UnreachableError(f"{self.url}: {type(problem).__name__}{said}")

    def _exchanged(
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        content: bytes | None,
        seconds: float,
    ) -> tuple[int, bytes]:
        try:
            connection.sock.settimeout(seconds)
            connection.request(method, self._base + path, content, self._headers)
            response = connection.getresponse()
            answer = response.status, response.read()
        except BaseException:
            connection.close()
            raise
        if response.will_close or len(self._idle) >= MAX_IDLE:
            connection.close()
        else:
            self._idle.append(connection)
        return answer
