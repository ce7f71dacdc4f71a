"""What is known of a question while it is on its way?"""

from __future__ import annotations

from dataclasses import dataclass

from assay.model.query import Hit
from assay.search.coordinator import Request
from assay.search.question import Question
from assay.search.request import SearchOptions
from assay.search.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted, and which generation answers; ``identity`` is that of the options."""

    question: Question
    options: SearchOptions
    snapshot: Snapshot
    started: float
    identity: str

    def key(self, generation: str) -> tuple[str, str, str]:
        """The same for questions with the same answer."""
        return generation, self.question.written, self.identity


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The lists that are known, and what has to be asked of the other components."""

    known: dict[str, tuple[Hit, ...]]
    unknown: dict[str, Request]
