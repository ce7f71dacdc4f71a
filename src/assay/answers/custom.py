"""How does a Python function become an answerer?

It takes the question and the passages and returns an ``Answer``, a text, or a mapping with
``text``, ``citations``, ``grounded`` and ``refusal_reason``; it may be a coroutine function.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.errors import AnswererError, AssayError
from assay.model.answers import Answer, Passage, read_answer
from assay.time_limit import TimeLimit

SECONDS = 60.0


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
