"""For whom is a statement?"""

from __future__ import annotations

import pytest

from assay.evidence.population import age_asked, covers, groups_in


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("2.3 Pediatric Patients (6 to 11 years)", {"children"}),
        ("Patients with Renal Impairment", {"renal impairment"}),
        ("Severe hepatic impairment (Child-Pugh C)", {"hepatic impairment"}),
        ("Geriatric use", {"the elderly"}),
        ("2.1 Hypertension", set()),
    ],
)
def test_groups(text: str, groups: set[str]) -> None:
    assert groups_in(text) == groups


@pytest.mark.parametrize(
    ("text", "age", "is_covered"),
    [
        ("children under 4 years of age | do not use", 3, True),
        ("children under 4 years of age | do not use", 4, False),
        ("children 6 to under 12 years | 10 mL", 11, True),
        ("children 6 to under 12 years | 10 mL", 12, False),
        ("adults and children 12 years and over", 40, True),
        ("take with food", 3, None),
    ],
)
def test_ages(text: str, age: int, is_covered: bool | None) -> None:
    assert covers(text, age) is is_covered


def test_the_age_of_a_question() -> None:
    assert age_asked("how much syrup for a 3 year old") == 3
    assert age_asked("how much syrup for my 10-year-old") == 10
    assert age_asked("may a two-year-old have it") == 2
    assert age_asked("syrup for a 6 month old") == 0
    assert age_asked("dose after 3 years of treatment") is None
