"""What is a query about, and which candidates are about the same?

"warfarin dose" asks for doses, and it is about warfarin. Boosts may lift a section on doses only
within that subject, or the dose of another drug comes first. The rule:

1. The **terms** of a query are its words without the phrases that state an intent, and without
   general words (``general`` in ``data/intents.yaml``: of, what, patients, daily ...). Words that
   are written together (IL-6), or stand together in the name of a candidate's document (heart
   failure), are one term. Its synonyms, where search adds them, stand for a term.
2. A document's **names** are its title, its id, and the drugs, conditions, interventions and
   keywords that it is filed under. The **key** is a term that the name of any candidate's document
   contains: a drug, else one of those in the names of the document that has most of them there;
   of several, the rarest in the whole index. A chunk is about the subject only if its own document
   is named so. Where no document is named with any term, the key is the rarest of all, and the
   text of the chunk must contain it.
3. Of all terms, weighted by rarity, names and text together must contain ``ENOUGH``; where no
   document is the drug's own, the text of any candidate of a document counts for all of it. A word
   that the index does not have weighs most, so nothing is about a drug that is not there. The code
   of a document (NCT00001832), where one is named so, is enough by itself, and so is a drug in its
   own document: one whose title has no words but the names it is filed under, as labels have.

Who restricts a search to documents or interviews has named the subject: every candidate is about
it. The same holds for a query without terms ("adverse events"). A query that is the title of a
document looks for that document, and lifts nothing. Where a query describes its subject in many
words and no candidate is about them, the subject is unknown, and boosts are gentle; of a drug among
these words, only for candidates that have it. A query that names a single thing which nothing here
is about lifts nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Protocol, TypeAlias

from assay.analysis.drug_classes import is_class
from assay.analysis.drugs import is_drug
from assay.model.names import BETWEEN, words

ENOUGH = 0.6  # share of the terms' weights
DESCRIBING = 3  # terms; with fewer, a query names one thing
TITLE_WORDS = 6  # so many words of a query, all in one name, are a title
_CODE = re.compile(r"[a-z]{2,6}\d{5,}")
_SHORT = re.compile(r"[a-z] \d{1,2}")
_TITLES_OF_LABELS = """
capsule characteristic drug for information injection insert label leaflet of oral package patient
prescribing product solution summary tablet
"""
_OF_PRODUCTS = frozenset(_TITLES_OF_LABELS.split())
_BETWEEN_WORDS = r"[\W_]+"
_TOGETHER = re.compile(r"[^\W_]+(?:[-‐‑/'’.][^\W_]+)*")


class Reads(Protocol):
    """What a query must be cut by: the phrases of intents, and general words."""

    def intent_words(self, query: str, text: tuple[str, ...]) -> set[int]:
        """The positions of the words of a query that state an intent."""

    @property
    def general(self) -> frozenset[str]:
        """Words that name no subject."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a query is about: runs of terms that stand side by side in it.

    A term is a folded text of one or more words; a number is one only beside others (type 2
    diabetes). ``typed`` has the same runs in the words of the query, ``whole`` is all of it folded.
    """

    runs: tuple[tuple[str, ...], ...]
    typed: tuple[tuple[str, ...], ...]
    whole: str

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term once, in order."""
        return tuple(dict.fromkeys(term for run in self.runs for term in run if _is_name(term)))


def subject_of(query: str, reads: Reads) -> Subject:
    """The subject of a query: rule 1, but for the names of documents."""
    typed = _TOGETHER.findall(query)
    tokens = [words(token) for token in typed]
    flat = tuple(word for token in tokens for word in token)
    intent, general = reads.intent_words(query, flat), reads.general
    runs: list[list[tuple[str, str]]] = [[]]
    at = 0
    for token, text in zip(tokens, typed, strict=True):
        positions = range(at, at + len(token))
        at += len(token)
        if any(at in intent for at in positions) or all(word in general for word in token):
            runs.append([])
        else:
            runs[-1].append((" ".join(token), text))
    return Subject(
        tuple(tuple(term for term, _ in run) for run in runs if run),
        tuple(tuple(text for _, text in run) for run in runs if run),
        " ".join(flat),
    )


def _is_code(term: str) -> bool:
    """Whether a term looks like the code of a record: letters, then a long number."""
    return _CODE.fullmatch(term) is not None


def _is_drug(form: str) -> bool:
    return any(map(is_drug, form.split()))


@lru_cache(maxsize=4_096)
def _is_own(names: str, forms: tuple[str, ...]) -> bool:
    """Whether a title has one of these forms, and nothing else but names and kinds of product."""
    title, *others = names.strip().split(BETWEEN)
    if not any(f" {form} " in f" {title} " for form in forms):
        return False
    named = {word for name in (*others, *forms) for word in name.split()}
    return all(word in named or word in _OF_PRODUCTS for word in title.split())


@lru_cache(maxsize=4_096)
def is_of_product(names: str) -> bool:
    """Whether a document is that of a product, as labels are, by the names that it is filed under.

    Its title has no words but these.
    """
    title, *others = names.strip().split(BETWEEN)
    named = {word for name in others for word in name.split()}
    words_of_title = [word for word in title.split() if word not in _OF_PRODUCTS]
    return bool(words_of_title) and named.issuperset(words_of_title)


def _has_own(forms: tuple[str, ...], documents: Iterable[str]) -> bool:
    """Whether the names of a document are those of one with one of these forms for itself."""
    having = (one for form in forms for one in documents if f" {form} " in one)
    return any(_is_own(names, forms) for names in having)


def _is_name(term: str) -> bool:
    """Whether a term can name something by itself: a word, or the long number of a record."""
    return len(term) > 1 and not (len(term) < 5 and term.replace(" ", "").isdecimal())


def _parts(term: str) -> list[str]:
    """The words of a term; S-1 is one, as an S and a 1 are everywhere."""
    return [term.replace(" ", "")] if _SHORT.fullmatch(term) else term.split()


class By(StrEnum):
    """How the subject of a query was told."""

    NOTHING = "nothing"  # the query names none
    FILTERS = "filters"
    TITLE = "title"
    NAMES = "names"
    TEXT = "text"


def no_others(text: str) -> Sequence[str]:
    """No synonyms."""
    return ()


Having: TypeAlias = Callable[[str, Sequence[int]], Collection[int]]


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates that a subject is held against.

    ``names`` are those of each candidate's document. ``having`` says which of some places of the
    pool have a term in their text, ``rarity`` how rare a folded word is in the index, ``others``
    what else means the same as the words of a text. ``at_once`` looks many terms up at some places,
    where that is faster than one after the other: it makes another ``having``.
    """

    names: Sequence[str]
    having: Having
    rarity: Callable[[str], float]
    others: Callable[[str], Sequence[str]] = no_others
    at_once: Callable[[Collection[str], Sequence[int]], Having] | None = None

    def forms(self, term: str) -> tuple[str, ...]:
        """A term and its synonyms, folded."""
        return (term, *(" ".join(words(other)) for other in self.others(term)))

    def named(self, forms: Sequence[str], places: Iterable[int]) -> list[int]:
        """The places whose document is named with one of the forms."""
        padded = [f" {form} " for form in forms]
        if len(padded) == 1:
            return [at for at in places if padded[0] in self.names[at]]
        return [at for at in places if any(one in self.names[at] for one in padded)]

    def together(self, places: Iterable[int]) -> dict[int, list[int]]:
        """For each of the places, all candidates of its document."""
        wanted = {at: self.names[at] for at in places}
        parts: dict[str, list[int]] = {name: [] for name in wanted.values()}
        for at, name in enumerate(self.names):
            if name in parts:
                parts[name].append(at)
        return {at: parts[name] for at, name in wanted.items()}

    def meeting(self, forms: Sequence[str], places: Sequence[int]) -> set[int]:
        """The places that have one of the forms in a name or in their text."""
        met = {*self.named(forms, places)}
        for form in forms:
            lacking = [at for at in places if at not in met]
            if lacking:
                met.update(self.having(form, lacking))
        return met


@dataclass(frozen=True, slots=True)
class Scope:
    """Which candidates are about the subject; ``weights`` are those of its terms.

    ``typed`` has the terms in the words of the query, ``forms`` each with its synonyms.
    """

    by: By
    weights: Mapping[str, float] = field(default_factory=dict)
    key: str = ""
    pool: Pool | None = None
    is_drug: bool = False
    typed: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def terms(self) -> tuple[str, ...]:
        """What the query names, in its own words."""
        return tuple(self.typed.get(term, term) for term in self.weights)

    @property
    def named(self) -> str:
        """The key, in the words of the query."""
        return self.typed.get(self.key, self.key)

    @property
    def is_description(self) -> bool:
        """Whether no document is named so, and many words describe what is looked for."""
        return self.by is By.TEXT and len(self.weights) >= DESCRIBING

    @property
    def is_name(self) -> bool:
        """Whether the query names one thing, rather than describing it."""
        return self.pool is not None and (len(self.weights) < DESCRIBING or _is_code(self.key))

    @property
    def is_certain(self) -> bool:
        """Whether it is named by a document or a drug, or is one term: more may be just words."""
        return self.by is By.NAMES or self.is_drug or len(self.weights) == 1

    @property
    def is_mentioned(self) -> bool:
        """Whether it is a drug that no document is named with."""
        return self.by is By.TEXT and self.is_drug

    def about(self, places: Iterable[int]) -> dict[int, bool]:
        """Whether the candidates at these places of the pool are about the subject."""
        found = dict.fromkeys(places, self.pool is None and self.by is not By.TITLE)
        if self.pool is None:
            return found
        names = self.pool.names
        if _is_code(self.key):
            codes = [f" {term} " for term in self.weights if _is_code(term)]
            return {at: any(code in names[at] for code in codes) for at in found}
        pool = self.pool
        if pool.at_once is not None:
            every = {form for forms in self.forms.values() for form in forms}
            pool = replace(pool, having=pool.at_once(every, [*found]))
        with_key = self._with_key(pool, [*found])
        own = self.own(with_key)
        found.update(dict.fromkeys(own, True))
        rest = [at for at in with_key if at not in own]
        found.update(dict.fromkeys(self._with_enough(pool, rest, whole=not own), True))
        return found

    def mentioning(self, places: Sequence[int]) -> set[int]:
        """Those of the places that have a drug of the query; all, where it names none."""
        drugs = [form for term in self.weights if _is_drug(term) for form in self.forms[term]]
        if self.pool is None or not drugs:
            return {*places}
        return self.pool.meeting(drugs, places)

    def own(self, places: Iterable[int]) -> set[int]:
        """Those of the places whose document is the drug's own."""
        if self.pool is None or not self.is_drug:
            return set()
        forms, names = self.forms[self.key], self.pool.names
        return {at for at in places if _is_own(names[at], forms)}

    def _with_key(self, pool: Pool, places: Sequence[int]) -> Sequence[int]:
        """Those whose document is named with the key, or that have it in their text."""
        forms = self.forms[self.key]
        if self.by is By.NAMES:
            return pool.named(forms, places)
        return [*pool.meeting(forms, places)]

    def _with_enough(self, pool: Pool, places: Sequence[int], *, whole: bool) -> Sequence[int]:
        """Those of the places with the key that have enough of the other terms as well.

        ``whole``: what any candidate of a document that is named so has, all of them have.
        """
        enough = ENOUGH * sum(self.weights.values()) - 1e-9
        parts = {at: [at] for at in places}
        if whole and self.by is By.NAMES:
            parts = pool.together(places)
        share = dict.fromkeys(parts, self.weights[self.key])
        for term, weight in self.weights.items():
            lacking = [at for at in parts if share[at] < enough] if term != self.key else []
            if lacking:
                among = [each for at in lacking for each in parts[at]]
                met = pool.meeting(self.forms[term], [*dict.fromkeys(among)])
                for at in lacking:
                    share[at] += 0.0 if met.isdisjoint(parts[at]) else weight
        return [at for at in places if share[at] >= enough]


GIVEN = Scope(By.FILTERS)


def scope_of(subject: Subject, pool: Pool) -> Scope:
    """The scope of a subject among these candidates: rules 2 and 3."""
    distinct = dict.fromkeys(pool.names)
    every = "".join(distinct)
    if subject.whole.count(" ") + 1 >= TITLE_WORDS and f" {subject.whole} " in every:
        return Scope(By.TITLE, dict.fromkeys(subject.terms, 1.0))
    typed: dict[str, str] = {}
    for run, written in zip(subject.runs, subject.typed, strict=True):
        for at, end in _joined(run, every, pool.others):
            typed.setdefault(" ".join(run[at:end]), " ".join(written[at:end]))
    weights = {term: max(map(pool.rarity, _parts(term))) for term in typed if _is_name(term)}
    weights = {term: weight for term, weight in weights.items() if weight > 0}
    if not weights:
        return Scope(By.NOTHING)
    every_form = {term: pool.forms(term) for term in weights}
    named = {
        term: forms
        for term, forms in every_form.items()
        if any(f" {form} " in every for form in forms)
    }
    codes = [term for term in named if _is_code(term)]
    own = {t for t, forms in named.items() if _has_own(forms, distinct)}
    drugs = {term for term, forms in named.items() if any(map(_is_drug, forms))}
    if any(map(_is_drug, weights)):  # a class beside a drug is not what is asked for
        classes = {term for term in named if is_class(term)}
        own, drugs = own - classes, drugs - classes
    drugs = (drugs & own) or drugs or own
    given = [*filter(_is_drug, weights)]  # a drug is the subject before what is said of it
    best = codes or drugs or _of_the_best(named, weights, distinct) or given or weights
    key = max(best, key=lambda term: (weights[term], term))
    of_drug = key in drugs if named else _is_drug(key)
    by = By.NAMES if named else By.TEXT
    return Scope(by, weights, key, pool, of_drug, typed, every_form)


def _of_the_best(
    named: Mapping[str, Sequence[str]], weights: Mapping[str, float], names: Iterable[str]
) -> Sequence[str]:
    """The terms that name the document which is named with most of them, by weight.

    ``named`` has the forms of each term.
    """
    if len(named) < 2:
        return [*named]
    padded = {term: [f" {form} " for form in forms] for term, forms in named.items()}
    having = ([t for t, forms in padded.items() if any(f in one for f in forms)] for one in names)
    return max(having, key=lambda terms: sum(weights[term] for term in terms), default=[*named])


def pool_rarity(names: Sequence[str]) -> Callable[[str], float]:
    """How rare words are in the names of these candidates, where the index does not say."""
    distinct = list(dict.fromkeys(names))

    def rarity(word: str) -> float:
        having = sum(f" {word} " in one for one in distinct)
        return math.log(1 + (1 + len(distinct)) / (1 + having))

    return rarity


def _joined(
    run: tuple[str, ...], names: str, others: Callable[[str], Sequence[str]]
) -> Iterator[tuple[int, int]]:
    """From where to where its terms go; those that stand in a name, or have synonyms, are one."""
    at = 0
    while at < len(run):
        start, term = at, run[at]
        at += 1
        while at < len(run):
            longer = f"{term} {run[at]}"
            added = {*others(longer)} - {*others(term)} - {*others(run[at])}
            if not added and f" {longer} " not in names:
                break
            term = longer
            at += 1
        yield start, at


def stands_in(term: str, text: str) -> bool:
    """Whether a text has the words of a term, whatever their number, side by side."""
    lowered = text.casefold()
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
