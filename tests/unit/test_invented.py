"""Do the measures of claims catch invented answers, and let right ones pass?"""

from __future__ import annotations

from assay.judges.words import WordJudge
from reproduce.invented import KINDS, caught, load


def test_invented_answers_are_caught_and_right_ones_are_not() -> None:
    cases = load()
    assert len(cases) * (len(KINDS) - 1) == 50
    found = caught(WordJudge(), cases)
    assert found["right"]["any"] == 0
    assert {kind: found[kind]["any"] for kind in KINDS[1:]} == {
        "wrong_number": 10,
        "wrong_drug": 10,
        "false_sentence": 5,  # what words alone cannot see
        "no_citation": 10,
        "other_citation": 10,
    }
    assert sum(found[kind]["Groundedness"] for kind in KINDS) == 0  # the literal rule sees none
