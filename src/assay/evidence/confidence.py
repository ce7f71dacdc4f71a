"""How likely are these passages to answer the question?

Three signals between 0 and 1 are combined by a logistic model: how close the nearest passage is in
meaning (``closeness``, the cosine of the dense component), and what share of the question's key
words is in the best passage (``covered``) and in all of them (``known``). Weights come from
``bench/answer_gate.py`` (design/036). Cosines are not comparable across models, so each dense model
has its own weights; without any, only the words count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from assay.analysis.language import small_words
from assay.analysis.spelling import folded
from assay.analysis.words import analyse, vocabulary
from assay.model.answers import Passage
from assay.model.document import Chunk

ENOUGH = 0.5  # confidence from which a question is answered
LOOKED_AT = 8  # passages that are read
_STOP_TEXT = """
a about after an and any are as at be been before being between both but by can could describe did
do does during each every explain for from get give given got had happen happens has have her his
how i if in into is it its itself list long many may me might more most much must my no nor not of
off often on once one or other our out over patient patients people per please said say says should
so some someone such take taken tell than that the their them then there these they this those
through to told too under until up was we were what when where which while who whom why will with
would you your
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())
_LIGHT_TEXT = """
above adult adults against ago allowed bad below case cases combination combine combined come comes
common compared comparison dangerous day days difference different divided doctor doctors drug drugs
effect effects frequent general good group groups high hour hours kind level levels low main maximum
medication medications medicine medicines men minimum minute minutes month months new normal number
okay old overall part participant participants percent percentage plus proportion rate rates receive
received recommended reported result results safe safely same share show shown shows sign signs
start started starting studies study subject subjects symptom symptoms take takes taking therapy
time times together total treat treated treatment treatments treats trial trials use used uses using
usual versus week weeks women year years
"""
LIGHT = STOP_WORDS | frozenset(_LIGHT_TEXT.split())
"""Words that say nothing of what a question is about."""
_SECTION_TEXT = """
adverse contraindicated contraindications criteria dosage dose dosing effects eligible enter events
excluded indicated indications interact interactions join part participate precautions prescribed
reactions recommended side trial use used warnings
"""
OF_SECTIONS = frozenset(analyse(_SECTION_TEXT).terms)
"""Words that name a section rather than what it says."""


WordsOf: TypeAlias = Callable[[Chunk, frozenset[str]], frozenset[str]]
"""Those of some words that a passage or its title has."""


@dataclass(frozen=True, slots=True)
class Signals:
    """The evidence for an answer; ``closeness`` is None without a dense component."""

    closeness: float | None
    covered: float
    known: float


@dataclass(frozen=True, slots=True)
class Weights:
    """One logistic model."""

    closeness: float
    covered: float
    known: float
    bias: float


BY_WORDS = Weights(0.0, 4.46, 1.63, -3.74)
BY_MODEL: Mapping[str, Weights] = {
    "assay-bio": Weights(13.85, 2.01, 2.94, -12.80),
    "assay-bio-fast": Weights(11.33, 2.90, 2.64, -11.58),
    "bge-small-en-v1.5": Weights(10.20, 3.37, 0.84, -9.94),
}


def key_words(question: str) -> tuple[str, ...]:
    """The meaningful stems of a question, in order, each once; all of them if none is."""
    return tuple(dict.fromkeys(analyse(meaningful(question)).terms or analyse(question).terms))


def meaningful(question: str) -> str:
    """A question without the words that say nothing."""
    small = STOP_WORDS | small_words(question)
    words = question.split()
    return " ".join(word for word in words if folded(word).strip("¿¡?.,;:!()") not in small)


def words_of(chunk: Chunk, asked: frozenset[str]) -> frozenset[str]:
    """Those of the words that a passage or its title has."""
    return vocabulary(chunk.title).among(asked) | vocabulary(chunk.text).among(asked)


def signals(
    question: str,
    passages: Sequence[Passage],
    met: frozenset[str] = frozenset(),
    words: WordsOf = words_of,
) -> Signals:
    """Compute the signals of one question; words in ``met`` are known in another form."""
    wanted, codes = key_words(question), tuple(analyse(meaningful(question)).forms)
    asked = frozenset((*wanted, *codes))

    def share(there: Set[str]) -> float:
        """The share of the words, or of the codes however they are spelled."""
        return max(_share(wanted, there), _share(codes, there))

    near = [passage.component_scores.get("dense") for passage in passages]
    found = [score for score in near if score is not None]
    covered = 0.0
    known = met & asked
    for one in passages:
        there = met & asked | words(one.chunk, asked)
        covered = max(covered, share(there))
        known |= there
        if covered == 1.0:  # nor can the others add anything: reading them takes long
            break
    return Signals(max(found, default=None), covered, share(known) if passages else 0.0)


def confidence(read: Signals, dense_model: str = "") -> float:
    """How likely the passages are to answer, between 0 and 1."""
    weights = BY_MODEL.get(dense_model)
    closeness = read.closeness
    if weights is None or closeness is None:
        weights, closeness = BY_WORDS, 0.0
    return logistic(weights, Signals(closeness, read.covered, read.known))


def logistic(weights: Weights, read: Signals) -> float:
    """The value of a model, between 0 and 1."""
    total = (
        weights.bias
        + weights.closeness * (read.closeness or 0.0)
        + weights.covered * read.covered
        + weights.known * read.known
    )
    return 1 / (1 + math.exp(-total))


def _share(wanted: Sequence[str], there: Set[str]) -> float:
    return sum(word in there for word in wanted) / len(wanted) if wanted else 0.0
