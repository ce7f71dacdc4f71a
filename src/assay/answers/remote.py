"""How does an OpenAI-compatible service answer a question?

``POST {url}/chat/completions``, temperature 0, with one deadline for all attempts (``posting.py``).
The key comes from an environment variable and is never shown.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay import limits
from assay.answers import prompt
from assay.errors import AnswererError, FormatError
from assay.model.answers import Answer, Passage
from assay.posting import SHOWN_ERROR, PostError, TooLongError, check_address, post
from assay.strict_json import values


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
        check_address(self.url, "an answerer", "http://127.0.0.1:11434/v1")

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
        address = f"{self.url.rstrip('/')}/chat/completions"
        try:
            return post(
                address,
                body,
                seconds=self.seconds,
                most_bytes=limits.MAX_ANSWER_BYTES,
                key=os.environ.get(self.key_variable, ""),
            ).data
        except TooLongError:
            raise AnswererError(f"{address} sent more than an answer holds") from None
        except PostError as problem:
            if problem.status is None:
                raise AnswererError(
                    f"{self.url} {problem}",
                    hint="is it running? --answerer extractive needs no service",
                ) from None
            raise AnswererError(f"{address}: {problem}", hint=_hint(problem.status, self)) from None


def _hint(status: int, answerer: RemoteAnswerer) -> str | None:
    if status in (401, 403):
        return f"the key is read from the variable {answerer.key_variable}"
    if status == 404:
        return "the address ends before /chat/completions, as in http://127.0.0.1:11434/v1"
    return None


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
