"""Which phrases of a list stand in a text, as whole words, whatever their case or plural?

A text becomes a row of words: compatibility forms folded (NFKC), case folded, cut at everything
that is no letter or digit, plural endings taken off. Phrases are found by looking up each word once
and comparing a few next ones, so that time grows with the length of the text and nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from assay import limits

_WORD = re.compile(r"[^\W_]+")
_SOFT_HYPHEN = "\u00ad"
_KEPT = ("ss", "us", "is")  # basis, virus, illness: no plural


def words(text: str) -> tuple[str, ...]:
    """The words of a text in the form in which they are compared."""
    plain = unicodedata.normalize("NFKC", text[: limits.MAX_QUERY_CHARS]).casefold()
    return tuple(_singular(word) for word in _WORD.findall(plain.replace(_SOFT_HYPHEN, "")))


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(_KEPT):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


class Phrases:
    """A list of phrases with a confidence each, ready to be looked for."""

    def __init__(self, confidences: Mapping[str, float]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str, float]]] = {}
        for phrase, confidence in confidences.items():
            parts = words(phrase)
            self._by_first.setdefault(parts[0], []).append((parts, phrase, confidence))

    def best(self, text: tuple[str, ...]) -> tuple[str, float] | None:
        """The phrase with the largest confidence; of equal ones the longest, then the first."""
        found = max(self._in(text), key=lambda one: (one[2], len(one[0]), one[1]), default=None)
        return None if found is None else found[1:]

    def _in(self, text: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, float]]:
        for at, word in enumerate(text):
            for row in self._by_first.get(word, ()):
                if text[at : at + len(row[0])] == row[0]:
                    yield row
