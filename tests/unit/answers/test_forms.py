"""Is the dose of another form of a drug never given, and that of the form asked for found?"""

from __future__ import annotations

import pytest

from assay.answers.extractive import ExtractiveAnswerer
from assay.model.answers import Passage
from assay.model.document import Chunk


def passage(name: str, title: str, text: str, section: str = "dosage") -> Passage:
    brand, _, generic = title.rstrip(")").partition(" (")
    names = {"brands": (brand,), "generics": (generic,)}
    made = Chunk(f"{name}:{len(text)}", name, text, title, section_label=section, metadata=names)
    return Passage(made, 1.0, {"dense": 0.9}, is_asked_for=section == "dosage")


TABLETS = passage(
    "tab",
    "ZOFRAN (ondansetron)",
    "2.1 Dosage\nAdults: a single 24-mg dose given as three 8-mg tablets before chemotherapy.",
)
AMPOULES = passage(
    "amp",
    "Ondansetron (ondansetron)",
    "2.1 Dosage\nThe intravenous dosage for adults is 0.15 mg/kg, infused over 15 minutes.",
)
BOTH = [AMPOULES, TABLETS]
SLOW = passage(
    "met",
    "GLUCOPHAGE (metformin)",
    "2.1 Adult Dosage\nGLUCOPHAGE: increase the dose up to a maximum of 2550 mg per day.\n"
    "GLUCOPHAGE XR\nIncrease the dose up to a maximum of 2000 mg once daily.",
)
USES = passage(
    "met",
    "GLUCOPHAGE (metformin)",
    "GLUCOPHAGE is indicated in adults and pediatric patients 10 years of age and older with type 2"
    " diabetes mellitus. GLUCOPHAGE XR is indicated in adults only.",
    "indications",
)
GLARGINE = passage(
    "lan",
    "LANTUS (insulin glargine)",
    "2.2 Starting dosage\nIn type 1 diabetes, the starting dosage is one-third of the total daily "
    "insulin requirements, about 12 units.\nIn type 2 diabetes not currently treated with insulin, "
    "the starting dosage is 0.2 units/kg or up to 10 units once daily.",
)
TYPE_2 = passage(
    "lan",
    "LANTUS (insulin glargine)",
    "In type 1 diabetes, the starting dosage is one-third of the total daily requirements.\n"
    "In type 2 diabetes, the starting dosage is 0.2 units/kg once daily.",
)
TO_SWALLOW = passage(
    "hal",
    "HALDOL (haloperidol)",
    "Moderate symptoms: 0.5 mg to 2 mg of haloperidol twice daily.\nShould hypotension occur, "
    "epinephrine should not be used since haloperidol may block its vasopressor activity.",
)
ON_SKIN = passage(
    "rog", "ROGAINE (minoxidil)", "Apply half a capful 2 times a day to the scalp in the area."
)
SPINAL = passage(
    "spi",
    "Intrathecal clonidine and fentanyl added to bupivacaine: a randomized trial",
    "Group C received clonidine 75 mcg intrathecally.\n"
    "All patients received an intravenous preload of 5 mL/kg. Then clonidine was added.",
    "methods",
)


@pytest.mark.parametrize(
    ("question", "found", "says", "never"),
    [
        ("Dose of zofran iv", BOTH, "0.15 mg/kg", "24-mg"),
        ("po dose of ondansetron", BOTH, "24-mg", "0.15"),
        ("What is the oral dose of ondansetron?", BOTH, "24-mg", "0.15"),
        ("What is the IV dose of ondansetron?", [TABLETS], "", "24-mg"),
        ("subcutaneous dose of ondansetron", BOTH, "", "mg"),
        ("What is the dose of haloperidol injection?", [TO_SWALLOW], "", "m"),
        ("What is the dose of haloperidol?", [TO_SWALLOW], "0.5 mg to 2 mg", "vasopressor"),
        ("How much Rogaine foam is applied?", [ON_SKIN], "half a capful", "mg"),
        ("dose of intravenous clonidine", [SPINAL], "", "m"),
        ("maximum dose of metformin ER", [SLOW], "2000 mg", "2550"),
        ("maximum dose of extended release metformin", [SLOW], "2000 mg", "2550"),
        ("What is the maximum dose of metformin extended-release?", [SLOW], "2000 mg", "2550"),
        ("maximum dose of immediate-release metformin", [SLOW], "2550 mg", "2000"),
        ("maximum dose of metformin SR", [TABLETS], "", "mg"),
        ("Is Glucophage XR approved in children?", [USES], "adults only", "10 years"),
        ("Starting dose of Lantus in type 2 diabetes", [GLARGINE], "0.2 units/kg", "one-third"),
        ("Starting dose of Lantus in type 1 diabetes", [GLARGINE], "12 units", "0.2 units/kg"),
        ("Starting dose of Lantus in type 1 diabetes", [TYPE_2], "one-third", "0.2 units/kg"),
    ],
)
def test_a_dose_is_that_of_the_form_asked_for(
    question: str, found: list[Passage], says: str, never: str
) -> None:
    answer = ExtractiveAnswerer().answer(question, found)
    assert says in answer.text, answer.refusal_reason
    assert bool(says) == bool(answer.text)
    assert never not in answer.text
