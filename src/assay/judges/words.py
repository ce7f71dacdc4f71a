"""Do the words, numbers and names of a claim stand in a passage?

No model runs. A claim is supported where one or two sentences of the passage in a row have most of
its content words, all of its numbers with no other unit, every drug under some name, and deny
exactly what it denies. Where the words are there and a number, a drug or a denial is not, the
passage contradicts it. What this judge cannot see is meaning: another word for the same is missing,
and the same words in another order are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.analysis.drugs import is_drug, other_names
from assay.analysis.sentence_ends import split_sentences
from assay.analysis.spelling import folded
from assay.analysis.words import vocabulary, written_words
from assay.evidence.arms import exchanged, misplaced
from assay.evidence.confidence import key_words
from assay.evidence.frequencies import other_frequency
from assay.evidence.numbers import lacking_numbers
from assay.model.judges import JudgeTask, Opinion, Support, TaskKind, graded

NAME = "words"
RULES = 5  # of which version; opinions of another one are not reused
_ENOUGH = 0.75  # of a claim's content words, in one place
_SAME_SUBJECT = 0.6  # from here on, another number or a denial contradicts
_GRADES = (0.4, 0.7, 0.95)  # shares of a question's words from which on a grade is 1, 2 and 3
_ABOUT_QUESTIONS = "question asked good great"
_WORD = re.compile(r"[^\W_]+(?:[.,][0-9]+)*")
_DENIES = re.compile(
    r"\b(?:no|not|never|none|neither|nor|without|cannot|can't|isn't|aren't|wasn't|weren't|don't"
    r"|doesn't|didn't|won't|lack(?:s|ed)?|contraindicated|avoid(?:ed)?)\b"
    r"(?! (?:more|less|fewer|longer|later|earlier|higher|lower|greater) than\b| only\b)",
    re.IGNORECASE,
)
_UP = re.compile(
    r"\b(?:increas\w*|rais(?:e[sd]?|ing)|ris(?:e[sn]?|ing)|rose|higher|above|greater|larger|"
    r"longer|exceed\w*|gain(?:s|ed)?)\b",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:decreas\w*|reduc\w*|lower\w*|below|fewer|smaller|shorter|fell|fall\w*|declin\w*|"
    r"los(?:t|s|e[sn]?|ing))\b",
    re.IGNORECASE,
)
UP, DOWN = (True, False), (False, True)
_DENIED = 2  # content words after a denial that it is about


@dataclass(frozen=True, slots=True)
class WordJudge:
    """Compares words; the same pair always gets the same opinion."""

    @property
    def name(self) -> str:
        """Identifies everything that changes an opinion."""
        return f"{NAME}(rules={RULES})"

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterator[tuple[int, Opinion]]:
        """The opinion on each task, in order."""
        for at, task in enumerate(tasks):
            if task.kind is TaskKind.SUPPORT:
                yield at, support(task.text, task.passage)
            else:
                yield at, _relevance(task.text, task.passage)


def support(claim: str, passage: str) -> Opinion:
    """What a passage does to a claim, by its words."""
    if is_quoted(claim, passage):
        return Opinion(Support.SUPPORTED, 1.0, "it stands there word for word")
    wanted = frozenset(key_words(claim))
    if not wanted:
        return Opinion(Support.UNSUPPORTED, 0.0, "the claim has no content words")
    share, place = nearest(wanted, passage)
    problem = mismatch(claim, place, passage)
    if problem and share >= _SAME_SUBJECT:
        return Opinion(Support.CONTRADICTED, 0.1 * share, problem)
    if share >= _ENOUGH and not problem:
        return Opinion(Support.SUPPORTED, share)
    return Opinion(Support.UNSUPPORTED, min(share, 0.49), problem or "words of it are missing")


def nearest(wanted: frozenset[str], passage: str) -> tuple[float, str]:
    """The share of some words that stand in one place of a passage, and that place."""
    return max(
        ((len(wanted & vocabulary(text).every) / len(wanted), text) for text in _places(passage)),
        key=lambda found: found[0],
        default=(0.0, ""),
    )


def objection(claim: str, passage: str) -> str:
    """Why a passage cannot support a claim, whatever a model says; empty: nothing is known.

    A number or a drug that is not there, or a denial of what the passage states in the same words.
    The other way round, and with fewer words in common, models are right more often than rules.
    """
    if lacking := absent(claim, passage):
        return lacking
    wanted = frozenset(key_words(claim))
    share, place = nearest(wanted, passage) if wanted else (0.0, "")
    if share < _ENOUGH:
        return ""
    return _denial(claim, place) or _turned(claim, place)


def is_quoted(claim: str, passage: str) -> bool:
    """Whether a claim stands in a passage word for word."""
    said = " ".join(_WORD.findall(folded(claim)))
    return bool(said) and f" {said} " in f" {' '.join(_WORD.findall(folded(passage)))} "


def mismatch(claim: str, place: str, passage: str) -> str:
    """Which number, drug or denial of a claim is not where its words are; empty: none."""
    if lacking := absent(claim, passage):
        return lacking
    return _denial(claim, place) or _turned(claim, place)


def _denial(claim: str, place: str) -> str:
    """Whether one denies, in words of the other, what that states; empty: neither does."""
    if ours := _denied(claim):
        stated = not _denied(place) and ours & vocabulary(place).every
        return "it denies what is stated there" if stated else ""
    known = vocabulary(claim).every
    sentences = (one for line in place.splitlines() for one in split_sentences(line))
    closest = max(sentences, key=lambda one: len(known & vocabulary(one).every), default="")
    return "it is denied there" if _denied(closest) & known else ""


def _denied(text: str) -> frozenset[str]:
    """The words that come after denials; of one without any, the denial itself."""
    return frozenset(
        word
        for match in _DENIES.finditer(text)
        for word in [*key_words(text[match.end() : match.end() + 80])[:_DENIED], match[0].lower()]
    )


def _turned(claim: str, place: str) -> str:
    """Whether one says that something rises, and the other that it falls; empty: neither."""
    ways = [(bool(_UP.search(text)), bool(_DOWN.search(text))) for text in (claim, place)]
    return "it goes the other way there" if ways in ([UP, DOWN], [DOWN, UP]) else ""


def absent(claim: str, passage: str) -> str:
    """Which number or drug of a claim a passage does not have; empty: none."""
    if lacking := lacking_numbers(claim, passage):
        return f"{', '.join(lacking)} is not there"
    there = {folded(word) for word in written_words(passage)}
    for word in written_words(claim):
        if is_drug(word) and not there.intersection(map(folded, (word, *other_names(word)))):
            return f"{word} is not there"
    if other := misplaced(claim, passage):
        return f"{other} belongs to another arm there"
    if other := exchanged(claim, passage):
        return f"{other} have changed places"
    if other := other_frequency(claim, passage):
        return f"{other} is not there"
    return ""


def _places(passage: str) -> Iterator[str]:
    """Sentences of a passage, and two in a row; of a table each row with what is above it."""
    parts = [
        sentence
        for line in passage.splitlines()
        for sentence in split_sentences(line.strip())
        if sentence
    ]
    yield from parts
    for first, second in pairwise(parts):
        yield f"{first} {second}"


def _relevance(question: str, passage: str) -> Opinion:
    wanted = frozenset(key_words(question))
    if only_repeats(question, passage):
        return graded(0, "it repeats the question")
    share = len(wanted & vocabulary(passage).every) / len(wanted) if wanted else 0.0
    said = f"by words alone: {share:.0%} of the question's are there"
    return graded(sum(share >= limit for limit in _GRADES), said)


def only_repeats(question: str, passage: str) -> bool:
    """Whether a passage quotes the question and says nothing beside it."""
    if not is_quoted(question, passage):
        return False
    added = set(key_words(passage)).difference(key_words(f"{question} {_ABOUT_QUESTIONS}"))
    return not (added or lacking_numbers(passage, question))
