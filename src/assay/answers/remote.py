"""How does an OpenAI-compatible service answer a question?

``POST {url}/chat/completions``, temperature 0. The whole call has one deadline, which includes
attempts, waits and reading the reply. Transient failures (429, 5xx, a broken connection) are
retried; permanent ones (400, 401, 404) are reported at once. The key comes from an environment
variable and is never shown.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from assay import limits
from assay.answers import prompt
from assay.errors import AnswererError, FormatError, UsageError
from assay.model.answers import Answer, Passage
from assay.plural import counted
from assay.strict_json import values

ATTEMPTS = 3
FIRST_WAIT = 0.5  # seconds, doubled after each attempt
SHOWN_ERROR = 200
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class _TryAgainError(Exception):
    """A transient failure; ``wait`` is the delay that the service requested."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class RemoteAnswerer:
    """Calls ``model`` at ``url``; ``key_variable`` names the variable with the key."""

    url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"
    seconds: float = 60.0
    max_tokens: int = 512
    passages: int = 8

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UsageError(
                f"{self.url!r:.100} is not a URL", hint="such as http://127.0.0.1:11434/v1"
            )
        if parts.username or parts.password or parts.query:
            raise UsageError(
                "the address of an answerer holds no secret", hint="put the key in a variable"
            )

    @property
    def name(self) -> str:
        """Identifies everything known to affect an answer."""
        told = f"prompt={prompt.version()},passages={self.passages},tokens={self.max_tokens}"
        return f"{self.model}@{self.url}({told})"

    def answer(self, question: str, passages: Sequence[Passage]) -> Answer:
        """The model's answer from the best passages; without any it is not called."""
        shown = passages[: self.passages]
        if not shown:
            return Answer("", grounded=False, refusal_reason="nothing was found")
        body = {
            "model": self.model,
            "messages": prompt.messages(question, shown),
            "temperature": 0,
            "max_tokens": self.max_tokens,
            "stream": False,
        }
        return prompt.parse(_content(self._asked(body), self.url), shown)

    def _asked(self, body: dict[str, Any]) -> bytes:
        deadline = time.monotonic() + self.seconds
        wait = FIRST_WAIT
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._once(body, deadline)
            except _TryAgainError as problem:
                pause = wait if problem.wait is None else problem.wait
                if attempt == ATTEMPTS or time.monotonic() + pause >= deadline:
                    tries = f"after {counted(attempt, 'attempt')}"
                    raise AnswererError(
                        f"{self.url} did not answer {tries}: {problem}",
                        hint="is it running? --answerer extractive needs no service",
                    ) from None
                time.sleep(pause)
                wait *= 2
        raise AssertionError("the last attempt returns or raises")

    def _once(self, body: dict[str, Any], deadline: float) -> bytes:
        import httpx2

        key = os.environ.get(self.key_variable, "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        left = deadline - time.monotonic()
        address = f"{self.url.rstrip('/')}/chat/completions"
        try:
            with (
                httpx2.Client(timeout=left, follow_redirects=False, trust_env=False) as client,
                client.stream("POST", address, json=body, headers=headers) as response,
            ):
                data = bytearray()
                for block in response.iter_bytes():
                    data += block
                    if len(data) > limits.MAX_ANSWER_BYTES:
                        raise AnswererError(f"{address} sent more than an answer holds")
                    if time.monotonic() > deadline:
                        raise _TryAgainError(f"no whole answer in {self.seconds:g} s")
        except httpx2.HTTPError as problem:
            raise _TryAgainError(f"{type(problem).__name__}: {problem}") from None
        if response.is_success:
            return bytes(data)
        text = data[:SHOWN_ERROR].decode(errors="replace").strip()
        message = f"HTTP {response.status_code}: {text}"
        if response.status_code in _PASSING:
            raise _TryAgainError(message, _seconds(response.headers.get("Retry-After")))
        raise AnswererError(f"{address}: {message}", hint=_hint(response.status_code, self))


def _hint(status: int, answerer: RemoteAnswerer) -> str | None:
    if status in (401, 403):
        return f"the key is read from the variable {answerer.key_variable}"
    if status == 404:
        return "the address ends before /chat/completions, as in http://127.0.0.1:11434/v1"
    return None


def _seconds(header: str | None) -> float | None:
    """The seconds of Retry-After; dates are ignored."""
    return float(header) if header is not None and header.isascii() and header.isdigit() else None


def _content(data: bytes, where: str) -> str:
    """The text of the first choice."""
    try:
        value: Any = values(data, where)[0][1]
        content = value["choices"][0]["message"]["content"]
    except (FormatError, LookupError, TypeError) as problem:
        raise AnswererError(
            f"{where} did not answer in the form of chat completions",
            hint=str(problem)[:SHOWN_ERROR],
        ) from None
    if content is None:
        return ""
    if not isinstance(content, str):
        raise AnswererError(f"{where} did not answer with text")
    return content
