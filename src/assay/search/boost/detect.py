"""What does a query ask for: tables, or one kind of section?

Two rules apply to the query. The table rule (``tabular``) boosts tables by ``1 + 2 · confidence``,
and the intent rule boosts matching sections by ``base · confidence``, but at least by 1; both from
a confidence of 0.5. Two drugs joined by *and* or *with*, and nothing more, ask what they do
together: for interactions. ``query_intent`` overrides both: ``tabular`` boosts tables by 3, the
name of an intent boosts its sections by its base, ``none`` boosts nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.analysis.drugs import is_drug
from assay.errors import UsageError
from assay.model.names import words
from assay.search.boost.lexicon import Lexicon
from assay.search.boost.words import COUNTS
from assay.search.response import INTENT_RULE, TABLE_RULE

TABULAR = "tabular"
NO_INTENT = "none"
INTERACTIONS = "interactions"
TOGETHER = 0.7  # the confidence that two drugs alone ask for their interactions
_TWO = re.compile(r"\W*([^\W\d_]+) (?:and|with|&) ([^\W\d_]+)(?: together)?\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Detected:
    """One thing a query asks for; ``phrase`` is empty where the caller forced it."""

    rule: str
    intent: str
    confidence: float
    factor: float
    phrase: str

    def to_dict(self) -> dict[str, str | float]:
        """Flat JSON."""
        return {
            "rule": self.rule,
            "intent": self.intent,
            "confidence": self.confidence,
            "factor": self.factor,
            "phrase": self.phrase,
        }


def detect(query: str, lexicon: Lexicon, query_intent: str | None = None) -> tuple[Detected, ...]:
    """What the query asks for, tables first, then intents in the lexicon's order."""
    if query_intent is not None:
        return _forced(query_intent, lexicon)
    text, is_part = words(query), lexicon.joints(query).is_part
    found = [
        Detected(TABLE_RULE, TABULAR, confidence, table_factor(confidence), phrase)
        for phrase, confidence in lexicon.tables.best(text, is_part).values()
        if confidence >= COUNTS
    ]
    spoken = lexicon.phrases.best(text, is_part)
    for intent in lexicon.intents.values():
        if intent.name in spoken:
            phrase, confidence = spoken[intent.name]
            if confidence >= COUNTS:
                factor = max(1.0, intent.base * confidence)
                found.append(Detected(INTENT_RULE, intent.name, confidence, factor, phrase))
    if not found and INTERACTIONS in lexicon.intents and _are_two_drugs(query):
        factor = max(1.0, lexicon.intents[INTERACTIONS].base * TOGETHER)
        found.append(Detected(INTENT_RULE, INTERACTIONS, TOGETHER, factor, query.strip()))
    return tuple(found)


def _are_two_drugs(query: str) -> bool:
    """Whether a query is two drugs together, and nothing more."""
    two = _TWO.fullmatch(query)
    return two is not None and is_drug(two[1]) and is_drug(two[2])


def table_factor(confidence: float) -> float:
    """The factor by which a table is boosted."""
    return 1.0 + 2.0 * confidence


def intent_names(lexicon: Lexicon) -> tuple[str, ...]:
    """The allowed values of ``query_intent``."""
    return (TABULAR, *lexicon.intents, NO_INTENT)


def check_intent(name: str | None, lexicon: Lexicon) -> None:
    """Refuse a ``query_intent`` that the lexicon does not have."""
    known = intent_names(lexicon)
    if name is not None and name not in known:
        raise UsageError(
            f"query_intent: there is no intent {name!r:.60}", hint=f"known: {', '.join(known)}"
        )


def _forced(name: str, lexicon: Lexicon) -> tuple[Detected, ...]:
    check_intent(name, lexicon)
    if name == NO_INTENT:
        return ()
    if name == TABULAR:
        return (Detected(TABLE_RULE, TABULAR, 1.0, table_factor(1.0), ""),)
    return (Detected(INTENT_RULE, name, 1.0, max(1.0, lexicon.intents[name].base), ""),)
