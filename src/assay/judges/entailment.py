"""Does our own entailment model say that a passage supports a claim?

It reads both together and runs on the CPU. A model of this size takes many a paraphrase for
something new, so a claim is also supported where most of its words stand in one place
(``words.support``), unless the model is sure of the opposite: people agree more with the two
together than with either (design/061). It reads over small differences, so rules have the last word
on those: a claim with a number, a drug or a frequency that the passage does not have, or that
denies what it states, is not supported (``words.objection``).

How well a passage answers a question is judged by the encoder (``meaning.py``). The reranker that
ships is no better at it: it was trained to order passages, and tells the short answer to a question
of CovidQA from that to another one no better than chance (AUROC .50, words .72).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.judges.meaning import MeaningJudge
from assay.judges.words import RULES, is_quoted, objection, support
from assay.model.judges import JudgeTask, Opinion, Support, TaskKind
from assay.model.vectors import Entailment

NAME = "entailment"
BATCH = 16  # pairs that are judged before their opinions are handed on
_SURE = 0.8  # probability of a contradiction from which on words do not count
_LABELS = (Support.SUPPORTED, Support.CONTRADICTED, Support.UNSUPPORTED)


@dataclass(frozen=True, slots=True)
class EntailmentJudge:
    """The model with rules for numbers, drugs and arms, and another one for relevance."""

    model: Entailment
    relevance: MeaningJudge

    @property
    def name(self) -> str:
        """Identifies everything that changes an opinion."""
        return f"{NAME}({self.model.model_id},rules={RULES},{self.relevance.name})"

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterator[tuple[int, Opinion]]:
        """The opinions: those of relevance, then those of support."""
        support = [at for at, task in enumerate(tasks) if task.kind is TaskKind.SUPPORT]
        others = [at for at, task in enumerate(tasks) if task.kind is not TaskKind.SUPPORT]
        for place, opinion in self.relevance.judge([tasks[at] for at in others]):
            yield others[place], opinion
        for at in [at for at in support if is_quoted(tasks[at].text, tasks[at].passage)]:
            support.remove(at)
            yield at, Opinion(Support.SUPPORTED, 1.0, "it stands there word for word")
        for start in range(0, len(support), BATCH):
            part = support[start : start + BATCH]
            rows = self.model.judge(
                [tasks[at].passage for at in part], [tasks[at].text for at in part]
            )
            for at, row in zip(part, rows.tolist(), strict=True):
                yield at, _opinion(tasks[at], row)


def _opinion(task: JudgeTask, row: Sequence[float]) -> Opinion:
    label = _LABELS[max(range(len(_LABELS)), key=lambda at: (row[at], -at))]
    score = round(float(row[0]), 4)
    if label is Support.SUPPORTED and (why := objection(task.text, task.passage)):
        return Opinion(Support.UNSUPPORTED, min(score, 0.49), why)
    if label is not Support.SUPPORTED and row[1] < _SURE:
        by_words = support(task.text, task.passage)
        if by_words.supported:
            why = "most of its words stand in one place"
            return Opinion(Support.SUPPORTED, round(by_words.score, 4), why)
    return Opinion(label, score)
