"""Which candidates does a query's intent boost, and what is their new order?

Boosts multiply the fused score, which is never negative, and the list is sorted again; equal scores
keep their fused order. A candidate that both rules match gets the larger factor, not the product;
the explanation names both. Only candidates about the subject of the query are boosted
(``search/subject.py``); where nobody knows the subject, factors are gentle.

A table counts as one unless it is labelled as the table of another topic: who asks for adverse
events does not ask for tables of pharmacokinetics or baseline characteristics, and who asks for
outcome measures does not ask for lists of adverse events.

Each section that a query names has a place in the first five, in the first ten where there are
several: where the factors alone do not bring the best of them there, it gets the factor that does.
Of adverse events that are asked for as tables, the best is a table. Who asks for what labels say of
a drug, such as doses, finds that section of the drug's own label first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, Protocol, TypeAlias

from assay.evidence.floor import OF_ITS_OWN
from assay.model.names import words
from assay.model.sections import section_of
from assay.search.boost.detect import Detected
from assay.search.boost.lexicon import Lexicon
from assay.search.fusion.fused import Fused, FusedPool
from assay.search.lazy import Lazy
from assay.search.response import INTENT_RULE, TABLE_RULE, Boost
from assay.search.subject import By, Scope

_Matches: TypeAlias = Sequence[tuple[Detected, str]]
_KIND = attrgetter("section_label", "intent_hint", "is_table")
_TABLE_HINT = "ae"  # adverse events count as tables even in running text
FIRST, FIRST_OF_SEVERAL = 5, 10  # places, in which each section that was asked for has one
NEAR_THE_TOP = 50  # places in which the first about the subject is looked for
SUBJECT_RULE = "subject"
# what a table is of by its label; tables of results, outcomes and the like may hold anything
_TOPICS = frozenset({
    *("adverse_events", "dosage", "indications", "dosage_forms", "how_supplied"),
    *("contraindications", "drug_interactions", "specific_populations", "overdosage", "abuse"),
    *("clinical_pharmacology", "nonclinical_toxicology", "ingredients", "package_label"),
    "clinical_studies",
})  # fmt: skip
# and these where the tables that are asked for are those of a section, as in "adverse events"
_OTHER_TOPICS = _TOPICS | {"baseline", "participant_flow", "outcomes", "eligibility"}
OF_LABELS = frozenset({
    *("dosage", "dosage_forms", "overdosage", "indications", "contraindications", "interactions"),
    *("warnings", "boxed_warning", "pharmacology", "storage"),
})  # fmt: skip
GENTLE = 0.1  # the share of a boost that is left where the subject is unknown; see design/033
EVERYTHING = Scope(By.NOTHING)


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


class _Lift(NamedTuple):
    """What happens to a candidate: the rules that match, its factor, and why it is that."""

    matches: _Matches
    factor: float
    reason: str = ""


_SMALLER = "not applied, since a larger factor is"
_NO_LIFT = _Lift((), 1.0)


class Order(Lazy[Boosted]):
    """Candidates in the order of their boosted scores, created on access."""

    def __init__(
        self,
        candidates: FusedPool,
        scores: Sequence[float],
        places: Sequence[int],
        lifts: dict[int, _Lift],
    ) -> None:
        self._candidates = candidates
        self._scores = scores
        self._places = places
        self._lifts = lifts

    def __len__(self) -> int:
        return len(self._places)

    @property
    def keys(self) -> list[int]:
        """The chunk of each candidate, without the rest of it."""
        keys = self._candidates.keys
        return [keys[place] for place in self._places]

    def _made(self, place: int) -> Boosted:
        place = self._places[place]
        boosts = _account(self._lifts.get(place, _NO_LIFT))
        return Boosted(self._candidates[place], self._scores[place], place + 1, boosts)


class Reordered(Lazy[Boosted]):
    """A pool whose first candidates were put into another order; the others are as they were."""

    def __init__(self, first: Sequence[Boosted], pool: Sequence[Boosted]) -> None:
        self._first = first
        self._pool = pool

    def __len__(self) -> int:
        return len(self._pool)

    @property
    def keys(self) -> list[int]:
        """The chunk of each candidate, without the rest of it."""
        return [*(one.fused.key for one in self._first), *keys_of(self._pool)[len(self._first) :]]

    def _made(self, place: int) -> Boosted:
        return self._first[place] if place < len(self._first) else self._pool[place]


def keys_of(pool: Sequence[Boosted]) -> list[int]:
    """The chunk of each candidate of a pool, most of which nobody looks at."""
    if isinstance(pool, Order | Reordered):
        return pool.keys
    return [one.fused.key for one in pool]


def apply_boosts(
    candidates: FusedPool,
    traits: Callable[[int], Traits],
    detected: Sequence[Detected],
    lexicon: Lexicon,
    scope: Scope = EVERYTHING,
) -> Sequence[Boosted]:
    """The candidates in their new order; ``traits`` are those of a candidate's key.

    If nothing was detected, no traits are fetched.
    """
    scores = candidates.scores
    if not detected:
        return Order(candidates, scores, range(len(scores)), {})
    every = [*map(traits, candidates.keys)]
    kinds = [*map(_KIND, every)]  # many candidates are of few kinds: each is judged once
    distinct = dict(zip(kinds, every, strict=True))
    others = _OTHER_TOPICS if _is_of_section(detected) else _TOPICS
    matches = {kind: _matches(has, detected, lexicon, others) for kind, has in distinct.items()}
    matched = {at: found for at, kind in enumerate(kinds) if (found := matches[kind])}
    lifts = _lifts(matched, scope)
    for at, lift in lifts.items():
        scores[at] *= lift.factor
    # stable: equal scores keep their places
    places = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    sections = [one for one in detected if one.rule == INTENT_RULE]
    if sections and not scope.is_description:
        _place_sections(sections, candidates.scores, scores, places, lifts)
    of_label = len(sections) == 1 and sections[0].intent in OF_LABELS
    if of_label or scope.is_name:
        main = _main(sections[0], every, lexicon) if of_label else None
        # what is said of a drug in documents about it is not said where others mention it
        asked = {one.intent for one in sections}
        is_own = scope.is_mentioned and bool(asked) and asked <= OF_ITS_OWN
        _place_subject(
            scope, candidates.scores, scores, places, lifts, main=main, only_lifted=is_own
        )
    return Order(candidates, scores, places, lifts)


def _lifts(matched: dict[int, _Matches], scope: Scope) -> dict[int, _Lift]:
    """What happens to each candidate that a rule matches."""
    about = scope.about(matched)
    unknown = scope.is_description and not any(about.values())
    # candidates of one kind share their matches, and what becomes of them
    distinct = {id(has): has for has in matched.values()}
    other = {at: _Lift(has, 1.0, _not_lifted(scope)) for at, has in distinct.items()}
    own = {at: _Lift(has, has[0][0].factor) for at, has in distinct.items()}
    lifts = {at: (own if about[at] else other)[id(has)] for at, has in matched.items()}
    if unknown:
        reason = f"gently, since the subject is unknown: nothing here is about {scope.named}"
        gently = {at: _Lift(has, _gentle(has), reason) for at, has in distinct.items()}
        lifts.update((at, gently[id(matched[at])]) for at in scope.mentioning([*matched]))
    return lifts


def _gentle(matches: _Matches) -> float:
    return 1.0 + GENTLE * (matches[0][0].factor - 1.0)


def _not_lifted(scope: Scope) -> str:
    if scope.by is By.TITLE:
        return "not lifted: the query is the title of a document"
    return f"not lifted: about another subject (not {', '.join(scope.terms)})"


def _place_sections(
    sections: Sequence[Detected],
    fused: Sequence[float],
    scores: list[float],
    places: list[int],
    lifts: dict[int, _Lift],
) -> None:
    """Bring the best of each section that was asked for into the first places.

    They come before the last of the others there, as many of these as are in their way.
    """
    count = FIRST if len(sections) == 1 else FIRST_OF_SEVERAL
    lifted = [at for at in places if at in lifts and lifts[at].factor > 1.0 and scores[at] > 0.0]
    best: dict[int, Detected] = {}
    for one in sections:
        having = _best_of(one, lifted, lifts)
        if having:
            best.setdefault(having[0], one)
    first = places[:count]
    missing = len(best) - len(best.keys() & first)
    others = [n for n, at in enumerate(first) if at not in best]
    if not missing or not others:
        return
    to = others[-missing:][0]
    level = scores[places[to]]
    raised = [at for at in places[to:] if at in best]
    places[to:] = raised + [at for at in places[to:] if at not in best]
    for at in raised:
        one = best[at]
        scores[at] = level
        matches = sorted(lifts[at].matches, key=lambda pair: pair[0].intent != one.intent)
        reason = f"the best of {one.intent.replace('_', ' ')} has a place in the first {count}"
        lifts[at] = _Lift(matches, level / fused[at], reason)


def _place_subject(
    scope: Scope,
    fused: Sequence[float],
    scores: list[float],
    places: list[int],
    lifts: dict[int, _Lift],
    *,
    main: frozenset[int] | None,
    only_lifted: bool = False,
) -> None:
    """Bring the best candidate about the subject to the first place, where none is there.

    With ``only_lifted``, one of a section that was asked for. Where ``main`` is given, that is what
    the drug's own label says, if it has the section: one of ``main``, if it has any of these.
    """
    near = [at for at in places[:NEAR_THE_TOP] if scores[at] > 0.0]
    lifted = [at for at in near if at in lifts and lifts[at].factor > 1.0]
    own = scope.own(lifted) if main is not None else set()
    first = own & main if main else set()
    if own and main and not first:  # the label has a section that is more than near to it
        far = [at for at in places if at in main and at in lifts and scores[at] > 0.0]
        first = scope.own(far)
        near += [at for at in far if at in first]
    first = first or own
    if not first and scope.is_name:
        among = near if scope.is_certain and not only_lifted else lifted
        first = {at for at, is_about in scope.about(among).items() if is_about}
    best = next((at for at in near if at in first), None)
    if best is None or best == places[0]:
        return
    scores[best] = scores[places[0]]
    places.remove(best)
    places.insert(0, best)
    by = Detected(SUBJECT_RULE, SUBJECT_RULE, 1.0, scores[best] / fused[best], scope.named)
    matches = [(by, f"{scope.by}={scope.named}"), *lifts.get(best, _NO_LIFT).matches]
    reason = f"the first place is for what is about {scope.named}"
    lifts[best] = _Lift(matches, by.factor, reason)


def _main(one: Detected, every: Sequence[Traits], lexicon: Lexicon) -> frozenset[int]:
    """The candidates in the first of the sections that answer an intent."""
    main = lexicon.intents[one.intent].sections[:1]
    return frozenset(
        at
        for at, has in enumerate(every)
        if has.section_label and section_of(has.section_label) in main
    )


def _best_of(one: Detected, places: Sequence[int], lifts: Mapping[int, _Lift]) -> list[int]:
    """The candidates of an intent, in order; only tables where it is asked for as tables."""
    having = [at for at in places if any(m.intent == one.intent for m, _ in lifts[at].matches)]
    tables = [at for at in having if any(m.rule == TABLE_RULE for m, _ in lifts[at].matches)]
    return tables or having


def _matches(
    traits: Traits, detected: Sequence[Detected], lexicon: Lexicon, others: frozenset[str]
) -> _Matches:
    """Every rule that matches, and by what; the largest factor, which applies, comes first.

    ``others`` are the sections whose tables are not those that are asked for.
    """
    found = []
    sections = False
    for one in reversed(detected):  # tables come first there
        if one.rule == TABLE_RULE:
            of_another = any(d.rule == INTENT_RULE for d in detected) and not sections
            matched = _as_table(traits, others if of_another else frozenset())
        else:
            matched = _as_section(traits, one, lexicon)
            sections = sections or bool(matched)
        if matched:
            found.append((one, matched))
    if len(found) > 1:
        found.sort(key=lambda pair: -pair[0].factor)
    return found


def _account(lift: _Lift) -> tuple[Boost, ...]:
    """The first rule with the factor that was applied, if any was; the others beside it."""
    lifted = lift.factor > 1.0
    return tuple(
        Boost(
            one.rule,
            one.intent,
            one.confidence,
            lift.factor if lifted and at == 0 else one.factor,
            matched,
            applied=lifted and at == 0,
            reason=_SMALLER if lifted and at else lift.reason,
        )
        for at, (one, matched) in enumerate(lift.matches)
    )


def _is_of_section(detected: Sequence[Detected]) -> bool:
    """Whether the words that ask for tables are those that ask for a section."""
    spoken = {words(one.phrase) for one in detected if one.rule == INTENT_RULE}
    return any(words(one.phrase) in spoken for one in detected if one.rule == TABLE_RULE)


def _as_table(traits: Traits, others: frozenset[str]) -> str:
    """How it counts as a table; none of the other sections does."""
    if section_of(traits.section_label) in others:
        return ""
    if traits.is_table:
        return "is_table"
    return f"intent_hint={_TABLE_HINT}" if traits.intent_hint == _TABLE_HINT else ""


def _as_section(traits: Traits, one: Detected, lexicon: Lexicon) -> str:
    intent = lexicon.intents[one.intent]
    if traits.section_label and section_of(traits.section_label) in intent.sections:
        return f"section_label={traits.section_label}"
    return f"intent_hint={traits.intent_hint}" if traits.intent_hint in intent.hints else ""
