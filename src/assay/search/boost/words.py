"""Which phrases of a list occur in a text, as whole words, whatever their case or plural?

Both are compared as folded words (``model/names.py``). A star in a phrase stands for up to four
words: ``what is * used for``. A phrase that is a part of a longer word indicates nothing
(``compound.py``): "results-oriented" asks for no results. Phrases are found by looking up each word
once and comparing the next few, so that time grows only with the length of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from assay.model.names import words

STAR = "*"
MOST_BETWEEN = 4
COUNTS = 0.5  # a phrase with less confidence only keeps its words from being read as another


def _never(first: int, last: int) -> bool:
    return False


class Phrases:
    """Phrases, each with what it indicates and a confidence, indexed for lookup."""

    def __init__(self, rows: Iterable[tuple[str, str, float]]) -> None:
        self._by_start: dict[tuple[str, ...], list[_Row]] = {}  # by two words, or one
        for meaning, phrase, confidence in rows:
            head, _, tail = phrase.partition(STAR)
            row = _Row(words(head), words(tail), meaning, phrase, confidence)
            self._by_start.setdefault(row.head[:2], []).append(row)

    def rows(self) -> list[tuple[str, str, float]]:
        """What was given, whatever its order."""
        every = (row for rows in self._by_start.values() for row in rows)
        return sorted((row.meaning, row.phrase, row.confidence) for row in every)

    def best(
        self, text: tuple[str, ...], is_part: Callable[[int, int], bool] = _never
    ) -> dict[str, tuple[str, float]]:
        """What the text indicates, each with its most confident phrase and that confidence.

        A phrase inside a longer one does not count: "dose limiting toxicity" is not about dose. Of
        equal confidences, the longest phrase wins, then the last in alphabetical order. ``is_part``
        says whether the words from one place to another are a part of a longer word.
        """
        found: dict[str, _Row] = {}
        for place in self._outermost(text, is_part):
            row = place.row
            known = found.get(row.meaning)
            if known is None or row.rank > known.rank:
                found[row.meaning] = row
        return {meaning: (row.phrase, row.confidence) for meaning, row in found.items()}

    def covered(
        self, text: tuple[str, ...], is_part: Callable[[int, int], bool] = _never
    ) -> set[int]:
        """The positions of the words that belong to a phrase that counts."""
        return {
            at
            for place in self._outermost(text, is_part)
            if place.row.confidence >= COUNTS
            for at in place.positions
        }

    def _outermost(
        self, text: tuple[str, ...], is_part: Callable[[int, int], bool]
    ) -> Iterator[_Place]:
        """The phrases of the text that are not inside a longer one."""
        reached = 0  # the largest end of the phrases that start earlier
        for at in range(len(text)):
            rows = [*self._by_start.get(text[at : at + 1], ())]
            if at + 1 < len(text):
                rows += self._by_start.get(text[at : at + 2], ())
            if not rows:
                continue
            found = (place for row in rows if (place := _place(text, at, row)) is not None)
            # what counts for nothing still keeps its words from being read as another
            places = [
                place
                for place in found
                if place.row.confidence < COUNTS
                or not is_part(place.positions[0], place.positions[-1])
            ]
            longest = max((place.end for place in places), default=0)
            if longest > reached:
                yield from (place for place in places if place.end == longest)
                reached = longest


class _Row(NamedTuple):
    head: tuple[str, ...]
    tail: tuple[str, ...]
    meaning: str
    phrase: str
    confidence: float

    @property
    def rank(self) -> tuple[float, int, str]:
        """The order of preference among several phrases."""
        return self.confidence, len(self.head) + len(self.tail), self.phrase


class _Place(NamedTuple):
    """Where a phrase stands; ``positions`` are those of its own words."""

    row: _Row
    end: int
    positions: tuple[int, ...]


def _place(text: tuple[str, ...], at: int, row: _Row) -> _Place | None:
    """The phrase at this word of the text; None where it does not stand there."""
    middle = at + len(row.head)
    if text[at:middle] != row.head:
        return None
    if not row.tail:
        return _Place(row, middle, tuple(range(at, middle)))
    for start in range(middle, middle + MOST_BETWEEN + 1):
        end = start + len(row.tail)
        if text[start:end] == row.tail:
            return _Place(row, end, (*range(at, middle), *range(start, end)))
    return None
