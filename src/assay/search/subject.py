"""What is a query about, and which candidates are about the same?

"warfarin dose" asks for doses, and it is about warfarin. Boosts may lift a section on doses only
within that subject, or the dose of another drug comes first. The rule:

1. The **terms** of a query are its words without the phrases that state an intent, and without
   general words (``general`` in ``data/intents.yaml``: of, what, patients, daily ...). Words that
   are written together (IL-6), or stand together in the name of a candidate's document (heart
   failure), are one term.
2. A document's **names** are its title, its id, and the drugs, conditions, interventions and
   keywords that it is filed under. The **key** is the rarest term in the index. Where the names of
   any candidate's document contain the key, a chunk is about the subject only if those of its own
   document do. Where no document is named so, the text of the chunk must contain the key.
3. Of all terms, weighted by rarity, names and text together must contain ``ENOUGH``.

Who restricts a search to documents or interviews has named the subject: every candidate is about
it. The same holds for a query without terms ("adverse events"). A query that is the title of a
document looks for that document, and lifts nothing. Where no candidate is about the subject, it is
unknown, and boosts are gentle.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

from assay.model.names import words

ENOUGH = 0.6  # share of the terms' weights
TITLE_WORDS = 6  # so many words of a query, all in one name, are a title
_BETWEEN_WORDS = r"[\W_]+"
_TOGETHER = re.compile(r"[^\W_]+(?:[-‐‑/'’.][^\W_]+)*")


class Reads(Protocol):
    """What a query must be cut by: the phrases of intents, and general words."""

    def intent_words(self, text: tuple[str, ...]) -> set[int]:
        """The positions of the words that state an intent."""

    @property
    def general(self) -> frozenset[str]:
        """Words that name no subject."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a query is about: runs of terms that stand side by side in it.

    A term is a folded text of one or more words; a number is one only beside others (type 2
    diabetes). ``whole`` is the folded query.
    """

    runs: tuple[tuple[str, ...], ...]
    whole: str

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term once, in order."""
        return tuple(dict.fromkeys(term for run in self.runs for term in run if _is_name(term)))


def subject_of(query: str, reads: Reads) -> Subject:
    """The subject of a query: rule 1, but for the names of documents."""
    tokens = [words(token) for token in _TOGETHER.findall(query)]
    flat = tuple(word for token in tokens for word in token)
    intent, general = reads.intent_words(flat), reads.general
    runs: list[list[str]] = [[]]
    at = 0
    for token in tokens:
        positions = range(at, at + len(token))
        at += len(token)
        if any(at in intent for at in positions) or all(word in general for word in token):
            runs.append([])
        else:
            runs[-1].append(" ".join(token))
    return Subject(tuple(tuple(run) for run in runs if run), " ".join(flat))


def _is_name(term: str) -> bool:
    """Whether a term can name something by itself: a word, or the long number of a record."""
    return len(term) > 1 and not (len(term) < 5 and term.isdecimal())


class By(StrEnum):
    """How the subject of a query was told."""

    NOTHING = "nothing"  # the query names none
    FILTERS = "filters"
    TITLE = "title"
    NAMES = "names"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates that a subject is held against.

    ``names`` are those of each candidate's document, ``texts`` gives the texts at some places of
    the pool, ``rarity`` how rare a folded word is in the index.
    """

    names: Sequence[str]
    texts: Callable[[Sequence[int]], Mapping[int, str]]
    rarity: Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which candidates are about the subject."""

    by: By
    terms: tuple[str, ...] = ()
    key: str = ""
    _weights: Mapping[str, float] = field(default_factory=dict)
    _pool: Pool | None = None
    _known: dict[int, bool] = field(default_factory=dict)

    def about(self, places: Iterable[int]) -> dict[int, bool]:
        """Whether the candidates at these places of the pool are about the subject."""
        wanted = list(places)
        if self.by in (By.NOTHING, By.FILTERS):
            return dict.fromkeys(wanted, True)
        if self.by is By.TITLE:
            return dict.fromkeys(wanted, False)
        unread = [at for at in wanted if at not in self._known and not self._by_names(at)]
        if unread:
            assert self._pool is not None
            for at, text in self._pool.texts(unread).items():
                self._known[at] = self._enough(self._named(at) | self._in_text(text))
        return {at: self._known[at] for at in wanted}

    def _by_names(self, at: int) -> bool:
        """Whether names alone decide; what they decide is kept."""
        met = self._named(at)
        if self.by is By.NAMES and (self.key not in met or self._enough(met)):
            self._known[at] = self.key in met
            return True
        return False

    def _named(self, at: int) -> frozenset[str]:
        assert self._pool is not None
        return met_by_names(self.terms, self._pool.names[at])

    def _in_text(self, text: str) -> frozenset[str]:
        lowered = text.casefold()
        return frozenset(term for term in self.terms if _stands_in(term, lowered))

    def _enough(self, met: frozenset[str]) -> bool:
        share = sum(self._weights[term] for term in met)
        return self.key in met and share >= ENOUGH * sum(self._weights.values()) - 1e-9


def scope_of(subject: Subject, pool: Pool, *, filtered: bool = False) -> Scope:
    """The scope of a subject among these candidates: rules 2 and 3."""
    if filtered:
        return Scope(By.FILTERS)
    every = "".join(dict.fromkeys(pool.names))
    if subject.whole.count(" ") + 1 >= TITLE_WORDS and f" {subject.whole} " in every:
        return Scope(By.TITLE, subject.terms)
    terms = tuple(dict.fromkeys(term for run in subject.runs for term in _joined(run, every)))
    weights = {term: max(map(pool.rarity, term.split())) for term in terms if _is_name(term)}
    weights = {term: weight for term, weight in weights.items() if weight > 0}
    if not weights:
        return Scope(By.NOTHING)
    key = max(weights, key=lambda term: (weights[term], term))
    by = By.NAMES if f" {key} " in every else By.TEXT
    return Scope(by, tuple(weights), key, weights, pool)


def pool_rarity(names: Sequence[str]) -> Callable[[str], float]:
    """How rare words are in the names of these candidates, where the index does not say."""
    distinct = list(dict.fromkeys(names))

    def rarity(word: str) -> float:
        having = sum(f" {word} " in one for one in distinct)
        return math.log(1 + (1 + len(distinct)) / (1 + having))

    return rarity


@lru_cache(maxsize=65_536)
def met_by_names(terms: tuple[str, ...], names: str) -> frozenset[str]:
    """The terms that these names contain."""
    return frozenset(term for term in terms if f" {term} " in names)


def _joined(run: tuple[str, ...], names: str) -> list[str]:
    """The terms of a run; those that stand together in a name are one."""
    joined: list[str] = []
    at = 0
    while at < len(run):
        term = run[at]
        at += 1
        while at < len(run) and f" {term} {run[at]} " in names:
            term = f"{term} {run[at]}"
            at += 1
        joined.append(term)
    return joined


def _stands_in(term: str, lowered: str) -> bool:
    """Whether a text has the words of a term, whatever their number, side by side."""
    if any(word[:-1] not in lowered for word in term.split()):
        return False
    return _pattern(term).search(lowered) is not None


@lru_cache(maxsize=4_096)
def _pattern(term: str) -> re.Pattern[str]:
    forms = (
        f"{re.escape(word[:-1])}(?:y|ies)" if word.endswith("y") else f"{re.escape(word)}s?"
        for word in term.split()
    )
    return re.compile(rf"(?<![^\W_]){_BETWEEN_WORDS.join(forms)}(?![^\W_])")
