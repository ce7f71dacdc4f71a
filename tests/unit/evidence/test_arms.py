"""Is a number that belongs to another arm of a trial recognised, and nothing else?"""

from __future__ import annotations

import pytest

from assay.evidence.arms import exchanged, misplaced

PASSAGE = (
    "Hyperkalemia occurred in 14.0% of patients on finerenone and in 6.6% of patients on placebo. "
    "It led to discontinuation in 2.3% and 0.9% with finerenone and placebo, respectively."
)


@pytest.mark.parametrize(
    ("claim", "number"),
    [
        ("Hyperkalemia occurred in 6.6% of patients on finerenone.", "6.6%"),
        ("It was 14.0% with placebo and 6.6% with finerenone.", "14.0%"),
        ("On placebo 2.3 % stopped.", "2.3%"),
        ("It was 6.6% and 14.0% with finerenone and placebo, respectively.", "6.6%"),
    ],
)
def test_a_number_of_another_arm(claim: str, number: str) -> None:
    assert misplaced(claim, PASSAGE) == number


@pytest.mark.parametrize(
    "claim",
    [
        "Hyperkalemia occurred in 14.0% with finerenone, compared with 6.6% on placebo.",
        "It was 14.0% and 6.6% with finerenone and placebo, respectively.",
        "Hyperkalemia occurred in 14.0% of patients.",  # it names no arm
        "Hyperkalemia occurred in 6.6% of patients on spironolactone.",  # not of this trial
        "Hyperkalemia occurred in 7.1% of patients on finerenone.",  # nobody has this number
        "Only cohort 2 had placebo.",  # it counts nothing
    ],
)
def test_what_the_passage_says_or_leaves_open(claim: str) -> None:
    assert misplaced(claim, PASSAGE) == ""


def test_names_that_no_list_has() -> None:
    passage = "It was reported in 14.0% of patients on Nephrava and in 6.6% on placebo."
    assert misplaced("It was reported in 6.6% of patients on Nephrava.", passage) == "6.6%"
    assert misplaced("It was reported in 14.0% of patients on Nephrava.", passage) == ""
    assert misplaced("Of patients on Nephrava 14.0% had it, and 6.6% on placebo.", passage) == ""


def test_one_number_of_both_arms_is_right_for_either() -> None:
    passage = "Nausea was seen in 5% on aspirin and 5% on placebo; death in 1% on aspirin."
    assert misplaced("5% on aspirin had nausea.", passage) == ""
    assert misplaced("5% on placebo had nausea.", passage) == ""


DOSES = (
    "The recommended regimen in Crohn's disease is 160 mg initially on Day 1 (given as four 40 mg "
    "injections in one day), followed by 80 mg two weeks later (Day 15). Two weeks "
    "later (Day 29) begin a maintenance dose of 40 mg."
)
STOPPED = (
    "In placebo-controlled studies, the discontinuation rate due to adverse reactions for VIAGRA "
    "(2.5%) was not significantly different from placebo (2.3%)."
)


@pytest.mark.parametrize(
    ("claim", "passage", "found"),
    [
        (
            "In placebo-controlled studies 2.3% stopped Viagra because of adverse reactions, and "
            "2.5% stopped placebo.",
            STOPPED,
            "2.3% and 2.5%",
        ),
        ("It is 80 mg on day 1, and 160 mg follow two weeks later.", DOSES, "80 mg and 160 mg"),
        ("It is 160 mg on day 1, and 80 mg follow two weeks later.", DOSES, ""),
        ("It is 160 mg on day 1, then 80 mg, then 40 mg.", DOSES, ""),
        (
            "Adverse reactions made 2.3% stop Viagra in these studies, and 2.5% stop placebo.",
            STOPPED,
            "2.3% and 2.5%",
        ),
        ("Adverse reactions made 2.5% stop Viagra, and 2.3% stop placebo.", STOPPED, ""),
        ("2.5% and 2.3% stopped.", STOPPED, ""),
    ],
)
def test_numbers_that_have_changed_places(claim: str, passage: str, found: str) -> None:
    assert exchanged(claim, passage) == found
