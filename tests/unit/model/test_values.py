"""Do values of metadata that mean the same meet, and only those?"""

from __future__ import annotations

import pytest

from assay.model.conditions import read_condition
from assay.model.values import iso_date, same, spellings


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("phase", ("3", "PHASE3", "Phase 3", "Phase III", "phase-3", "III", "iii", "PHASE_3")),
        ("phases", ("1b", "Phase 1b", "Phase Ib", "PHASE1B")),
        ("trial_phase", ("2", "Phase II", "Phase 2")),
        ("stage", ("4", "IV", "Stage IV", "stage 4")),
        ("phase", ("N/A", "NA", "not applicable", "Not Applicable")),
        ("phase", ("EARLY_PHASE1", "Early Phase 1", "early phase I")),
        ("status", ("RECRUITING", "Recruiting", "recruiting")),
        ("status", ("ACTIVE_NOT_RECRUITING", "Active, not recruiting")),
        ("conditions", ("Type 2 diabetes", "type II diabetes", "Type-2 Diabetes")),
        ("conditions", ("Leukaemia", "leukemia")),
        ("marker", ("HER2+", "HER2-positive", "HER2 positive")),
        ("strength", ("10 mg", "10mg", "10.0 mg")),
        ("strength", ("0.5 mg", ".5 mg", "0.50mg")),
        ("enrollment", ("1200", "1200.0", "1,200")),
        ("blinded", ("true", "yes", "Yes", "True")),
        ("day", ("2019-03-25", "March 25, 2019", "25 Mar 2019", "2019/3/25", "25.03.2019")),
        ("day", ("2019-03-25", "2019-03-25T10:15:00Z", "03/25/2019", "2019 Mar 25")),
        ("month", ("2019-03", "March 2019", "Mar 2019", "2019 Mar")),
    ],
)
def test_values_that_mean_the_same_meet(field: str, values: tuple[str, ...]) -> None:
    for one in values:
        for other in values:
            assert same(field, one, other), (one, other)
    assert len({form for one in values for form in spellings(field, one)}) == 1


@pytest.mark.parametrize(
    ("field", "one", "other"),
    [
        ("phase", "PHASE1", "EARLY_PHASE1"),
        ("phase", "PHASE3", "PHASE2"),
        ("phase", "Phase 1b", "Phase 1"),
        ("chromosome", "X", "10"),
        ("marker", "HER2+", "HER2-"),
        ("marker", "HER2-negative", "HER2+"),
        ("strength", "1.5 mg", "15 mg"),
        ("strength", "1-2", "12"),
        ("ages", "<18", "18"),
        ("ages", ">65", "<65"),
        ("status", "Recruiting", "Not yet recruiting"),
        ("day", "2019-03-25", "2019-03-26"),
        ("code", "2019-13", "2019"),
        ("lot", "007", "07 A"),
    ],
)
def test_values_that_differ_do_not(field: str, one: str, other: str) -> None:
    assert not same(field, one, other)


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("phase=2", {"Phase 2/Phase 3", "PHASE2", "Phase I/II"}),
        ("phase=III", {"Phase 2/Phase 3", "PHASE3"}),
        ("phase>=2", {"Phase 2/Phase 3", "PHASE2", "PHASE3", "Phase I/II"}),
        ("phase=1..2", {"Phase 2/Phase 3", "PHASE2", "Phase I/II"}),
        ("phase!=2", {"PHASE3", "EARLY_PHASE1", "N/A"}),
    ],
)
def test_a_phase_is_a_number_and_two_phases_are_two(text: str, passing: set[str]) -> None:
    every = ("Phase 2/Phase 3", "PHASE2", "PHASE3", "Phase I/II", "EARLY_PHASE1", "N/A")
    condition = read_condition(text)
    assert {one for one in every if condition.passes({"phase": (one,)})} == passing


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("started=2019", {"March 25, 2019", "2019-04", "05/06/2019", "2019"}),
        ("started>2019-03", {"2019-04", "2020"}),
        ("started=2019-03", {"March 25, 2019"}),
        ("started<=2018", {"Dec 2018"}),
    ],
)
def test_dates_are_compared_however_they_are_written(text: str, passing: set[str]) -> None:
    every = ("March 25, 2019", "2019-04", "05/06/2019", "2019", "2020", "Dec 2018", "soon")
    condition = read_condition(text)
    assert {one for one in every if condition.passes({"started": (one,)})} == passing


@pytest.mark.parametrize(
    ("parts", "date"),
    [
        (("2019", "3", "25"), "2019-03-25"),
        (("2019", "Mar"), "2019-03"),
        (("2019", "December", "x"), "2019-12"),
        (("2019", "Spring"), "2019"),
        (("2019", "13", "1"), "2019"),
        (("", "3"), ""),
        (("19", "3"), ""),
    ],
)
def test_dates_are_as_exact_as_they_are_known(parts: tuple[str, ...], date: str) -> None:
    assert iso_date(*parts) == date
