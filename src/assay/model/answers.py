"""What did a system say, and what should it have done?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Expect(Enum):
    """What a good system does with a query."""

    EVIDENCE = "evidence"
    REFUSAL = "refusal"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system said, and what it says it rests on."""

    text: str
    citations: tuple[str, ...] = ()
    grounded: bool = True
    refusal_reason: str | None = None
