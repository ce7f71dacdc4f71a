"""Is an answer cut into claims, each with what it cites?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.evidence.claims import Claim, citing, claims_of, has_marks, in_context, statements_of
from assay.model.answers import Answer

CITED = ("a:1", "b:2", "c:3")


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The dose is 5 mg [1].", [("The dose is 5 mg.", "1")]),
        ("The dose is 5 mg. [1] Take it with food. [2]",
         [("The dose is 5 mg.", "1"), ("Take it with food.", "2")]),
        ("The dose is 5 mg [1][3]. It is well tolerated.",
         [("The dose is 5 mg.", "13"), ("It is well tolerated.", "")]),
        ("It lowers LDL [1] in adults [2-3].", [("It lowers LDL in adults.", "123")]),
        ("Give 5 mg [b:2] once daily.", [("Give 5 mg once daily.", "2")]),
        ("Nausea | 5% | 2% [1] Headache | 3% | 3% [2]",
         [("Nausea | 5% | 2%", "1"), ("Headache | 3% | 3%", "2")]),
        ("Severe renal impairment [1] The dose is 5 mg daily. [2]",
         [("Severe renal impairment", "1"), ("The dose is 5 mg daily.", "2")]),
        ("- Take it daily [1]\n- Take it with food [2]",
         [("Take it daily", "1"), ("Take it with food", "2")]),
        ("It was studied by Smith et al. in 40 adults [1].",
         [("It was studied by Smith et al. in 40 adults.", "1")]),
        ("The range [5-10 mg] holds for adults [1].",
         [("The range [5-10 mg] holds for adults.", "1")]),
        ("It is 5 mg [1] in a range of [2, 3] mg.", [("It is 5 mg in a range of [2, 3] mg.", "1")]),
        ("The hazard fell (95% CI [1, 3]) in adults [1].",
         [("The hazard fell (95% CI [1, 3]) in adults.", "1")]),
        ("The interval was [12, 30] in adults [2].",
         [("The interval was [12, 30] in adults.", "2")]),
        ("Take 5 mg daily [^1].", [("Take 5 mg daily.", "1")]),
        ("Aspirin is safe [2].\n\n[1] Smith J et al 2020\n[2] Jones K et al 2021",
         [("Aspirin is safe.", "2")]),
        ("Aspirin is safe.\n\nReferences\n[2]: Jones K et al 2021", [("Aspirin is safe.", "123")]),
        ("Aspirin is safe.\n\n[1] Smith J et al 2020\n\n[2] Jones K et al 2021\n",
         [("Aspirin is safe.", "123")]),
        ("Doses are as follows: [1]\nTake 5 mg daily [1].", [("Take 5 mg daily.", "1")]),
    ],
)  # fmt: skip
def test_claims_and_their_citations(text: str, claims: list[tuple[str, str]]) -> None:
    expected = [Claim(said, tuple(CITED[int(n) - 1] for n in marks)) for said, marks in claims]
    assert claims_of(Answer(text, CITED)) == expected


def test_without_marks_every_claim_rests_on_all_citations() -> None:
    answer = Answer("The dose is 5 mg. Take it with food.", CITED)
    assert [claim.citations for claim in claims_of(answer)] == [CITED, CITED]
    assert not has_marks(answer)


def test_an_answer_that_begins_with_marks_is_no_list_of_references() -> None:
    claims = claims_of(Answer("[1] Aspirin is safe here.\n[2] It thins the blood.", CITED))
    assert [one.text for one in claims] == ["Aspirin is safe here.", "It thins the blood."]


def test_a_number_that_means_nothing_stays_a_citation() -> None:
    (claim,) = claims_of(Answer("The dose is 5 mg [9].", CITED))
    assert claim.citations == ("[9]",)


def test_questions_headings_and_refusals_claim_nothing() -> None:
    assert claims_of(Answer("Which dose?", CITED)) == []
    (only,) = claims_of(Answer("Yes.\nDoses are:\nIt is 5 mg.", CITED))
    assert only.text == "It is 5 mg."
    assert claims_of(Answer("The dose is 5 mg.", CITED, grounded=False)) == []
    assert statements_of("The dose is 5 mg. Really?") == ["The dose is 5 mg."]


def test_marks_of_passages_become_marks_of_citations() -> None:
    ids = ["a", "b", "c"]
    assert citing("Yes [3]. No [1, 3].", ids) == Answer("Yes [1]. No [2][1].", ("c", "a"))
    assert citing("Yes [7].", ids) == Answer("Yes [1].", ("[7]",))
    interval = "It is 5 mg [1] in a range of [2, 5] mg, or [2, 3] mg, 95% CI [12, 30]."
    assert citing(interval, ids) == Answer(interval, ("a",))
    elsewhere = citing("Yes 【2†source】. No [^3].", ids)
    assert elsewhere == Answer("Yes [1]. No [2].", ("b", "c"))


@given(st.text("Aa. [1]|\n-?", max_size=60))
def test_no_word_of_an_answer_is_lost(text: str) -> None:
    said = "".join(claim.text for claim in claims_of(Answer(f"{text} The end is near.", CITED)))
    assert "The end is near." in said.replace("\n", " ")


@pytest.mark.parametrize("text", ["Give warfarin", "14.9%", "Yes", "10 mg"])
def test_a_short_answer_is_a_claim(text: str) -> None:
    assert claims_of(Answer(f"{text} [1].", ("a",))) == [Claim(f"{text}.", ("a",))]
    assert len(claims_of(Answer(f"{text}. Examplol is taken with food [1].", ("a",)))) == 1


def test_an_answer_that_only_introduces_is_a_claim() -> None:
    assert [one.text for one in claims_of(Answer("The dose is as follows:"))] == [
        "The dose is as follows:"
    ]
    assert claims_of(Answer("Which dose?")) == []
    assert claims_of(Answer("...")) == []


def test_a_short_claim_is_read_after_its_question() -> None:
    question = "Is metformin safe in renal failure?"
    assert in_context(question, "No.") == f"{question} No."
    assert in_context(question, "Metformin is not safe.") == "Metformin is not safe."
    assert in_context("How often?", "14.9%.") == "14.9%."  # stands in a passage, or does not
