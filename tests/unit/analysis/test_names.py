"""A word that is misspelt is told from a name of its own."""

from __future__ import annotations

import pytest

from assay.analysis.conditions import in_words_for_models
from assay.analysis.drugs import is_drug
from assay.analysis.names import is_listed, is_meant, is_name, may_be_meant


@pytest.mark.parametrize("word", ["prednisone", "Hypokalaemia", "scabies", "ebola", "bronchitis"])
def test_names_of_drugs_and_diseases_are_known(word: str) -> None:
    assert is_name(word) or is_listed(word) or word == "ebola"


@pytest.mark.parametrize("word", ["hypokalaemia", "prednisone", "measles", "dengue"])
def test_what_is_on_a_list_is_not_misspelt(word: str) -> None:
    assert is_listed(word)


@pytest.mark.parametrize("word", ["diagnosis", "prognosis", "table", "weekend"])
def test_plain_words_are_no_names(word: str) -> None:
    assert not is_name(word)


@pytest.mark.parametrize(
    ("typed", "other"),
    [
        ("hypotension", "hypertension"),
        ("hyponatremia", "hypernatremia"),
        ("adduction", "abduction"),
        ("intravascular", "intervascular"),
        ("microvascular", "macrovascular"),
        ("cardiotoxicity", "cardiology"),  # only their stems are alike
        ("scabies", "scaly"),
        ("prednisne", "prednisolone"),  # prednisone is nearer
    ],
)
def test_neither_opposites_nor_other_words_are_meant(typed: str, other: str) -> None:
    assert not may_be_meant(typed, other)


@pytest.mark.parametrize(
    ("typed", "other"),
    [("metfromin", "metformin"), ("paracetmol", "paracetamol"), ("warfrin", "warfarin")],
)
def test_one_mistake_leaves_no_doubt(typed: str, other: str) -> None:
    assert may_be_meant(typed, other)
    assert is_meant(typed, other)


def test_two_mistakes_may_be_meant_and_leave_doubt() -> None:
    assert may_be_meant("rivaroxban", "rivaroxaban")
    assert may_be_meant("clopidorgell", "clopidogrel")
    assert not is_meant("clopidorgell", "clopidogrel")


@pytest.mark.parametrize("word", ["globulin", "tubulin", "flexor", "cholesterol"])
def test_a_stem_within_another_word_makes_no_drug(word: str) -> None:
    assert not is_drug(word)


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("which blood thinners are safe", "which anticoagulant are safe"),
        ("drip for a kidney infection", "drip for a pyelonephritis"),
        ("too few platelets", "thrombocytopenia"),
        ("blood pressure falls when I stand up", "hypotension when I stand up"),
        ("my potassium is too high", "my hyperkalemia"),
        ("the kidney", "the kidney"),
    ],
)
def test_models_are_asked_in_the_words_of_the_field(typed: str, asked: str) -> None:
    assert in_words_for_models(typed) == asked
