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
        ("john@localhost on statins", "[email] on statins"),
        ('"john doe"@example.com on statins', "[email] on statins"),
        ("john@[10.0.0.1] on statins", "[email] on statins"),
        ("john.doe\uff20example.com on statins", "[email] on statins"),
        ("born 3 March 85 with asthma", "[date] with asthma"),
        ("dob 3rd of mar '85 asthma", "[date] asthma"),
        ("mrn: A 12345 asthma", "[number] asthma"),
        ("MRN is 12345 asthma", "[number] asthma"),
        ("record no. 12345 asthma", "[number] asthma"),
        ("passport X1234567 asthma", "[number] asthma"),
        ("NI AB 12 34 56 C asthma", "NI [number] asthma"),
        ("DE89 3704 0044 0532 0130 00 asthma", "[number] asthma"),
        ("DE89370400440532013000, asthma", "[number], asthma"),
        ("gb29 nwbk 6016 1331 9268 19 asthma", "[number] asthma"),
        ("FR1420041010050500013M02606 asthma", "[number] asthma"),
        ("DR O'Neil and statins", "[name] and statins"),
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
        "heart failure in patients 65 75 85",
        "CD34 CD45 CD38 CD19 cells",
        "MR Imaging of the knee",
        "MS Relapse rate",
        "recall@10 and nDCG@10",
        "IL-6 and TNF in 2019",
        "AB12 variant of the gene",
    ],
)
def test_what_names_nobody_stays(text: str) -> None:
    assert scrubbed(text) == (text, ())


def test_kinds_are_listed_and_found_again() -> None:
    text, kinds = scrubbed("dr Smith, a@b.org")
    assert kinds == ("email", "name")
    assert sorted(placeholders(text)) == ["email", "name"]
    assert without_placeholders("[name] [email]") == ""
