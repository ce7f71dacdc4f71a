"""Do a class of drugs and its members meet, and only where they may?"""

from __future__ import annotations

import pytest

from assay.analysis.conditions import stems
from assay.analysis.drug_classes import called_beside, classes_in, classes_of, drug_classes
from assay.analysis.drugs import is_drug


@pytest.mark.parametrize(
    ("drug", "name"),
    [
        ("Zocor", "statin"),
        ("nitroglycerin", "nitrate"),
        ("Imdur", "nitrate"),
        ("doxazosin", "alpha blocker"),
        ("Nardil", "MAOI"),
        ("Enbrel", "TNF blocker"),
        ("dalpiciclib", "CDK4/6 inhibitor"),  # on no list: known by its stem
        ("Keytruda", "PD-1 inhibitor"),
        ("Tricor", "fibrate"),
        ("lisinopril", "ACE inhibitor"),
        ("Advil", "NSAID"),
    ],
)
def test_a_drug_is_of_its_class(drug: str, name: str) -> None:
    assert any(name in one.names for one in classes_of(drug))


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("statins and muscle pain", "simvastatin"),
        ("HMG-CoA reductase inhibitors", "atorvastatin"),
        ("CDK4/6 inhibitors in breast cancer", "palbociclib"),
        ("anti-TNF therapy", "adalimumab"),
        ("SSRIs", "sertraline"),
        ("PPIs", "omeprazole"),
        ("beta-blockers", "metoprolol"),
        ("GLP-1 receptor agonists", "semaglutide"),
    ],
)
def test_a_class_is_read_in_any_number_and_spelling(text: str, member: str) -> None:
    assert any(member in one.members for _, _, one in classes_in(stems(text)))


@pytest.mark.parametrize("text", ["nitrogen", "a statistical test", "beta carotene", "inhibitors"])
def test_other_words_name_no_class(text: str) -> None:
    assert [*classes_in(stems(text))] == []


def test_every_member_is_a_drug_and_no_class_is_one() -> None:
    for one in drug_classes():
        assert [name for name in one.members if not is_drug(name)] == []
        assert [name for name in one.names if is_drug(name)] == []


def test_what_a_label_calls_the_second_of_two_drugs() -> None:
    asked = "Can I take Viagra with nitroglycerin?"
    assert "nitrates" in called_beside(["Viagra", "nitroglycerin"], asked)["nitroglycerin"]
    assert called_beside(["Viagra"], "Viagra dose") == {}
    compared = "Is Lipitor better than fenofibrate?"
    assert called_beside(["Lipitor", "fenofibrate"], compared) == {}


def test_a_label_calls_drugs_of_its_own_class_other_ones() -> None:
    called = called_beside(["Humira", "Enbrel"], "Humira with Enbrel")["Enbrel"]
    assert "other TNF blockers" in called
    assert "TNF blockers" not in called
