"""Which claims do rules refuse, whatever a model says?"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.judges.entailment import EntailmentJudge
from assay.judges.meaning import MeaningJudge
from assay.judges.words import WordJudge, objection, support
from assay.model.judges import JudgeTask, Support, TaskKind
from tests.contract.test_judges import Letters

PASSAGE = (
    "Hyperkalemia occurred in 14.0% of patients on finerenone and in 6.6% of patients on placebo."
)


class Believer:
    """A model that says yes to everything."""

    model_id = "believer"

    def judge(
        self, premises: list[str], hypotheses: list[str], *, stop: object = None
    ) -> NDArray[np.float32]:
        return np.array([[0.9, 0.05, 0.05]] * len(premises), np.float32)


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("Hyperkalemia did not occur in patients on finerenone.", "it denies what is stated there"),
        ("Hyperkalemia occurred in 15.0% of patients on finerenone.", "15.0% is not there"),
        ("Hyperkalemia occurred in patients on warfarin.", "warfarin is not there"),
        (
            "Hyperkalemia occurred in 6.6% of patients on finerenone.",
            "6.6% belongs to another arm there",
        ),
        ("Hyperkalemia was seen in patients on finerenone.", ""),
        ("Nobody should stop treatment without advice.", ""),  # another subject
    ],
)
def test_what_a_passage_cannot_support(claim: str, why: str) -> None:
    assert objection(claim, PASSAGE) == why
    judge = EntailmentJudge(Believer(), MeaningJudge(Letters()))
    ((_, found),) = judge.judge([JudgeTask(TaskKind.SUPPORT, claim, PASSAGE)])
    assert found.label == (Support.UNSUPPORTED if why else Support.SUPPORTED)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Semaglutide increased body weight.", "Semaglutide reduced body weight by 14.9%."),
        (
            "Metformin is contraindicated with an eGFR above 30.",
            "Metformin is contraindicated in patients with an eGFR below 30.",
        ),
    ],
)
def test_the_opposite_direction_is_a_contradiction(claim: str, passage: str) -> None:
    assert support(claim, passage).label == Support.CONTRADICTED
    assert objection(claim, passage) == "it goes the other way there"


def test_words_say_that_they_are_words() -> None:
    task = JudgeTask(TaskKind.RELEVANCE, "hyperkalemia with finerenone", PASSAGE)
    ((_, found),) = WordJudge().judge([task])
    assert found.reason == "by words alone: 100% of the question's are there"


def test_an_answer_that_repeats_the_question_is_not_to_the_point() -> None:
    question = "How much apixaban in atrial fibrillation?"
    for text in (question, f"{question} That is a good question."):
        ((_, found),) = WordJudge().judge([JudgeTask(TaskKind.RELEVANCE, question, text)])
        assert found.grade == 0
        assert found.reason == "it repeats the question"
    told = f"{question} 5 mg twice daily."
    ((_, found),) = WordJudge().judge([JudgeTask(TaskKind.RELEVANCE, question, told)])
    assert found.grade == 3


class Doubter:
    """A model that finds every claim new, or contradicted with this probability."""

    model_id = "doubter"

    def __init__(self, contradicted: float) -> None:
        self.row = [0.02, contradicted, 0.98 - contradicted]

    def judge(
        self, premises: list[str], hypotheses: list[str], *, stop: object = None
    ) -> NDArray[np.float32]:
        return np.array([self.row] * len(premises), np.float32)


@pytest.mark.parametrize(
    ("claim", "contradicted", "label"),
    [
        ("Of patients on finerenone 14.0% had hyperkalemia.", 0.1, Support.SUPPORTED),
        ("Of patients on finerenone 14.0% had hyperkalemia.", 0.9, Support.CONTRADICTED),
        ("Of patients on finerenone 6.6% had hyperkalemia.", 0.1, Support.UNSUPPORTED),
        ("Of patients on finerenone many died of sepsis.", 0.1, Support.UNSUPPORTED),
    ],
)
def test_words_speak_for_what_a_model_only_finds_new(
    claim: str, contradicted: float, label: Support
) -> None:
    judge = EntailmentJudge(Doubter(contradicted), MeaningJudge(Letters()))
    ((_, found),) = judge.judge([JudgeTask(TaskKind.SUPPORT, claim, PASSAGE)])
    assert found.label == label


@pytest.mark.parametrize(
    ("claim", "passage", "supported"),
    [
        ("No more than 25 mg should be taken in 48 hours.",
         "The recommended maximum is 25 mg to be taken within 48 hours.", True),
        ("The drug is approved for dementia.", "The drug is not approved for dementia.", False),
        ("The drug is not approved for dementia.", "The drug is approved for dementia.", False),
        ("The drug is not approved for it, and old patients with dementia have a risk of death.",
         "Old patients with dementia have a higher risk of death. The drug is not approved.", True),
        ("Nausea was seen in 14 adults on the drug.",
         "Nausea was seen in 14 adults on the drug, and the dose was not studied.", True),
        ("Inject 40 mg every day.", "Inject 40 mg every other week.", False),
        ("Inject 40 mg every two weeks.", "Inject 40 mg every other week.", True),
        ("It is 80 mg on day 1, and 160 mg follow in two weeks.",
         "It is 160 mg on day 1, and 80 mg follow in two weeks.", False),
    ],
)  # fmt: skip
def test_denials_and_doses_by_words(claim: str, passage: str, supported: bool) -> None:
    assert support(claim, passage).supported == supported
