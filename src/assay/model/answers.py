"""What did a system say, and what should it have done?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from assay.model.document import Chunk


class Expect(Enum):
    """What a good system does with a query."""

    EVIDENCE = "evidence"
    REFUSAL = "refusal"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system said, and what it rests on; ``[2]`` in the text is the second citation."""

    text: str
    citations: tuple[str, ...] = ()
    grounded: bool = True
    refusal_reason: str | None = None


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """How many numbers an answer states, and those that no cited passage has (the first few).

    ``misstated`` counts those that do not stand, with their unit, in a passage that their own
    sentence cites; None where that was not looked at.
    """

    stated: int
    unsupported: tuple[str, ...] = ()
    misstated: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What asking a system took, as far as it says: money in its own unit, and tokens."""

    cost: float | None = None
    tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """One result of a search, as an answerer sees it; best first in any list of them.

    ``is_asked_for`` where it is of a section that the question asks for, about its subject.
    """

    chunk: Chunk
    score: float = 0.0
    component_scores: Mapping[str, float | None] = field(default_factory=dict)
    is_asked_for: bool = False


class Answerer(Protocol):
    """Says what passages answer to a question, citing chunk ids, or refuses with a reason."""

    @property
    def name(self) -> str:
        """Names everything that changes an answer, for the record of a run."""

    def answer(self, question: str, passages: Sequence[Passage]) -> Answer:
        """The answer; an error of the answerer is an ``AssayError``."""
