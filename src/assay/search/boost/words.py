"""Which phrases of a list occur in a text, as whole words, whatever their case or plural?

A text becomes a list of words: compatibility forms folded (NFKC), case folded, split at everything
that is not a letter or digit, plural endings removed. Phrases are found by looking up each word
once and comparing the next few, so that time grows only with the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from assay import limits

_WORD = re.compile(r"[^\W_]+")
_SOFT_HYPHEN = "\u00ad"
_KEPT = ("ss", "us", "is")  # basis, virus, illness are no plurals


def words(text: str) -> tuple[str, ...]:
    """The words of a text, folded for comparison."""
    plain = unicodedata.normalize("NFKC", text[: limits.MAX_QUERY_CHARS]).casefold()
    return tuple(_singular(word) for word in _WORD.findall(plain.replace(_SOFT_HYPHEN, "")))


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(_KEPT):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


class Phrases:
    """Phrases, each with what it indicates and a confidence, indexed for lookup."""

    def __init__(self, rows: Iterable[tuple[str, str, float]]) -> None:
        self._by_first: dict[str, list[_Row]] = {}
        for meaning, phrase, confidence in rows:
            parts = words(phrase)
            row = _Row(parts, meaning, phrase, confidence)
            self._by_first.setdefault(parts[0], []).append(row)

    def rows(self) -> list[tuple[str, str, float]]:
        """What was given, whatever its order."""
        every = (row for rows in self._by_first.values() for row in rows)
        return sorted((row.meaning, row.phrase, row.confidence) for row in every)

    def best(self, text: tuple[str, ...]) -> dict[str, tuple[str, float]]:
        """What the text indicates, each with its most confident phrase and that confidence.

        A phrase inside a longer one does not count: "dose limiting toxicity" is not about dose. Of
        equal confidences, the longest phrase wins, then the last in alphabetical order.
        """
        found: dict[str, _Row] = {}
        for row in _outermost(self._in(text)):
            known = found.get(row.meaning)
            if known is None or row.rank > known.rank:
                found[row.meaning] = row
        return {meaning: (row.phrase, row.confidence) for meaning, row in found.items()}

    def _in(self, text: tuple[str, ...]) -> Iterator[tuple[int, _Row]]:
        for at, word in enumerate(text):
            for row in self._by_first.get(word, ()):
                if text[at : at + len(row.parts)] == row.parts:
                    yield at, row


class _Row(NamedTuple):
    parts: tuple[str, ...]
    meaning: str
    phrase: str
    confidence: float

    @property
    def rank(self) -> tuple[float, int, str]:
        """The order of preference among several phrases."""
        return self.confidence, len(self.parts), self.phrase


def _outermost(found: Iterator[tuple[int, _Row]]) -> Iterator[_Row]:
    """The phrases that are not inside a longer one; the input is ordered by start."""
    reached = 0  # the largest end of the phrases that start earlier
    for at, group in groupby(found, key=itemgetter(0)):
        rows = [row for _, row in group]
        longest = max(len(row.parts) for row in rows)
        if at + longest > reached:
            yield from (row for row in rows if len(row.parts) == longest)
            reached = at + longest
