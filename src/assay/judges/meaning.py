"""How well does a passage answer a question, by its meaning?

The encoder that ships compares both: the cosine of their vectors, and the weight of the question's
terms in the passage. A logistic model makes a probability of these, in which a text shorter than
thirty words gets a bonus: a short answer repeats little of its question. Thresholds make grades.

Fitted on NFCorpus (dev) and Cranfield, and for short texts on every other answer of CovidQA.
Quadratic kappa with judgments of collections that were not used (NFCorpus test, MED, CovidQA
passages) is .42, .49 and .24; by words it is .16, .36 and .06 (design/061).
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
_COSINE, _TERMS, _SHORT, _BIAS = 9.94, 0.754, 0.984, -8.89
_SHORT_WORDS = 30
_GRADES = (0.30, 0.45, 0.70)  # probabilities from which on a grade is 1, 2 and 3


@dataclass(frozen=True, slots=True)
class MeaningJudge:
    """Grades relevance by the vectors of one model; the same pair always gets the same grade."""

    model: SearchEncoder

    @property
    def name(self) -> str:
        """Identifies everything that changes a grade."""
        return f"{NAME}({self.model.model_id},rules={RULES})"

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterator[tuple[int, Opinion]]:
        """The grades of tasks of relevance, in order, question by question."""
        asked = list(dict.fromkeys(task.text for task in tasks))
        vectors = dict(zip(asked, self.model.query_vectors(asked), strict=True))
        terms = dict(zip(asked, self.model.query_terms(asked), strict=True))
        for start in range(0, len(tasks), BATCH):
            part = tasks[start : start + BATCH]
            read = self.model.encode_both([task.passage for task in part])
            for at, (task, passage) in enumerate(zip(part, read, strict=True), start):
                share = _chance(
                    float(vectors[task.text] @ passage.dense),
                    _weight(terms[task.text], passage.sparse),
                    len(task.passage.split()),
                )
                yield at, _grade(task, share)


def _grade(task: JudgeTask, share: float) -> Opinion:
    if only_repeats(task.text, task.passage):
        return graded(0, "it repeats the question")
    return graded(sum(share >= limit for limit in _GRADES), f"by meaning: {share:.2f}")


def _chance(cosine: float, terms: float, words: int) -> float:
    short = max(0.0, math.log(_SHORT_WORDS / max(words, 1)))
    return 1 / (1 + math.exp(-(_COSINE * cosine + _TERMS * terms + _SHORT * short + _BIAS)))


def _weight(asked: SparseVector, read: SparseVector) -> float:
    """The weights that a passage gives to terms of the question, as a mean by their own weights."""
    total = float(asked.weights.sum())
    if not total:
        return 0.0
    _, mine, other = np.intersect1d(asked.terms, read.terms, True, return_indices=True)
    return float(asked.weights[mine] @ read.weights[other]) / total
