"""Which words of a question must a passage have?"""

from __future__ import annotations

import pytest

from assay.evidence.terms import is_eponym, lacking, subject_terms


def named(question: str) -> list[str]:
    return [term.text for term in subject_terms(question)]


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("inclusion criteria of the glioma trial", ["glioma"]),
        ("what is the primary outcome of ORBITAL", ["ORBITAL"]),
        ("treatment of stage IIIB cervical cancer", ["stage IIIB", "cervical", "cancer"]),
        ("what is M54.5", ["M54.5"]),
        ("how long are blood counts needed with clozapine", ["clozapine"]),
        ("what are the adverse events", []),
        ("Wie wird das Mittel bei Kindern dosiert?", []),
    ],
)
def test_words_that_ask_name_nothing(question: str, terms: list[str]) -> None:
    assert named(question) == terms


@pytest.mark.parametrize(
    ("question", "having", "without"),
    [
        (
            "treatment of type 2 diabetes",
            "Type II diabetes in 2 groups",
            "type 1 diabetes, 2 groups",
        ),
        ("treatment of type 2 diabetes", "T2DM is treated; diabetes", "T1DM; 2 with diabetes"),
        ("treatment of stage III glioma", "glioma of stages II to III", "stage IV glioma, arm III"),
        ("treatment of type 1 diabetes", "T1DM is diabetes", "type 2 diabetes for the time being"),
        ("treatment of hepatitis C", "chronic HCV", "hepatitis B has a vaccine"),
        ("treatment of hepatitis E", "Hepatitis E clears", "Hepatitis B; HBeAg, e antigen"),
        ("ALK-positive lymphoma treatment", "lymphoma, positive for ALK", "ALK-negative lymphoma"),
        ("chronic gout treatment", "chronic tophaceous gout", "acute gout became chronic"),
        ("treatment of kidney stones", "renal stones", "gall stones"),
        (
            "treatment of heart attack",
            "acute myocardial infarction",
            "a panic disorder of the heart",
        ),
        ("IV ketorolac", "ketorolac is given intravenously", "oral ketorolac"),
        ("dose of prednisolonum", "prednisolonum 5 mg", "prednisone 5 mg"),
    ],
)
def test_a_modifier_belongs_to_its_word(question: str, having: str, without: str) -> None:
    terms = subject_terms(question)
    assert not lacking(terms, having)
    assert lacking(terms, without)


def test_a_long_description_may_be_put_in_other_words() -> None:
    described = "frail man falling at night after a new pill against high pressure of the eye"
    assert named(described) == ["eye"]


def test_a_description_does_not_turn_into_its_opposite() -> None:
    terms = subject_terms("heart failure with reduced ejection fraction survival benefit")
    assert not lacking(terms, "Heart failure with reduced ejection fraction")
    assert lacking(
        terms, "Heart failure with preserved ejection fraction did not reduce", "A trial"
    )


def test_the_name_of_a_disease_stands_before_what_sort_it_is() -> None:
    assert is_eponym("Peyronnie's", "How is Peyronnie's disease treated?")
    assert not is_eponym("Kenyan", "dosing by weight in Kenyan children")


def test_the_words_of_a_disease_belong_together() -> None:
    terms = subject_terms("dose of dapagliflozin for heart failure")
    assert not lacking(terms, "Dapagliflozin 10 mg daily in patients with chronic heart failure")
    assert not lacking(terms, "Dapagliflozin 10 mg daily in failure of the heart")
    apart = (
        "Dapagliflozin 10 mg: treatment failure occurred once. Mean systolic blood pressure fell, "
    )
    assert lacking(terms, f"{apart}and heart rate rose slightly")
