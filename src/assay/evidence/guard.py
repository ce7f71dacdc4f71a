"""What may an answerer see, and what is said where nothing is about the question?

Whoever answers, a language model or a function of a user, gets passages about what the question
names (``gather.py``). Where there are none, nobody is asked. Operators of a query are no words of
a question: an answerer sees neither ``title:`` nor what ``-word`` keeps out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay import limits
from assay.analysis.query import read
from assay.evidence.gather import gather
from assay.evidence.numbers import check_numbers
from assay.evidence.wording import in_words_of
from assay.model.answers import Answer, Answerer, NumberCheck, Passage


@dataclass(frozen=True, slots=True)
class Guarded:
    """An answer, and what came of checking its numbers."""

    answer: Answer
    numbers: NumberCheck | None


def guarded(
    answerer: Answerer, question: str, passages: Sequence[Passage], nothing: str = ""
) -> Guarded:
    """Ask the answerer about passages on the subject; ``nothing`` says why there is none to ask."""
    question = read(question).plain
    asked = question[: limits.MAX_ASKED_CHARS]
    evidence = gather(in_words_of(passages, asked), passages)
    reason = nothing or (evidence.reason if passages else "")
    if reason:
        return Guarded(Answer("", grounded=False, refusal_reason=reason), None)
    shown = [one.passage for one in evidence.about]
    answer = answerer.answer(question, shown)
    return Guarded(answer, check_numbers(answer, shown))
