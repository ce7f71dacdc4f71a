"""Which kinds does a query ask for, and which texts speak of another one only?"""

from __future__ import annotations

import pytest

from assay.evidence.kinds import kinds_asked


def others(query: str, text: str) -> list[str]:
    """The other kinds of which a text speaks."""
    return [found for kind in kinds_asked(query) if (found := kind.another_in(text.lower()))]


@pytest.mark.parametrize(
    ("query", "text", "other"),
    [
        ("systolic dysfunction", "Dysfunction was diastolic.", "dysfunction was diastolic"),
        ("chronic subdural haematoma", "an acute subdural hematoma", "acute subdural hematoma"),
        ("LDL apheresis", "HDL was measured", "hdl"),
        ("HFpEF exercise", "Heart failure with reduced EF; HFrEF", "hfref"),
        ("grade 3 ankle sprain", "a grade I sprain", "grade i"),
        ("type two respiratory failure", "type 1 respiratory failure", "type 1"),
        ("stage IIIB sarcoma", "stage IV sarcoma", "stage iv"),
        ("PD-L1+ tumours", "PD-L1-negative tumours", "pd-l1-negative"),
        ("rhesus negative mothers", "rhesus-positive mothers", "rhesus-positive"),
        ("2nd degree heart block", "first-degree heart block", "first-degree"),
    ],
)
def test_a_text_that_speaks_of_another_kind_only(query: str, text: str, other: str) -> None:
    assert others(query, text) == [other]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("chronic subdural haematoma", "acute and chronic subdural haematoma"),
        ("chronic subdural haematoma", "a subdural haematoma was seen"),
        ("chronic gastritis", "acute bronchitis beside gastritis"),
        ("grade 2 ankle sprain", "sprains of grades 1 to 3"),
        ("stage II ulcer", "stages I-III"),
        ("type 1 respiratory failure", "types 1 and 2 respiratory failure"),
        ("hypoxia at height", "hypoxia, then hyperoxia"),
        ("small cell carcinoma", "small cell and non-small cell carcinoma"),
        ("non-small cell carcinoma", "nonsmall cell carcinoma"),
        ("IL-4 in asthma", "interleukin 4 and IL-13"),
        ("week 12 visit", "the visit at week 4"),
        ("approximately 50 patients", "approximately 20 patients"),
        ("high cholesterol", "low cholesterol"),
        ("eczema in children", "infants and adults"),
    ],
)
def test_a_text_that_has_the_kind_or_none_is_not_of_another(query: str, text: str) -> None:
    assert others(query, text) == []


@pytest.mark.parametrize(
    "query",
    [
        "acute versus chronic sinusitis",
        "type 1 and type 2 respiratory failure",
        "eczema in children and adults",
        "first and 2nd degree heart block",
        "Chronic sinusitis is caused by fungi.",
        "IL-4 and IL-13",
    ],
)
def test_who_names_both_kinds_or_states_something_asks_for_none(query: str) -> None:
    texts = ("acute sinusitis", "type 2 respiratory", "adults", "first degree heart", "IL-13")
    assert not any(others(query, text) for text in texts)


@pytest.mark.parametrize(
    ("query", "text", "other"),
    [
        ("underactive thyroid", "Hyperthyroidism", "hyperthyroidism"),
        ("hypothyroidism", "an overactive thyroid gland", "overactive thyroid"),
        ("treatment of too many platelets", "thrombocytopenia", "thrombocytopenia"),
        ("thrombocytopenia", "too many platelets", "too many platelets"),
        ("high blood sugar", "hypoglycemia, or low blood sugar", "hypoglycemia"),
        ("slow heart rate", "tachycardia", "tachycardia"),
    ],
)
def test_everyday_words_name_a_kind(query: str, text: str, other: str) -> None:
    assert others(query, text) == [other]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("underactive thyroid", "hypothyroidism and hyperthyroidism"),
        ("overactive thyroid", "Hyperthyroidism"),
        ("too few platelets", "thrombocytopenia"),
    ],
)
def test_everyday_words_are_met_by_names(query: str, text: str) -> None:
    assert not others(query, text)
