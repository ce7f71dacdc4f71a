"""How does a Python function become an answerer?

It takes the question and the passages and returns an ``Answer``, a text, or a mapping with
``text``, ``citations``, ``grounded`` and ``refusal_reason``; it may be a coroutine function.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.errors import AnswererError, AssayError, InputError
from assay.model.answers import Answer, Passage
from assay.time_limit import TimeLimit

SECONDS = 60.0
_KEYS = ("text", "citations", "grounded", "refusal_reason")


@dataclass(frozen=True, slots=True)
class CallableAnswerer:
    """Calls a function, and checks what it returns; a call gets ``seconds``.

    ``code`` identifies the function's code. Where nobody knows it, no two answerers have the same
    name: what one said does not tell what another would say.
    """

    function: Callable[[str, Sequence[Passage]], Any]
    label: str = ""
    code: str | None = None
    seconds: float = SECONDS
    _limit: TimeLimit = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", self.code or f"unknown-{secrets.token_hex(6)}")
        object.__setattr__(self, "_limit", TimeLimit(self.seconds))

    @property
    def name(self) -> str:
        """Identifies everything known to affect an answer."""
        return f"{self._called}(code={self.code})"

    @property
    def _called(self) -> str:
        """The function's own name, or a given label."""
        module = getattr(self.function, "__module__", "?")
        return self.label or f"{module}:{getattr(self.function, '__qualname__', '?')}"

    def answer(self, question: str, passages: Sequence[Passage]) -> Answer:
        """The function's answer; its exceptions become an error that names it."""
        try:
            return self._limit.call(
                lambda resolve: read_answer(
                    resolve(self.function(question, passages)), self._called
                )
            )
        except AssayError:
            raise
        except (Exception, SystemExit) as problem:  # user code
            raise AnswererError(
                f"{self._called} failed: {type(problem).__name__}: {problem!s:.200}",
                hint="it gets the question and the passages; ASSAY_DEBUG=1 shows where it failed",
            ) from problem


def read_answer(said: Any, who: str) -> Answer:
    """Build an answer from what a function or service returned."""
    if isinstance(said, Answer):
        return said
    if isinstance(said, str):
        return Answer(said)
    if not isinstance(said, Mapping):
        raise InputError(f"{who} returned a {type(said).__name__}, not an answer", hint=_hint())
    if unknown := sorted(str(key) for key in said if key not in _KEYS):
        raise InputError(f"{who} returned unknown keys: {', '.join(unknown)}", hint=_hint())
    text, citations = said.get("text", ""), said.get("citations", ())
    grounded, reason = said.get("grounded", True), said.get("refusal_reason")
    cited = isinstance(citations, (list, tuple)) and all(isinstance(one, str) for one in citations)
    explained = reason is None or isinstance(reason, str)
    if not isinstance(text, str) or not cited or not isinstance(grounded, bool) or not explained:
        raise InputError(f"{who} returned an answer of the wrong form", hint=_hint())
    return Answer(text, tuple(citations), grounded, reason)


def _hint() -> str:
    return "return {text: str, citations: [chunk ids], grounded: bool, refusal_reason: str or None}"
