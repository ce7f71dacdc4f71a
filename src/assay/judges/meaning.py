"""How well does a passage answer a question, by its meaning?

The encoder that ships compares both: the cosine of their vectors, and the weight of the question's
terms in the passage. A logistic model makes a probability of these, in which a text shorter than
thirty words gets a bonus: a short answer repeats little of its question. Thresholds make grades.

Fitted on NFCorpus (dev) and Cranfield, and for short texts on every other answer of CovidQA
(``python -m bench.judge_relevance``). Quadratic kappa with people on what was not used (NFCorpus
test, MED, passages of CovidQA) is .35, .37 and .18; by words it is .08, .19 and .06
(``python -m reproduce.relevance``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.judges.words import only_repeats
from assay.model.judges import JudgeTask, Opinion, graded
from assay.model.vectors import SearchEncoder, SparseVector

NAME = "meaning"
RULES = 1  # of which version; opinions of another one are not reused
BATCH = 16  # passages that are read before their grades are handed on
_WEIGHTS, _BIAS = (9.94, 0.754, 0.984), -8.89  # cosine, terms, shortness
_SHORT_WORDS = 30
_GRADES = (0.30, 0.45, 0.70)  # probabilities from which on a grade is 1, 2 and 3


@dataclass(frozen=True, slots=True)
class MeaningJudge:
    """Grades relevance by the vectors of one model; the same pair always gets the same grade."""

    model: SearchEncoder

    @property
    def name(self) -> str:
        """Identifies everything that changes a grade."""
        return f"{NAME}{RULES}={self.model.model_id}"

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterator[tuple[int, Opinion]]:
        """The grades of tasks of relevance, question by question."""
        for start in range(0, len(tasks), BATCH):
            part = tasks[start : start + BATCH]
            for text in dict.fromkeys(task.text for task in part):
                own = [at for at, task in enumerate(part) if task.text == text]
                rows = features(self.model, text, [part[at].passage for at in own])
                for at, row in zip(own, rows, strict=True):
                    yield start + at, _grade(part[at], _chance(row))


def features(
    model: SearchEncoder, question: str, passages: Sequence[str]
) -> list[tuple[float, float, float]]:
    """Cosine, weight of the question's terms, and how short it is, of each passage."""
    vector, terms = model.query_vectors([question])[0], model.query_terms([question])[0]
    return [
        (
            float(vector @ read.dense),
            _weight(terms, read.sparse),
            max(0.0, math.log(_SHORT_WORDS / max(len(passage.split()), 1))),
        )
        for passage, read in zip(passages, model.encode_both(list(passages)), strict=True)
    ]


def _grade(task: JudgeTask, share: float) -> Opinion:
    if only_repeats(task.text, task.passage):
        return graded(0, "it repeats the question")
    return graded(sum(share >= limit for limit in _GRADES), f"by meaning: {share:.2f}")


def _chance(row: Sequence[float]) -> float:
    return 1 / (1 + math.exp(-_BIAS - sum(w * x for w, x in zip(_WEIGHTS, row, strict=True))))


def _weight(asked: SparseVector, read: SparseVector) -> float:
    """The weights that a passage gives to terms of the question, as a mean by their own weights."""
    total = float(asked.weights.sum())
    if not total:
        return 0.0
    _, mine, other = np.intersect1d(asked.terms, read.terms, True, return_indices=True)
    return float(asked.weights[mine] @ read.weights[other]) / total
