"""Does anybody still wait for this computation?

Whoever starts one on a thread says how that is told; long loops ask now and then, and end where
nobody waits any longer. Work that nobody asks about goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_given_up: ContextVar[Callable[[], bool] | None] = ContextVar("given_up", default=None)


class GivenUpError(Exception):
    """Nobody waits for the result."""


@contextmanager
def until(given_up: Callable[[], bool]) -> Iterator[None]:
    """Let loops in this block end once ``given_up`` says so."""
    token = _given_up.set(given_up)
    try:
        yield
    finally:
        _given_up.reset(token)


def check() -> None:
    """Raise where nobody waits; called between pieces of a long computation."""
    given_up = _given_up.get()
    if given_up is not None and given_up():
        raise GivenUpError
