"""Which form of a drug does a query ask for, and which texts have another one only?"""

from __future__ import annotations

import pytest

from assay.evidence.forms import forms_asked, without_releases


@pytest.mark.parametrize(
    ("query", "own", "another"),
    [
        ("oral ondansetron dose", "three 8-mg tablets", "0.15 mg/kg intravenously"),
        ("ondansetron po", "taken by mouth", "4 mg as an injection"),
        ("zofran iv dose", "infused over 15 minutes", "two 8-mg tablets"),
        ("IV acyclovir", "acyclovir 5 mg/kg i.v.", "800 mg orally"),
        ("intravenous dose of ketorolac", "15 mg IV", "10 mg tablets"),
        ("sc methotrexate", "subcutaneous auto-injector", "7.5 mg orally"),
        ("dose of naloxone nasal spray", "4 mg intranasally", "0.4 mg intravenous"),
        ("haloperidol injection dose", "5 mg intramuscularly", "a 2 mg tablet"),
        ("nebulised furosemide", "inhaled furosemide", "furosemide 40 mg tablets"),
        ("clonidine patch dose", "transdermal", "0.1 mg tablet"),
        ("metformin ER", "metformin extended-release", "immediate-release metformin"),
        ("prolonged release tacrolimus", "tacrolimus XL", "immediate-release tacrolimus"),
        ("metformin immediate release", "immediate-release tablets", "GLUCOPHAGE XR"),
        ("paroxetine CR dose", "paroxetine CR 25 mg", "immediate release"),
    ],
)
def test_another_form_of_a_drug(query: str, own: str, another: str) -> None:
    kinds = forms_asked(query)
    assert any(kind.is_in(own.lower()) for kind in kinds)
    assert any(kind.another_in(another.lower()) for kind in kinds)
    assert not any(kind.another_in(own.lower()) for kind in kinds)
    assert not any(kind.another_in(f"{own}; {another}".lower()) for kind in kinds)


@pytest.mark.parametrize(
    "query",
    [
        "oral mucositis",
        "oral contraceptives and warfarin",
        "oral versus intravenous antibiotics dose",
        "stage iv melanoma dose of ipilimumab",
        "class IV heart failure dose of digoxin",
        "ER positive breast cancer",
        "metformin XR or immediate release",
        "release of insulin",
    ],
)
def test_no_form_is_asked_for(query: str) -> None:
    assert not forms_asked(query)


def test_words_for_the_release_are_taken_out() -> None:
    taken = without_releases("maximum dose of metformin extended-release tablets")
    assert taken.split() == ["maximum", "dose", "of", "metformin", "tablets"]
    assert without_releases("ER positive") == "ER positive"
