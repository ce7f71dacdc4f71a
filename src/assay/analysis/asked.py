"""What must a passage be about to answer a question: which names does the question give?

A name is a drug (``drugs.py``, or what documents at hand are about), the number of a record, a
trial's acronym, the code of a compound (DS-8201a), a word that is written as a name (Zyntarex), or
a group of people to which the dose for an adult does not apply. Everything else in a question may
be put in other words, and is left to the measure of confidence (``evidence/confidence.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from assay.analysis.conditions import stems, stems_in_a_row
from assay.analysis.drugs import (
    has_stem_of_others,
    is_drug,
    is_measured,
    longest_name,
    other_names,
    words_of_name,
)
from assay.analysis.identifiers import is_code_system, mentions
from assay.analysis.spelling import STOP_WORDS, base, folded
from assay.analysis.words import Lines, analyse, vocabulary

_WORD = re.compile(r"[^\W_]+(?:[-\u2010\u2011'’][^\W_]+)*")
_ELISION = re.compile(r"(?<![^\W_])[dlDL]['’](?=[^\W\d_]{4})")  # d'amlodipine
_NOT_ALNUM = re.compile(r"[\W_]+")
_TRIAL = re.compile(r"[A-Z]{3,}[-\u2010\u2011][A-Za-z0-9]+")
_CALLED = re.compile(r"(?<![^\W_])([A-Z][A-Z0-9-]{3,})\s+(?:trial|study)\b")
_COMPOUND = re.compile(
    r"[A-Z][A-Za-z]{0,5}[-\u2010\u2011]?\d{3,7}[A-Za-z]?|[A-Z]{3,5}[-\u2010\u2011]\d{2}"
    r"|[a-z]{2,5}[-\u2010\u2011]?\d{3,7}[a-z]?"
)
_RECORD = re.compile(r"nct|pmc|pmid", re.IGNORECASE)
_WRITTEN_AS_NAME = re.compile(r"[A-Z][a-z]{3,}")
_ISOTOPE = re.compile(r"[a-z]{4,}-\d{2,3}")  # samarium-153, also as "samarium 153-EDTMP"
_SPELLED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_AGE = re.compile(
    rf"(?<!\d)(\d{{1,3}}|\b(?:{'|'.join(_SPELLED)}))[- ]?"
    r"(years?|yrs?|months?|weeks?|days?)[- ]old\b",
    re.IGNORECASE,
)
_GROWN_UP = 18
_OF_DRUGS = (
    r"(?:dos(?:e|es|age|ing)|posology|(?:side|adverse)[- ](?:effects?|events?|reactions?)"
    r"|contraindications?|interactions?|over\s?dos(?:e|age)|toxicity)\b"
)
_TITLE_CASE = 0.5  # share of capitalised words from which capitals mark no names
_PEOPLE = {
    "children": (
        r"\b(?:child(?:ren|hood)?(?!s?-pugh)|kids?|pa?ediatrics?|infants?|toddlers?|bab(?:y|ies)"
        r"|newborns?|neonat\w+|adolescents?|teenagers?)\b",
        r"\b(?:child(?!s?['’]?[- ]pugh|[- ]?(?:bearing|birth|less))|kids?\b|pa?ediatric"
        r"|infant|toddler|bab(?:y|ies)\b|newborn|neonat|adolescent|teenage|juvenile"
        r"|(?:younger|under|less|below)\s+(?:than\s+)?(?:the age of\s+)?\d+\s*(?:years|months))",
    ),
    "pregnancy": (
        r"\b(?:pregnan\w+|trimesters?|expecting a (?:baby|child))\b",
        r"pregnan|trimester|gestation|fetal|foetal|fetus|foetus|embryo",
    ),
    "breast-feeding": (
        r"\b(?:breast[- ]?feed\w*|breast[- ]?fed|lactat\w+|nursing mothers?)\b",
        r"breast[- ]?fe|breast ?milk|human milk|lactat|nursing",
    ),
}
SPEAKS_OF_CHILDREN = _PEOPLE["children"][1]
"""A pattern of texts that speak of children."""
_ASKS_FOR = {name: re.compile(asks, re.IGNORECASE) for name, (asks, _) in _PEOPLE.items()}
_SPEAKS_OF = {name: re.compile(said, re.IGNORECASE) for name, (_, said) in _PEOPLE.items()}


class Kind(StrEnum):
    """What a name stands for."""

    DRUG = "drug"
    RECORD = "record"
    NAME = "name"
    PEOPLE = "people"


class Name(NamedTuple):
    """A name in a question; ``forms`` are the words any of which stands for it.

    So does one of ``phrases``, which are several stems in a row: trastuzumab emtansine, and
    one of ``written``, which are trade names with the stem of other words.
    """

    kind: Kind
    text: str
    forms: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    written: tuple[str, ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """The words of all its names; one word of a phrase does not stand for it."""
        alone = (*self.forms, *map(base, self.written))
        return frozenset(alone).union(*(phrase.split() for phrase in self.phrases))

    def is_in(self, text: str) -> bool:
        """Whether a text has it, whatever the spelling."""
        if self.kind is Kind.PEOPLE:
            return _SPEAKS_OF[self.text].search(text) is not None
        if self.kind is Kind.RECORD:
            return self.forms[0] in _letters_and_digits(text)
        if vocabulary(text).among(_as_set(self.forms)):
            return True
        if any(f" {phrase} " in stems_in_a_row(text) for phrase in self.phrases):
            return True
        return bool(self.written) and not _words_of(text).isdisjoint(self.written)


_as_set = lru_cache(maxsize=1_024)(frozenset[str])


def names_asked(question: str, known: Iterable[str] = ()) -> tuple[Name, ...]:
    """The names in a question; ``known`` are drugs and acronyms that documents are about."""
    return _names_asked(question, frozenset(folded(one) for one in known))


@lru_cache(maxsize=256)
def _names_asked(question: str, known: frozenset[str]) -> tuple[Name, ...]:
    found: dict[tuple[str, ...], Name] = {}
    for name in _names(question, known):
        found.setdefault((*name.forms, *name.phrases, *name.written), name)
    return tuple(found.values())


def _names(question: str, known: frozenset[str]) -> Iterator[Name]:
    rest = question
    for record in mentions(question):
        if record.kind:
            yield Name(Kind.RECORD, record.text, (record.code,))
            rest = rest.replace(record.text, " ")
    trials = {*_TRIAL.findall(rest), *_CALLED.findall(rest)}
    rest = _ELISION.sub(lambda match: " " * len(match[0]), rest)
    words = [*_WORD.finditer(rest)]
    titled = sum(word[0][0].isupper() for word in words) > _TITLE_CASE * len(words)
    people = [pattern for pattern in _ASKS_FOR.values() if pattern.search(rest)]
    after = 0
    for at, match in enumerate(words):
        word = match[0]
        if (
            at < after
            or word.lower() in STOP_WORDS
            or any(pattern.search(word) for pattern in people)
        ):
            continue
        plain = folded(word)
        is_code = not is_code_system(word) and (word in trials or _COMPOUND.fullmatch(word))
        acid = f"{word} {words[at + 1][0]}" if at + 1 < len(words) else ""
        length = words_of_name([one[0] for one in words[at : at + longest_name()]])
        if length > 1 and not acid.casefold().endswith("ic acid"):
            after = at + length
            whole = rest[match.start() : words[after - 1].end()]
            yield _of_names(Kind.DRUG, whole, other_names(whole))
            continue
        if is_drug(word) or plain in known or (is_measured(word) and is_given(word, rest)):
            kind = Kind.DRUG
        elif acid.casefold().endswith("ic acid") and is_drug(acid):
            others = (_forms(one)[0] for one in other_names(acid) if " " not in one)
            yield Name(Kind.DRUG, acid, tuple(sorted({base(word), *others})))
            continue
        elif is_code or (at and not titled and _WRITTEN_AS_NAME.fullmatch(word)):
            kind = Kind.NAME
        else:
            continue
        yield _of_names(kind, word, other_names(word))
    for group, pattern in _ASKS_FOR.items():
        if pattern.search(question) or (group == "children" and _is_young(question)):
            yield Name(Kind.PEOPLE, group, (group,))


def _of_names(kind: Kind, text: str, names: Sequence[str]) -> Name:
    """A name with all that stands for it."""
    written = tuple(name for name in names if has_stem_of_others(name))
    forms = (
        form for name in names if " " not in name and name not in written for form in _forms(name)
    )
    phrases = (" ".join(stems(name)) for name in names if " " in name or _ISOTOPE.fullmatch(name))
    return Name(kind, text, tuple(dict.fromkeys(forms)), tuple(dict.fromkeys(phrases)), written)


def is_given(word: str, question: str) -> bool:
    """Whether a question is about a substance as a drug: its dose, or what it does to people."""
    given = rf"{_OF_DRUGS}\s+(?:of|for|with|from)\s+(?:\w+\s+)?{re.escape(word)}(?![^\W_])"
    asked = rf"(?<![^\W_]){re.escape(word)}\s+(?:\w+\s+)?{_OF_DRUGS}"
    return re.search(f"{given}|{asked}", question, re.IGNORECASE) is not None


def is_compound(word: str) -> bool:
    """Whether a word is the code of a compound, and not that of a record: LY3295668."""
    return _COMPOUND.fullmatch(word) is not None and _RECORD.match(word) is None


def people_in(text: str) -> frozenset[str]:
    """The groups of people of whom a text speaks."""
    return frozenset(people for people, said in _SPEAKS_OF.items() if said.search(text))


def names_people(word: str) -> bool:
    """Whether a word names a group of people."""
    return any(asks.search(word) for asks in _ASKS_FOR.values())


def _is_young(question: str) -> bool:
    return any(years < _GROWN_UP for years in ages_asked(question))


def ages_asked(question: str) -> list[int]:
    """The ages of people in a question, in whole years: 12-year-old, two-year-old, 6 months old."""
    found = []
    for match in _AGE.finditer(question):
        written = match[1].lower()
        number = _SPELLED.index(written) + 1 if written in _SPELLED else int(written)
        found.append(number if match[2].lower().startswith("y") else 0)
    return found


@lru_cache(maxsize=4_096)
def _forms(name: str) -> tuple[str, ...]:
    """One word that stands for a name: its joined spelling, or its stem."""
    found = analyse(name)
    return tuple(found.forms[-1:]) or (base(name),)


@lru_cache(maxsize=4_096)
def _words_of(text: str) -> frozenset[str]:
    if isinstance(text, Lines):
        return frozenset().union(*map(_words_of, text.parts))
    if text.isascii():
        return frozenset(_WORD.findall(text.lower()))
    return frozenset(map(folded, _WORD.findall(text)))


@lru_cache(maxsize=4_096)
def _letters_and_digits(text: str) -> str:
    return _NOT_ALNUM.sub("", folded(text))
