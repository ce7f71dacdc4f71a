"""How is something asked of a service that may be busy, slow or broken for a while?

One POST of JSON has one deadline, which includes attempts, waits and reading the reply. Transient
failures (429, 5xx, a broken connection) are tried again, after the wait that ``Retry-After`` asks
for; permanent ones (400, 401, 404) are told at once. Redirects are not followed, since a key would
go with them.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from assay.errors import UsageError
from assay.plural import counted

ATTEMPTS = 3
FIRST_WAIT = 0.5  # seconds, doubled after each attempt
SHOWN_ERROR = 200
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class PostError(Exception):
    """The service did not do it; ``status`` is None where no attempt was answered for good."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class TooLongError(Exception):
    """The reply is longer than any that was expected."""


class _TryAgainError(Exception):
    """A transient failure; ``wait`` is the delay that the service requested."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Reply:
    """What a service replied."""

    data: bytes
    headers: Mapping[str, str]


def check_address(address: str, what: str, example: str) -> None:
    """Refuse what is no URL, and a URL with a secret in it: it is stored and shown."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(f"{address!r:.100} is not a URL", hint=f"such as {example}")
    if parts.username or parts.password or parts.query:
        raise UsageError(
            f"the address of {what} must not contain a secret",
            hint="put the key in an environment variable",
        )


def post(
    address: str,
    body: Mapping[str, Any],
    *,
    seconds: float,
    most_bytes: int,
    key: str = "",
    attempts: int = ATTEMPTS,
) -> Reply:
    """What the service replies; ``key`` goes along as a bearer's token."""
    deadline = time.monotonic() + seconds
    wait = FIRST_WAIT
    for attempt in range(1, attempts + 1):
        try:
            return _once(
                address, body, key, deadline=deadline, seconds=seconds, most_bytes=most_bytes
            )
        except _TryAgainError as problem:
            pause = wait if problem.wait is None else problem.wait
            if attempt == attempts or time.monotonic() + pause >= deadline:
                asked = "" if problem.wait is None else f" (it asks to wait {problem.wait:g} s)"
                raise PostError(
                    f"did not answer after {counted(attempt, 'attempt')}{asked}: {problem}"
                ) from None
            time.sleep(pause)
            wait *= 2
    raise AssertionError("the last attempt returns or raises")


def _once(
    address: str,
    body: Mapping[str, Any],
    key: str,
    *,
    deadline: float,
    seconds: float,
    most_bytes: int,
) -> Reply:
    import httpx2

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    left = deadline - time.monotonic()
    try:
        with (
            httpx2.Client(timeout=left, follow_redirects=False, trust_env=False) as client,
            client.stream("POST", address, json=body, headers=headers) as response,
        ):
            data = bytearray()
            for block in response.iter_bytes():
                data += block
                if len(data) > most_bytes:
                    raise TooLongError
                if time.monotonic() > deadline:
                    raise _TryAgainError(f"no whole answer in {seconds:g} s")
    except httpx2.HTTPError as problem:
        said = without_key(str(problem), key)
        raise _TryAgainError(f"{type(problem).__name__}: {said}") from None
    except httpx2.InvalidURL as problem:
        raise PostError(without_key(str(problem), key), 0) from None
    if response.is_success:
        return Reply(bytes(data), response.headers)
    text = without_key(data.decode(errors="replace").strip(), key)
    message = f"HTTP {response.status_code}: {text[:SHOWN_ERROR]}"
    if response.status_code in _PASSING:
        raise _TryAgainError(message, _seconds(response.headers.get("Retry-After")))
    raise PostError(message, response.status_code)


def without_key(text: str, key: str) -> str:
    """A text without the key, which some services repeat when they refuse it."""
    return text.replace(key, "***") if key else text


def _seconds(header: str | None) -> float | None:
    """The wait that Retry-After asks for, in seconds or up to a date."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
