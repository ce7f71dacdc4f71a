"""Which claims of one run's answers does the judge see otherwise in another's?

Claims of the same query are paired: those in the same words first, then those that share most of
their words, as where only a number differs. A pair that is supported on one side only has flipped.
A claim that only one side makes counts where it is not supported: the answer got worse or better.
A claim that is gone since the later run refuses a question that has an answer is no gain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

from assay.model.judges import JudgedClaim
from assay.model.runs import QueryOutcome

ALIKE = 0.5  # shared words of a pair, of all words of both
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim before and after; None where only the other run makes it."""

    query_id: str
    change: Literal["worse", "better"]
    before: JudgedClaim | None
    after: JudgedClaim | None

    @property
    def flipped(self) -> bool:
        """Whether both runs make the claim, and it is supported in one of them."""
        return self.before is not None and self.after is not None

    @property
    def words(self) -> str:
        """What it was, and what became of it."""
        return " → ".join(_words(claim) for claim in (self.before, self.after))

    def __str__(self) -> str:
        return f"{self.query_id}: {self.words}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "query_id": self.query_id,
            "change": self.change,
            "flipped": self.flipped,
            "before": _plain(self.before),
            "after": _plain(self.after),
        }


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """A query that one run answered and the other refused, or could not answer."""

    query_id: str
    before: Literal["answered", "refused", "failed"]
    after: Literal["answered", "refused", "failed"]

    def to_dict(self) -> dict[str, str]:
        """JSON-ready."""
        return {"query_id": self.query_id, "before": self.before, "after": self.after}


def answer_changes(
    a: Mapping[str, QueryOutcome], b: Mapping[str, QueryOutcome]
) -> tuple[AnswerChange, ...]:
    """Where the runs differ in whether they answer; what either was not asked is left out."""
    found = []
    for query_id in sorted(a.keys() & b.keys()):
        before, after = (_answered(side[query_id]) for side in (a, b))
        if before is not None and after is not None and before != after:
            found.append(AnswerChange(query_id, before, after))
    return tuple(found)


def _answered(outcome: QueryOutcome) -> Literal["answered", "refused", "failed"] | None:
    if outcome.answer_error is not None:
        return "failed"
    if outcome.answer is None:
        return None
    return "answered" if outcome.answer.grounded else "refused"


def claim_changes(
    a: Mapping[str, QueryOutcome],
    b: Mapping[str, QueryOutcome],
    answerable: Set[str] = frozenset(),
) -> tuple[ClaimChange, ...]:
    """What changed from a to b, in the order of b; only where both answers were judged.

    ``answerable`` are the queries that should not be refused.
    """
    return tuple(
        change
        for name, outcome in b.items()
        if (before := a.get(name)) is not None
        and before.judged is not None
        and outcome.judged is not None
        and not (name in answerable and _refused(outcome))
        for change in _of_query(name, before.judged.claims, outcome.judged.claims)
    )


def _refused(outcome: QueryOutcome) -> bool:
    return outcome.answer is not None and not outcome.answer.grounded


def _of_query(
    name: str, before: Sequence[JudgedClaim], after: Sequence[JudgedClaim]
) -> Iterator[ClaimChange]:
    pairs = _pairs(before, after)
    for old, new in pairs:
        if old.supported != new.supported:
            yield ClaimChange(name, "better" if new.supported else "worse", old, new)
    paired = {id(claim) for pair in pairs for claim in pair}
    for claim in after:
        if id(claim) not in paired and not claim.supported:
            yield ClaimChange(name, "worse", None, claim)
    for claim in before:
        if id(claim) not in paired and not claim.supported:
            yield ClaimChange(name, "better", claim, None)


def _pairs(
    before: Sequence[JudgedClaim], after: Sequence[JudgedClaim]
) -> list[tuple[JudgedClaim, JudgedClaim]]:
    """The most alike first; each claim is in one pair at most."""
    scored = sorted(
        (
            (-share, at, to)
            for at, old in enumerate(before)
            for to, new in enumerate(after)
            if (share := _alike(old.text, new.text)) >= ALIKE
        ),
    )
    taken_before: set[int] = set()
    taken_after: set[int] = set()
    pairs = []
    for _, at, to in scored:
        if at not in taken_before and to not in taken_after:
            taken_before.add(at)
            taken_after.add(to)
            pairs.append((before[at], after[to]))
    return pairs


def _alike(one: str, other: str) -> float:
    if one == other:
        return 1.0
    first, second = (set(_WORD.findall(text.lower())) for text in (one, other))
    return len(first & second) / len(first | second) if first | second else 0.0


def _words(claim: JudgedClaim | None) -> str:
    return "(not said)" if claim is None else f"“{claim.text}” ({claim.label})"


def _plain(claim: JudgedClaim | None) -> dict[str, Any] | None:
    if claim is None:
        return None
    return {
        "text": claim.text,
        "label": claim.label.value,
        "citations": list(claim.citations),
        "reasons": {name: one.reason for name, one in claim.opinions.items() if one.reason},
    }
