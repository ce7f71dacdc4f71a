"""Do these passages answer the question at all, or should we say that we do not know?

There are three signals, all between 0 and 1: how close the nearest passage is in meaning
(``closeness``, the cosine of the dense component), and what share of the question's key words is in
the best passage (``covered``) and in all passages together (``known``). A logistic model combines
them; its weights come from ``bench/answer_gate.py`` (design/036). Cosines are not comparable across
models, so each dense model has its own weights; without any, only the words count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.answers.words import key_words, words
from assay.model.answers import Passage

ENOUGH = 0.5


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
    "bge-small-en-v1.5": Weights(10.20, 3.37, 0.84, -9.94),
}


def signals(question: str, passages: Sequence[Passage]) -> Signals:
    """Compute the signals of one question."""
    wanted = key_words(question)
    texts = [words(f"{passage.chunk.title} {passage.chunk.text}") for passage in passages]
    everything = frozenset[str]().union(*texts)
    near = [passage.component_scores.get("dense") for passage in passages]
    found = [score for score in near if score is not None]
    return Signals(
        max(found, default=None),
        max((_share(wanted, text) for text in texts), default=0.0),
        _share(wanted, everything),
    )


def confidence(read: Signals, dense_model: str = "") -> float:
    """How likely the passages are to answer, between 0 and 1."""
    weights = BY_MODEL.get(dense_model)
    closeness = read.closeness
    if weights is None or closeness is None:
        weights, closeness = BY_WORDS, 0.0
    total = (
        weights.bias
        + weights.closeness * closeness
        + weights.covered * read.covered
        + weights.known * read.known
    )
    return 1 / (1 + math.exp(-total))


def _share(wanted: Sequence[str], there: frozenset[str]) -> float:
    return sum(word in there for word in wanted) / len(wanted) if wanted else 0.0
