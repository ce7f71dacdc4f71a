"""Which words of a question carry its meaning, and does a passage contain them?

Words are compared without case, accents and common English endings. The stemmer is deliberately
small: it need not find roots, only map ``infection``, ``infections`` and the like to one form.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)?%?")
_ENDINGS = (
    "ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "s", "ly", "al", "ic", "ia", "e",
    "y",
)  # fmt: skip
_STEM = 4  # letters that must remain
_STOP_TEXT = """
a about after an and any are as at be been before being between both but by can could did do does
during for from get give given had happen happens has have her his how i if in into is it its
itself long many may me might more most much must my no nor not of off often on once one or other
our out over patient patients people per said say says should so some someone such take taken tell
than that the their them then there these they this those through to told under until up was we
were what when where which while who whom why will with would you your
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())


def words(text: str) -> frozenset[str]:
    """The stems of a text."""
    return frozenset(map(_stem, _plain_words(text)))


def key_words(question: str) -> tuple[str, ...]:
    """The meaningful stems of a question, in order, each once; all of them if none is."""
    found = _plain_words(question)
    kept = [word for word in found if word not in STOP_WORDS]
    return tuple(dict.fromkeys(map(_stem, kept or found)))


def _plain_words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", text).casefold()
    return _WORD.findall("".join(char for char in folded if not unicodedata.combining(char)))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word
