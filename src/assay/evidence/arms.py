"""Does a number belong to the same arm of a trial in two texts?

A text is cut into clauses, each with its numbers and the arms that it names: drugs, and words such
as placebo. "14.0% on A and 6.6% on B" gives 14.0 to A and 6.6 to B; "14.0% and 6.6% on A and B,
respectively" gives them in order. Where a clause names no arm, or the same number stands with both,
nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.analysis.drugs import is_drug, other_names
from assay.analysis.sentence_ends import split_sentences
from assay.analysis.spelling import folded
from assay.analysis.words import written_words
from assay.evidence.numbers import Number, numbers

_CONTROLS = frozenset({"placebo", "control", "controls", "comparator", "sham", "vehicle"})
_CLAUSE = re.compile(
    r"(?:[;:]|,(?!\d)|\b(?:and|while|whereas|but|versus|vs\.?|against|than|"
    r"compared (?:with|to)))(?=\s)",
    re.IGNORECASE,
)
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)


def misplaced(claim: str, passage: str) -> str:
    """The first number of a claim that a passage has only for another arm; empty: none."""
    stated = list(_placed(passage))
    known = {arm for _, arms in stated for arm in arms}
    for number, arms in _placed(claim):
        same = [found for one, found in stated if _equal(one, number)]
        if same and arms <= known and not any(arms & found for found in same):
            return number.text
    return ""


def _equal(one: Number, other: Number) -> bool:
    return one.value == other.value and one.unit in ("", other.unit)


def _placed(text: str) -> Iterator[tuple[Number, frozenset[str]]]:
    """The numbers of a text whose arms are known, with the names of these."""
    for line in text.splitlines():
        for sentence in split_sentences(line):
            yield from _in_sentence(sentence)


def _in_sentence(sentence: str) -> Iterator[tuple[Number, frozenset[str]]]:
    if _RESPECTIVELY.search(sentence):
        said, arms = _measured(sentence), _arms(sentence)
        if len(said) == len(arms):
            yield from ((number, frozenset({arm})) for number, arm in zip(said, arms, strict=True))
        return
    for clause in _CLAUSE.split(sentence):
        if found := frozenset(_arms(clause)):
            yield from ((number, found) for number in _measured(clause))


def _measured(text: str) -> list[Number]:
    """Numbers that measure something: cohort 2 and week 12 do not."""
    return [one for one in numbers(text) if one.unit or one.value != int(one.value)]


def _arms(text: str) -> list[str]:
    """The arms that a text names, each once, in order; a drug under one of its names."""
    found: dict[str, None] = {}
    for word in written_words(text):
        name = folded(word)
        if name in _CONTROLS:
            found["placebo" if name == "placebo" else "control"] = None
        elif is_drug(word):
            found[min(map(folded, (word, *other_names(word))))] = None
    return list(found)
