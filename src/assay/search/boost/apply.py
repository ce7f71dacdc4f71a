"""Which candidates does a query's intent boost, and what is their new order?

Boosts multiply the fused score, which is never negative, and the list is sorted again; equal scores
keep their fused order. A candidate that both rules match gets the larger factor, not the product;
the explanation names both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeAlias, overload

from assay.ingest.sections import LABELS, label_of
from assay.search.boost.detect import TABLE_RULE, Detected
from assay.search.boost.lexicon import Lexicon
from assay.search.fusion.fused import Fused, FusedPool
from assay.search.response import Boost

_Matches: TypeAlias = Sequence[tuple[Detected, str]]
_TABLE_HINT = "ae"  # adverse events count as tables even in running text


class Traits(Protocol):
    """The properties of a chunk that boosts look at."""

    @property
    def is_table(self) -> bool:
        """Whether the chunk is a table."""

    @property
    def section_label(self) -> str:
        """The kind of section, from the closed vocabulary or in the author's words."""

    @property
    def intent_hint(self) -> str:
        """Which clinical question the chunk answers."""


class Boosted(NamedTuple):
    """A candidate after boosts; ``rank_fused`` is its rank before, from 1."""

    fused: Fused
    score: float
    rank_fused: int
    boosts: tuple[Boost, ...] = ()


class Order(Sequence[Boosted]):
    """Candidates in the order of their boosted scores, created on access."""

    def __init__(
        self,
        candidates: FusedPool,
        scores: Sequence[float],
        matches: Sequence[_Matches],
    ) -> None:
        self._candidates = candidates
        self._scores = scores
        self._matches = matches
        # stable: equal scores keep their places
        self._places = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> Boosted: ...
    @overload
    def __getitem__(self, at: slice) -> list[Boosted]: ...
    def __getitem__(self, at: int | slice) -> Boosted | list[Boosted]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        place = self._places[at]
        boosts = _account(self._matches[place])
        return Boosted(self._candidates[place], self._scores[place], place + 1, boosts)


def apply_boosts(
    candidates: FusedPool,
    traits: Callable[[int], Traits],
    detected: Sequence[Detected],
    lexicon: Lexicon,
) -> Sequence[Boosted]:
    """The candidates in their new order; ``traits`` are those of a candidate's key.

    If nothing was detected, no traits are fetched.
    """
    if not detected:
        return Order(candidates, candidates.scores, [()] * len(candidates))
    every = [*map(traits, candidates.keys)]
    # many candidates share few values: each is judged once, and kept alive while its id is a key
    distinct = {id(has): has for has in every}
    matches = {at: _matches(has, detected, lexicon) for at, has in distinct.items()}
    factors = {at: found[0][0].factor if found else 1.0 for at, found in matches.items()}
    ids = [*map(id, every)]
    scores = [score * factors[at] for score, at in zip(candidates.scores, ids, strict=True)]
    return Order(candidates, scores, [matches[at] for at in ids])


def _matches(traits: Traits, detected: Sequence[Detected], lexicon: Lexicon) -> _Matches:
    """Every rule that matches, and by what; the largest factor, which applies, comes first."""
    found = []
    for one in detected:
        matched = _as_table(traits) if one.rule == TABLE_RULE else _as_section(traits, one, lexicon)
        if matched:
            found.append((one, matched))
    if len(found) > 1:
        found.sort(key=lambda pair: -pair[0].factor)
    return found


def _account(matches: _Matches) -> tuple[Boost, ...]:
    return tuple(
        Boost(one.rule, one.intent, one.confidence, one.factor, matched, applied=at == 0)
        for at, (one, matched) in enumerate(matches)
    )


def _as_table(traits: Traits) -> str:
    if traits.is_table:
        return "is_table"
    return f"intent_hint={_TABLE_HINT}" if traits.intent_hint == _TABLE_HINT else ""


def _as_section(traits: Traits, one: Detected, lexicon: Lexicon) -> str:
    intent = lexicon.intents[one.intent]
    if traits.section_label and canonical_label(traits.section_label) in intent.sections:
        return f"section_label={traits.section_label}"
    return f"intent_hint={traits.intent_hint}" if traits.intent_hint in intent.hints else ""


@lru_cache(maxsize=4096)
def canonical_label(label: str) -> str:
    """Our label for a section in the author's words: "Eligibility Criteria" is eligibility."""
    return label if label in LABELS else label_of(label)
