"""Does the encoder that ships tell what answers a question from what shares its words?"""

from __future__ import annotations

import pytest

from assay.app.engine import shipped_encoder
from assay.judges.meaning import MeaningJudge
from assay.judges.words import WordJudge
from assay.model.judges import JudgeTask, TaskKind
from assay.settings import configure

QUESTION = "metformin in renal failure"
ANSWER = "Patients whose eGFR is under 30 must not be given metformin."
OTHER = "Sumatriptan should not be used in patients with a history of myocardial infarction."


@pytest.fixture(scope="module")
def judge() -> MeaningJudge:
    return MeaningJudge(shipped_encoder(configure({})))


def grades(judge: MeaningJudge | WordJudge, question: str, *passages: str) -> list[int | None]:
    tasks = [JudgeTask(TaskKind.RELEVANCE, question, one) for one in passages]
    return [opinion.grade for _, opinion in judge.judge(tasks)]


def test_another_word_for_the_same_is_relevant(judge: MeaningJudge) -> None:
    assert grades(WordJudge(), QUESTION, ANSWER) == [0]
    right, wrong = grades(judge, QUESTION, ANSWER, OTHER)
    assert right is not None
    assert right >= 1
    assert wrong == 0


def test_a_short_answer_can_be_to_the_point(judge: MeaningJudge) -> None:
    question = "What is the main cause of HIV-1 infection in children?"
    told = grades(judge, question, "Mother-to-child transmission", "14 days of quarantine")
    assert told == [3, 0]


def test_a_repeated_question_answers_nothing(judge: MeaningJudge) -> None:
    assert grades(judge, QUESTION, f"{QUESTION}?") == [0]


def test_a_grade_does_not_depend_on_its_neighbours(judge: MeaningJudge) -> None:
    together = grades(judge, QUESTION, OTHER, ANSWER)
    assert together == [*grades(judge, QUESTION, OTHER), *grades(judge, QUESTION, ANSWER)]
