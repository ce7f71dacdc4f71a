"""What is one fuzzing harness: which parser, from which sound inputs, and why?"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from assay import limits

Target: TypeAlias = Callable[[Path, random.Random], str]


@dataclass(frozen=True, slots=True)
class Harness:
    """``read`` gets the path of a changed seed and says in a word what it was; it may only raise
    an ``AssayError``. ``share`` says how often it is drawn where all harnesses run together.
    """

    name: str
    target: str
    why: str
    read: Target
    seeds: tuple[bytes, ...]
    file: str = "input"
    share: int = 1


@contextmanager
def changed(**values: int) -> Iterator[None]:
    """Limits with other values for a while."""
    before = {name: getattr(limits, name) for name in values}
    try:
        for name, value in values.items():
            setattr(limits, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(limits, name, value)
