"""What does a language model reply, over any OpenAI-compatible service, and what did it take?

``POST {url}/chat/completions``, temperature 0, with one deadline for all attempts (``posting.py``).
The key comes from an environment variable and is never shown.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay import limits
from assay.errors import FormatError, JudgeError
from assay.model.answers import Usage
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
    """``model`` at ``url``; ``key_variable`` names the variable with the key."""

    url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"
    seconds: float = 60.0
    max_tokens: int = 300

    def __post_init__(self) -> None:
        check_address(self.url, "a judge", "http://127.0.0.1:11434/v1")

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
            raise JudgeError(f"{address} sent more than a reply holds") from None
        except PostError as problem:
            raise JudgeError(f"{address}: {problem}", hint=self._hint(problem.status)) from None
        return _completion(data, self.url)

    def _hint(self, status: int | None) -> str | None:
        if status is None:
            return "is it running? a judge that needs no service: entailment"
        if status in _REFUSED_KEY:
            return f"the key is read from the variable {self.key_variable}"
        if status == 404:
            return "the address ends before /chat/completions, as in http://127.0.0.1:11434/v1"
        return None


def _completion(data: bytes, where: str) -> Completion:
    """The text of the first choice, and the tokens."""
    try:
        value: Any = values(data, where)[0][1]
        content = value["choices"][0]["message"]["content"]
    except (FormatError, LookupError, TypeError) as problem:
        raise JudgeError(
            f"{where} did not reply in the form of chat completions",
            hint=str(problem)[:SHOWN_ERROR],
        ) from None
    return Completion(content if isinstance(content, str) else "", _usage(value.get("usage")))


def _usage(said: Any) -> Usage | None:
    """Tokens and cost where the service says them in a usual form."""
    if not isinstance(said, Mapping):
        return None

    def count(name: str) -> int | None:
        value = said.get(name)
        return value if type(value) is int and value >= 0 else None

    cost = said.get("cost")
    usable = isinstance(cost, (int, float)) and not isinstance(cost, bool) and cost >= 0
    given, taken = count("prompt_tokens"), count("completion_tokens")
    total = count("total_tokens")
    if total is None and given is not None and taken is not None:
        total = given + taken
    found = Usage(float(cost) if usable and cost is not None else None, total, given, taken)
    return None if found == Usage() else found
