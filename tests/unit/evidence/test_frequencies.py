"""Is it recognised how often something is given, however it is written?"""

from __future__ import annotations

from fractions import Fraction

import pytest

from assay.evidence.frequencies import frequencies, other_frequency


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("10 mg once daily", [1]),
        ("10 mg daily", [1]),
        ("once a day, with food", [1]),
        ("every day", [1]),
        ("twice daily", [Fraction(1, 2)]),
        ("2 times a day", [Fraction(1, 2)]),
        ("two times per day", [Fraction(1, 2)]),
        ("5 mg b.i.d.", [Fraction(1, 2)]),
        ("5 mg BID or TID", [Fraction(1, 2), Fraction(1, 3)]),
        ("every 12 hours", [Fraction(1, 2)]),
        ("q12h", [Fraction(1, 2)]),
        ("2 to 3 times a day", [Fraction(1, 2), Fraction(1, 3)]),
        ("every other week", [14]),
        ("every two weeks", [14]),
        ("q2w", [14]),
        ("once weekly", [7]),
        ("three times a week", [Fraction(7, 3)]),
        ("20 mg a day", []),
        ("a daily dose of 20 mg", []),
        ("once the patient is stable", []),
    ],
)
def test_frequencies(text: str, days: list[Fraction | int]) -> None:
    assert sorted(frequencies(text)) == sorted(days)


@pytest.mark.parametrize(
    ("claim", "passage", "other"),
    [
        ("40 mg every day", "40 mg administered every other week", "every day"),
        ("40 mg every two weeks", "40 mg administered every other week", ""),
        ("Apply it three times a day", "apply half a capful 2 times a day", "three times a day"),
        ("Apply it twice a day", "apply half a capful 2 times a day", ""),
        ("20 mg once daily", "at most 20 mg/day; the other drug twice daily", ""),
        ("20 mg once daily", "at most 20 mg", ""),  # the passage does not say how often
        ("20 mg", "20 mg twice daily", ""),
    ],
)
def test_another_frequency(claim: str, passage: str, other: str) -> None:
    assert other_frequency(claim, passage) == other
