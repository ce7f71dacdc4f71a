"""How does a Python function become an answerer?

It takes the question and the passages and returns an ``Answer``, a text, or a mapping with
``text``, ``citations``, ``grounded``, ``refusal_reason`` and ``usage``; it may be a coroutine
function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from assay.errors import AnswererError, AssayError
from assay.model.answers import Answer, Passage, read_answer
from assay.user_code import TimedFunction


class CallableAnswerer(TimedFunction):
    """Calls a function, and checks what it returns."""

    error: ClassVar[type[AssayError]] = AnswererError
    takes: ClassVar[str] = "the question and the passages"

    def answer(self, question: str, passages: Sequence[Passage]) -> Answer:
        """The function's answer."""
        return read_answer(self.call(question, passages), self.called)
