"""Which candidates does a query's intent lift, and what is the order then?

Boosts multiply the fused score, which is never negative, and the list is sorted again; equal scores
keep their fused order. A candidate that both rules match takes the larger factor, not the product;
the account names both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple, Protocol

from assay.ingest.sections import LABELS, label_of
from assay.search.boost.detect import TABLE_RULE, Detected
from assay.search.boost.lexicon import Lexicon
from assay.search.fusion.fused import Fused
from assay.search.response import Boost

_TABLE_HINT = "ae"  # adverse events count as tables even where they are told in a sentence


class Traits(Protocol):
    """What boosts look at; a chunk has it all."""

    @property
    def is_table(self) -> bool:
        """Whether it is a table."""

    @property
    def section_label(self) -> str:
        """The kind of section, from the closed vocabulary or in the author's words."""

    @property
    def intent_hint(self) -> str:
        """Which clinical question it answers."""


class Boosted(NamedTuple):
    """A candidate after boosts; ``rank_fused`` is where it stood before, from 1."""

    fused: Fused
    score: float
    rank_fused: int
    boosts: tuple[Boost, ...] = ()


def apply_boosts(
    candidates: Sequence[Fused],
    traits: Callable[[int], Traits],
    detected: Sequence[Detected],
    lexicon: Lexicon,
) -> list[Boosted]:
    """The candidates in their new order; ``traits`` answers for a candidate's key.

    Where nothing was detected no trait is asked for.
    """
    if not detected:
        return [Boosted(one, one.score, rank) for rank, one in enumerate(candidates, start=1)]
    rows = []
    # candidates are of few kinds, and each kind is judged once
    known: dict[tuple[bool, str, str], tuple[float, tuple[Boost, ...]]] = {}
    for rank, one in enumerate(candidates, start=1):
        has = traits(one.key)
        kind = (has.is_table, has.section_label, has.intent_hint)
        found = known.get(kind)
        if found is None:
            boosts = _boosts(has, detected, lexicon)
            found = known[kind] = (boosts[0].factor if boosts else 1.0, boosts)
        rows.append(Boosted(one, one.score * found[0], rank, found[1]))
    rows.sort(key=attrgetter("score"), reverse=True)  # stable: equal scores keep their places
    return rows


def _boosts(traits: Traits, detected: Sequence[Detected], lexicon: Lexicon) -> tuple[Boost, ...]:
    """Every rule that matches, the largest factor first; that one is applied."""
    found = []
    for one in detected:
        matched = _as_table(traits) if one.rule == TABLE_RULE else _as_section(traits, one, lexicon)
        if matched:
            found.append((one, matched))
    found.sort(key=lambda pair: -pair[0].factor)
    return tuple(
        Boost(one.rule, one.intent, one.confidence, one.factor, matched, applied=at == 0)
        for at, (one, matched) in enumerate(found)
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
