"""Names of several words are one name, with all that stands for them."""

from __future__ import annotations

import pytest

from assay.analysis.asked import Kind, names_asked
from assay.analysis.drugs import is_listed, other_names


@pytest.mark.parametrize(
    ("question", "text", "is_in", "is_not_in"),
    [
        ("dose of Kadcyla", "Kadcyla", "ado-trastuzumab emtansine", "trastuzumab"),
        ("trastuzumab emtansine dose", "trastuzumab emtansine", "T-DM1 3.6 mg/kg", "trastuzumab"),
        ("units of Botox", "Botox", "botulinum toxin type A", "tetanus toxin"),
        ("how much coenzyme Q10", "coenzyme Q10", "CoQ10 100 mg", "coenzyme A"),
        ("dose of radium-223", "radium-223", "Ra-223 dichloride", "radium therapy"),
        ("dose of samarium-153", "samarium-153", "Samarium 153-EDTMP 30 mCi", "samarium"),
        ("insulin glargine units", "insulin glargine", "Lantus", "insulin sensitizers"),
        ("penicillin G for syphilis", "penicillin G", "benzylpenicillin", "penicillin V"),
        ("numbness from Taxol", "Taxol", "paclitaxel 80 mg/m2", "docetaxel"),
    ],
)
def test_other_names_of_a_drug_stand_for_it(
    question: str, text: str, is_in: str, is_not_in: str
) -> None:
    (name,) = names_asked(question)
    assert (name.kind, name.text) == (Kind.DRUG, text)
    assert name.is_in(is_in)
    assert not name.is_in(is_not_in)


def test_a_part_of_a_long_name_is_not_the_name() -> None:
    (name,) = names_asked("What is the dose of folic acid?")
    assert (name.text, name.phrases) == ("folic acid", ())
    assert [one.text for one in names_asked("trastuzumab and pertuzumab")] == [
        "trastuzumab",
        "pertuzumab",
    ]


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("oestradiol", "estradiol"),
        ("sulphasalazine", "sulfasalazine"),
        ("ethinyloestradiol", "ethinylestradiol"),
    ],
)
def test_british_names_are_names_of_the_same_drug(british: str, american: str) -> None:
    (name,) = names_asked(f"{british} 10 mg three times a day")
    assert name.kind is Kind.DRUG
    assert name.is_in(f"{american} 10 mg")


@pytest.mark.parametrize("name", ["taxol", "abraxane", "doxil", "lantus", "inderal"])
def test_names_that_the_source_files_with_more_words_are_known(name: str) -> None:
    assert is_listed(name)
    assert len(other_names(name)) > 1


def test_a_trade_name_with_the_stem_of_another_word_is_met_as_it_is_written() -> None:
    (name,) = names_asked("dose of cetirizine")
    assert name.is_in("Incidal 10 mg")
    assert not name.is_in("The incidence was low.")
    (typed,) = names_asked("what does Migranal cost")
    assert typed.is_in("MIGRANAL is a spray.")
    assert not typed.is_in("A migraine, or two migraines")


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("MTX", "methotrexate"),
        ("HCTZ", "hydrochlorothiazide"),
        ("HCQ", "hydroxychloroquine"),
        ("TXA", "tranexamic acid"),
        ("TMZ", "temozolomide"),
        ("3TC", "lamivudine"),
    ],
)
def test_short_names_of_drugs_are_names_of_them(short: str, name: str) -> None:
    asked = f"dose of {short}"
    assert [one.kind for one in names_asked(asked)] == [Kind.DRUG]
    assert names_asked(asked)[0].is_in(f"It is given with {name}.")
