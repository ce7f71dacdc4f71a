"""What did a system say, and what should it have done?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, TypeVar

from assay.errors import InputError
from assay.model.document import Chunk

N = TypeVar("N", int, float)


class Expect(Enum):
    """What a good system does with a query."""

    EVIDENCE = "evidence"
    REFUSAL = "refusal"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Usage:
    """What asking a system took, as far as it says: money in its own unit, and tokens."""

    cost: float | None = None
    tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system said, and what it rests on; ``[2]`` in the text is the second citation.

    ``usage`` is what the answerer says that it took.
    """

    text: str
    citations: tuple[str, ...] = ()
    grounded: bool = True
    refusal_reason: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """How many numbers an answer states, and those that no cited passage has (the first few).

    ``misstated`` counts those that do not stand, with their unit, in a passage that their own
    sentence cites; None where that was not looked at.
    """

    stated: int
    unsupported: tuple[str, ...] = ()
    misstated: int | None = None


TOKEN_NAMES = {
    "tokens": ("total_tokens", "tokens"),
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
}
COST_NAMES = ("cost", "total_cost")


def read_usage(said: Any) -> Usage | None:
    """What a service or function says that it took; what has no usual form is left out."""
    if not isinstance(said, Mapping):
        return None
    counts = {name: _whole(said, names) for name, names in TOKEN_NAMES.items()}
    if counts["tokens"] is None and None not in (counts["input_tokens"], counts["output_tokens"]):
        counts["tokens"] = _sum(counts["input_tokens"], counts["output_tokens"])
    costs = (said.get(name) for name in COST_NAMES)
    found = Usage(next((float(one) for one in costs if _is_amount(one)), None), **counts)
    return None if found == Usage() else found


def _whole(said: Mapping[str, Any], names: Sequence[str]) -> int | None:
    values = (said.get(name) for name in names)
    return next((one for one in values if type(one) is int and one >= 0), None)


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < math.inf


def added_usage(first: Usage | None, second: Usage | None) -> Usage | None:
    """What two requests took together; what neither says stays unknown."""
    if first is None or second is None:
        return first or second
    return Usage(
        _sum(first.cost, second.cost),
        _sum(first.tokens, second.tokens),
        _sum(first.input_tokens, second.input_tokens),
        _sum(first.output_tokens, second.output_tokens),
    )


def _sum(first: N | None, second: N | None) -> N | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


@dataclass(frozen=True, slots=True)
class Passage:
    """One result of a search, as an answerer sees it; best first in any list of them.

    ``is_asked_for`` where it is of a section that the question asks for, about its subject.
    """

    chunk: Chunk
    score: float = 0.0
    component_scores: Mapping[str, float | None] = field(default_factory=dict)
    is_asked_for: bool = False


_KEYS = ("text", "citations", "grounded", "refusal_reason", "usage")


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
    usage = said.get("usage")
    told = usage if isinstance(usage, Usage) else read_usage(usage)
    return Answer(text, tuple(citations), grounded, reason, told)


def _hint() -> str:
    return (
        "return {text: str, citations: [chunk ids], grounded: bool, refusal_reason: str or None, "
        "usage: {total_tokens: int, cost: float}}"
    )


class Answerer(Protocol):
    """Says what passages answer to a question, citing chunk ids, or refuses with a reason."""

    @property
    def name(self) -> str:
        """Names everything that changes an answer, for the record of a run."""

    def answer(self, question: str, passages: Sequence[Passage]) -> Answer:
        """The answer; an error of the answerer is an ``AssayError``."""
