"""Who is told that a search, an answer or an evaluation began and ended?

Nobody, until a program asks: ``assay.opentelemetry.instrument`` puts a listener here. A verb opens
a span and notes what came of it; without a listener that costs nothing worth measuring. The words
of queries and documents are never noted.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeAlias

Fact: TypeAlias = str | bool | int | float | list[str]


class Span(Protocol):
    """One piece of work while it lasts."""

    def note(self, name: str, value: Fact | None) -> None:
        """Note a fact; None is not noted."""


class Unheard:
    """The span of work that nobody listens to."""

    def note(self, name: str, value: Fact | None) -> None:
        """Note nothing."""


Listener: TypeAlias = Callable[[str], AbstractContextManager[Span]]
_NOBODY: AbstractContextManager[Span] = nullcontext(Unheard())
_listener: Listener | None = None


def listen(listener: Listener | None) -> None:
    """From now on, this listener is told of every span; None is nobody."""
    global _listener  # noqa: PLW0603 - one process has one listener, as it has one tracer
    _listener = listener


def span(name: str) -> AbstractContextManager[Span]:
    """A piece of work that begins and ends, told to whoever listens."""
    return _NOBODY if _listener is None else _listener(name)
