"""What is one bad input, and what must come of it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tests.badinputs.ways import Bench

DONE, REFUSED = 0, 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended (exit code or HTTP status), and everything that was said."""

    code: int
    said: str


Way: TypeAlias = "Callable[[Bench, Any], Outcome]"


@dataclass(frozen=True, slots=True)
class Case:
    """One bad input: ``name`` is what is asked for, behind a slash which variant of it.

    ``given`` is the input, or makes it; ``way`` hands it over. ``says`` is part of the answer.
    """

    name: str
    way: Way
    given: Any
    code: int
    says: str

    @property
    def asked(self) -> str:
        """The id in ``asked.py`` that this case belongs to."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Covered:
    """What a test elsewhere shows, since it needs more than an input and an answer."""

    name: str
    test: str

    @property
    def asked(self) -> str:
        """The id in ``asked.py`` that this test belongs to."""
        return self.name.partition("/")[0]


Entry: TypeAlias = Case | Covered


def refused(name: str, way: Way, given: Any, says: str, code: int = REFUSED) -> Case:
    """Must be refused, with these words."""
    return Case(name, way, given, code, says)


def accepted(name: str, way: Way, given: Any, says: str = "", code: int = DONE) -> Case:
    """Odd, but must be taken, with these words in the answer."""
    return Case(name, way, given, code, says)
