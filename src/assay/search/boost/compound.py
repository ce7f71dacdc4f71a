"""Which words of a query are parts of a longer word, so that they ask for nothing alone?

A hyphen joins two words: "results-oriented" asks for no results. English also joins them without
one. The first noun of a compound is in the singular, and another noun follows it: table tennis,
safety pin, dosage compensation. Who asks for a section ends with it ("metformin dosage"), goes on
with a small word ("dosage of ..."), or names what it is of: a drug, disease, organ or group of
people ("toxicity liver"), or a code. So a word in the singular is the first part of a compound if
what follows at once is a common noun: in small letters, no name, no adjective, no general word, and
none that asks for something itself or for a part of the section ("dosage range").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from assay.analysis.asked import names_people
from assay.analysis.names import is_name
from assay.analysis.spelling import base
from assay.evidence.terms import ORGANS
from assay.model.names import hyphens, words

_WORD = re.compile(r"[^\W_]+")
_ADJECTIVES = (
    "able",
    "ible",
    "al",
    "ant",
    "ary",
    "ed",
    "ent",
    "ful",
    "ic",
    "ive",
    "less",
    "ous",
)
_ASKING_TEXT = """
adjustment advice alcohol analysis anesthesia assessment calculation calculator card chart concern
conversion criteria criterion cutoff decrease definition determination dialysis endpoint estimate
evaluation finding food frequency grade grading guidance guide guideline hemodialysis increase
instruction interval issue level limit management measure measurement metric monitoring option
overview problem profile question range recommendation reduction regimen requirement review
schedule score selection sign signal strength surgery symptom text threshold titration unit value
"""
_ASKING = frozenset(word for text in _ASKING_TEXT.split() for word in words(text))
_SHORTEST = 3


class Joints:
    """How the words of one query are joined; ``asks`` says whether a word asks for something."""

    def __init__(self, query: str, general: Collection[str], asks: Callable[[str], bool]) -> None:
        self._query = query
        self._general = general
        self._asks = asks
        self._hyphens = hyphens(query)

    @cached_property
    def _typed(self) -> Sequence[re.Match[str]]:
        """The words as they are typed; none where others are compared."""
        typed = [*_WORD.finditer(self._query)]
        return typed if len(typed) == len(words(self._query)) else ()

    def is_part(self, first: int, last: int) -> bool:
        """Whether what stands from one word to another is only a part of a longer word."""
        if first - 1 in self._hyphens or last in self._hyphens:
            return True
        return first == last and self._begins_compound(first)

    def _begins_compound(self, at: int) -> bool:
        typed = self._typed
        if at + 1 >= len(typed):
            return False
        first, following = typed[at], typed[at + 1]
        if self._query[first.end() : following.start()] != " " or _is_plural(first[0]):
            return False
        return self._is_common_noun(following[0])

    def _is_common_noun(self, word: str) -> bool:
        (plain,) = words(word)
        if not (word.isalpha() and word.islower() and len(word) >= _SHORTEST):
            return False
        if plain in self._general or plain in _ASKING or word.endswith(_ADJECTIVES):
            return False
        named = is_name(word) or names_people(word) or base(word) in ORGANS
        return not named and not self._asks(plain)


def _is_plural(word: str) -> bool:
    low = word.lower()
    return low.endswith("s") and not low.endswith("ss")
