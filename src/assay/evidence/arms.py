"""Does a number belong to the same arm of a trial in two texts?

A text is cut into clauses, each with its numbers and the arms that it names: drugs, other words
that are written as names, and words such as placebo. "14.0% on A and 6.6% on B" gives 14.0 to A and
6.6 to B; "14.0% and 6.6% on A and B, respectively" gives them in order. Where a clause names no
arm, or the same number stands with both, nothing is known.

Two numbers of a claim have changed places where the words around each of them are those that the
passage has around the other: "80 mg on day 1, then 160 mg" for "160 mg on day 1, then 80 mg".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from assay.analysis.drugs import is_drug, other_names
from assay.analysis.sentence_ends import split_sentences
from assay.analysis.spelling import folded
from assay.analysis.words import vocabulary, written_words
from assay.evidence.numbers import Number, numbers

_CONTROLS = frozenset({"placebo", "control", "controls", "comparator", "sham", "vehicle"})
_CLAUSE = re.compile(
    r"(?:[;:]|,(?!\d)|\b(?:and|while|whereas|but|versus|vs\.?|against|than|"
    r"compared (?:with|to)))(?=\s)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"(?<=\))")  # what they hold belongs to the words before them
_ASIDE = re.compile(r"\((?:[^()\s]+\s+){3,}[^()]*\)")
_FURTHER = 2  # words more that have to speak for the other place
_NAME = re.compile(r"(?<=[a-z,%(] )[A-Z][a-z]{4,}\b|(?<=[a-z,%(] )[A-Z]{5,}\b")
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)


def misplaced(claim: str, passage: str) -> str:
    """The first number of a claim that a passage has only for another arm; empty: none."""
    names = _names(claim) | _names(passage)
    stated = list(_placed(passage, names))
    known = {arm for _, arms in stated for arm in arms}
    for number, arms in _placed(claim, names):
        same = [found for one, found in stated if _equal(one, number)]
        if same and arms <= known and not any(arms & found for found in same):
            return number.text
    return ""


def exchanged(claim: str, passage: str) -> str:
    """Two numbers of a claim that have changed places, as "80 mg and 160 mg"; empty: none have."""
    said = dict(_surrounded(claim))
    stated: dict[Number, list[frozenset[str]]] = {}
    for number, words in _surrounded(passage):
        stated.setdefault(_known(number, said), []).append(words)
    there = {number: words for number, words in said.items() if number in stated}

    def shared(one: Number, other: Number) -> int:
        """Words around the first in the claim that stand around the second in the passage."""
        return max(len(there[one] & words) for words in stated[other])

    for one, other in combinations(there, 2):
        if one.unit != other.unit or one.value == other.value:
            continue
        kept = shared(one, one) + shared(other, other)
        if shared(one, other) + shared(other, one) >= kept + _FURTHER:
            return f"{one.text} and {other.text}"
    return ""


def _known(number: Number, said: dict[Number, frozenset[str]]) -> Number:
    """The number as the claim writes it, where it is one of the claim's."""
    return next((one for one in said if _equal(number, one)), number)


def _surrounded(text: str) -> Iterator[tuple[Number, frozenset[str]]]:
    """The measured numbers of a text, each with the words of its clause."""
    for line in text.splitlines():
        for sentence in split_sentences(line):
            if _RESPECTIVELY.search(sentence):
                continue
            for clause in _CLAUSE.split(_ASIDE.sub("", sentence)):
                for part in _BRACKETS.split(clause):
                    measured = _measured(part)
                    if len(measured) == 1:
                        own = vocabulary(measured[0].text).every
                        yield measured[0], frozenset(vocabulary(part).every - own)


def _equal(one: Number, other: Number) -> bool:
    return one.value == other.value and one.unit in ("", other.unit)


def _names(text: str) -> frozenset[str]:
    """Words with a capital letter within a sentence of small ones: names of drugs and trials."""
    return frozenset(
        folded(word)
        for line in text.splitlines()
        for sentence in split_sentences(line)
        for word in _NAME.findall(sentence)
    )


def _placed(text: str, names: frozenset[str]) -> Iterator[tuple[Number, frozenset[str]]]:
    """The numbers of a text whose arms are known, with the names of these."""
    for line in text.splitlines():
        for sentence in split_sentences(line):
            yield from _in_sentence(sentence, names)


def _in_sentence(sentence: str, names: frozenset[str]) -> Iterator[tuple[Number, frozenset[str]]]:
    if _RESPECTIVELY.search(sentence):
        said, arms = _measured(sentence), _arms(sentence, names)
        if len(said) == len(arms):
            yield from ((number, frozenset({arm})) for number, arm in zip(said, arms, strict=True))
        return
    for clause in _CLAUSE.split(sentence):
        if found := frozenset(_arms(clause, names)):
            yield from ((number, found) for number in _measured(clause))


def _measured(text: str) -> list[Number]:
    """Numbers that measure something: cohort 2 and week 12 do not."""
    return [one for one in numbers(text) if one.unit or one.value != int(one.value)]


def _arms(text: str, names: frozenset[str]) -> list[str]:
    """The arms that a text names, each once, in order; a drug under one of its names."""
    found: dict[str, None] = {}
    for word in written_words(text):
        name = folded(word)
        if name in _CONTROLS:
            found["placebo" if name == "placebo" else "control"] = None
        elif is_drug(word):
            found[min(map(folded, (word, *other_names(word))))] = None
        elif name in names:
            found[name] = None
    return list(found)
