"""Is this query the same question as an existing one?

Two queries are near duplicates if they have the same words, if most of their words are the same
(Jaccard), or, if a dense model is available, if their vectors are close (cosine). Case, order,
small words and plural endings are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from assay.model.arrays import FloatArray

Encode: TypeAlias = Callable[[list[str]], FloatArray]

JACCARD = 0.8
COSINE = 0.95
_WORD = re.compile(r"[^\W_]+")
_SMALL_WORDS = (
    "a an the of to in on at for from by with and or is are was were be do does did can could what"
    " which how who when where why i my me you your it this that"
)
_SMALL = frozenset(_SMALL_WORDS.split())


@dataclass(frozen=True, slots=True)
class Likeness:
    """The query that another resembles, and by how much."""

    name: str
    how: str
    value: float

    def __str__(self) -> str:
        return f"{self.how} {self.value:.2f} with {self.name}"


def words_of(text: str) -> frozenset[str]:
    """The significant words of a question."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = [_singular(word) for word in _WORD.findall(folded)]
    return frozenset(word for word in words if word not in _SMALL) or frozenset(words)


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared words over all words; two empty texts are equal."""
    every = len(a | b)
    return len(a & b) / every if every else 1.0


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


class Known:
    """The existing queries, with which each new one is compared."""

    def __init__(
        self, encode: Encode | None = None, *, least: float = JACCARD, cosine: float = COSINE
    ) -> None:
        self._encode = encode
        self._least, self._cosine = least, cosine
        self._names: list[str] = []
        self._words: list[frozenset[str]] = []
        self._vectors: list[FloatArray] = []

    def add(self, name: str, text: str) -> None:
        """Add a query."""
        self._names.append(name)
        self._words.append(words_of(text))
        if self._encode is not None:
            self._vectors.append(self._vector(text))

    def like(self, text: str) -> Likeness | None:
        """The most similar query, if it is too similar; None otherwise."""
        if not self._names:
            return None
        words = words_of(text)
        shares = [jaccard(words, other) for other in self._words]
        at = int(np.argmax(shares))
        if shares[at] >= self._least:
            return Likeness(self._names[at], "shares words", shares[at])
        if self._encode is None:
            return None
        cosines = np.stack(self._vectors) @ self._vector(text)
        at = int(np.argmax(cosines))
        if cosines[at] < self._cosine:
            return None
        return Likeness(self._names[at], "means nearly the same, cosine", float(cosines[at]))

    def _vector(self, text: str) -> FloatArray:
        assert self._encode is not None
        row = np.asarray(self._encode([text])[0], dtype=np.float64)
        length = float(np.linalg.norm(row))
        unit: FloatArray = row / length if length else row
        return unit
