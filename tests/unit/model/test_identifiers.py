"""Is what names a person taken out, and what does not left in?"""

from __future__ import annotations

import pytest

from assay.model.identifiers import placeholders, scrub, scrubbed, without_placeholders


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("mail jane.doe+x@clinic.example.org about warfarin", "mail [email] about warfarin"),
        ("call +1 (555) 123-4567 re rash", "call [number] re rash"),
        ("SSN 123-45-6789 dialysis", "SSN [number] dialysis"),
        ("MRN: A-99812 chest pain", "[number] chest pain"),
        ("born 12/03/1987 with asthma", "born [date] with asthma"),
        ("dob 3 March 1987, stroke", "dob [date], stroke"),
        ("since March 3, 1987 on insulin", "since [date] on insulin"),
        ("Mrs. Miller and statins", "[name] and statins"),
        ("see www.portal.example/p/1 for dose", "see [link] for dose"),
    ],
)
def test_identifiers_are_taken_out(text: str, left: str) -> None:
    assert scrub(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "NCT90001308 primary endpoint",
        "PMID 31415926 hyperkalemia",
        "PMC99000001 table 2",
        "120/80 mmHg target",
        "HbA1c 7.5 % to 6.5 %",
        "dose 200 mg every 3 weeks for 2 years",
        "March hemoglobinuria",
        "doctor visits after 65",
    ],
)
def test_what_names_nobody_stays(text: str) -> None:
    assert scrubbed(text) == (text, ())


def test_kinds_are_listed_and_found_again() -> None:
    text, kinds = scrubbed("dr Smith, a@b.org")
    assert kinds == ("email", "name")
    assert sorted(placeholders(text)) == ["email", "name"]
    assert without_placeholders("[name] [email]") == ""
