"""What does a language model reply, over any OpenAI-compatible service, and what did it take?

``POST {url}/chat/completions``, temperature 0, with one deadline for all attempts (``posting.py``).
The key comes from an environment variable and is never shown.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay import limits
from assay.errors import AssayError, FormatError
from assay.model.answers import Usage, read_usage
from assay.posting import SHOWN_ERROR, PostError, TooLongError, check_address, post
from assay.strict_json import values

_REFUSED_KEY = (401, 403)


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply, and what it took as far as the service says."""

    text: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ChatModel:
    """``model`` at ``url``; ``key_variable`` names the variable with the key.

    A failure is an ``error``; ``without`` tells what else would do where no service answers.
    """

    url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"
    seconds: float = 60.0
    max_tokens: int = 300
    error: type[AssayError] = field(kw_only=True, repr=False)
    without: str = field(kw_only=True, repr=False)

    def __post_init__(self) -> None:
        check_address(self.url, "a language model", "http://127.0.0.1:11434/v1")

    @property
    def name(self) -> str:
        """The model and where it is asked."""
        return f"{self.model}@{self.url}"

    def complete(self, messages: Sequence[Mapping[str, str]], *, json: bool = False) -> Completion:
        """The reply to some messages; ``json`` asks for an object."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(messages),
            "temperature": 0,
            "max_tokens": self.max_tokens,
            "stream": False,
            **({"response_format": {"type": "json_object"}} if json else {}),
        }
        address = f"{self.url.rstrip('/')}/chat/completions"
        try:
            data = post(
                address,
                body,
                seconds=self.seconds,
                most_bytes=limits.MAX_ANSWER_BYTES,
                key=os.environ.get(self.key_variable, ""),
            ).data
        except TooLongError:
            raise self.error(f"{address} sent more than a reply holds") from None
        except PostError as problem:
            raise self.error(f"{address}: {problem}", hint=self._hint(problem.status)) from None
        return self._completion(data)

    def _hint(self, status: int | None) -> str | None:
        if status is None:
            return f"is it running? {self.without}"
        if status in _REFUSED_KEY:
            return f"the key is read from the variable {self.key_variable}"
        if status == 404:
            return "the address ends before /chat/completions, as in http://127.0.0.1:11434/v1"
        return None

    def _completion(self, data: bytes) -> Completion:
        """The text of the first choice, and the tokens."""
        try:
            value: Any = values(data, self.url)[0][1]
            content = value["choices"][0]["message"]["content"]
        except (FormatError, LookupError, TypeError) as problem:
            raise self.error(
                f"{self.url} did not reply in the form of chat completions",
                hint=str(problem)[:SHOWN_ERROR],
            ) from None
        if not isinstance(content, str | None):
            raise self.error(f"{self.url} did not reply with text")
        return Completion(content or "", read_usage(value.get("usage")))
