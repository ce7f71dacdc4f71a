"""Sentences are whole, rows keep their cells, and headings say nothing by themselves."""

from __future__ import annotations

import pytest

from assay.answers.sentences import sentences
from assay.model.document import Chunk, SpeakerRole


def texts(text: str, **fields: object) -> list[str]:
    chunk = Chunk("d:chunk_0", "d", text, title="NEPHRAVA", **fields)  # type: ignore[arg-type]
    return [one.text for one in sentences(chunk)]


def test_headings_are_context_and_not_sentences() -> None:
    chunk = Chunk(
        "l:chunk_0",
        "l",
        "5.1 Hyperkalemia\nIt was seen in 14.0% (e.g. Smith et al. 2020). Check potassium.\n\n"
        "Table 1. Dose by clearance\nCreatinine clearance | Dose\n25 to 49 | 20 mg",
        title="NEPHRAVA",
    )
    found = sentences(chunk)
    assert [(one.text, one.columns) for one in found] == [
        ("It was seen in 14.0% (e.g. Smith et al. 2020).", ""),
        ("Check potassium.", ""),
        ("25 to 49 | 20 mg", "Creatinine clearance | Dose"),
    ]
    assert found[0].context == "NEPHRAVA 5.1 Hyperkalemia"
    assert found[0].following == "Check potassium."


@pytest.mark.parametrize(
    "text",
    [
        "Adverse events",
        "Inclusion Criteria:",
        "Table 2. Adverse events in treated participants",
        "A Randomized, Double-Blind Study of Velcarenone in Patients With Chronic Renal Disease",
    ],
)
def test_a_chunk_of_headings_has_no_sentence(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "* Pregnancy",
        "Conditions: Heart Failure",
        "Metformin is contraindicated in renal failure",
        "Take 5 mg daily",
    ],
)
def test_a_short_line_that_says_something_is_a_sentence(text: str) -> None:
    assert texts(text) == [text]


def test_what_somebody_says_is_a_sentence() -> None:
    assert texts("Two pillows", speaker_role=SpeakerRole.PATIENT) == ["Two pillows"]


def test_lines_broken_within_a_sentence_are_joined() -> None:
    broken = (
        "Patients should be told to stop the tablets\nthree days before an operation. Then ask."
    )
    assert texts(broken) == [
        "Patients should be told to stop the tablets three days before an operation.",
        "Then ask.",
    ]


def test_what_the_edge_of_a_chunk_cut_off_is_left_out() -> None:
    cut = (
        "was stopped in most of them. The dose was then halved for the rest of the trial. "
        "After the last visit the patients were"
    )
    assert texts(cut, spans=((10, 200),)) == ["The dose was then halved for the rest of the trial."]


@pytest.mark.parametrize(
    "sentence",
    [
        "Give 10 mg i.v. 20 minutes before surgery.",
        "It was given b.i.d. 5 mg at a time.",
        "See Table 3. Doses are halved (approx. 5 mg vs. 10 mg).",
        "The U.S. Food and Drug Administration approved it.",
        "Patients had either 150 μg o.d. (n = 211) or placebo.",
        "Take 5 mg p.r.n. 30 minutes before a meal.",
    ],
)
def test_abbreviations_end_no_sentence(sentence: str) -> None:
    assert texts(f"{sentence} Next one.") == [sentence, "Next one."]


def test_rows_without_a_header_keep_their_cells() -> None:
    rows = sentences(Chunk("d:0", "d", "Week 0 | 150 mg\nWeek 4 | 150 mg", is_table=True))
    assert [(one.text, one.columns) for one in rows] == [
        ("Week 0 | 150 mg", ""),
        ("Week 4 | 150 mg", ""),
    ]


def test_a_header_with_numbers_is_told_by_the_line_below_it() -> None:
    table = "Event | Drug (N=12) | Placebo (N=14)\n\nNausea | 3 (25) | 1 (7)"
    (row,) = sentences(Chunk("d:0", "d", table, is_table=True))
    assert (row.text, row.columns) == (
        "Nausea | 3 (25) | 1 (7)",
        "Event | Drug (N=12) | Placebo (N=14)",
    )


def test_a_sentence_may_begin_with_a_small_letter_of_a_name() -> None:
    assert texts("The first is given twice. mRNA-77 is given once.") == [
        "The first is given twice.",
        "mRNA-77 is given once.",
    ]


def test_a_numbered_heading_is_one_whatever_numbers_it_has() -> None:
    text = "2.2 Gout in Pediatric Patients (10-17 years of age)\nThe dose is 5 mg."
    (one,) = sentences(Chunk("d:0", "d", text, title="Label"))
    assert one.text == "The dose is 5 mg."
    assert "Pediatric" in one.context


RESULTS = """Results
Outcome Measurement:
  Median Time to Itch Relief
  Hours until the first relief was noted in the diary.
  Time frame: 8 weeks
Results 1:
  Arm/Group Title: Nalfurafine 5 ug
  Arm/Group Description: Nalfurafine 5 ug orally each evening
  Overall Number of Participants Analyzed: 61
  Median (95% Confidence Interval)
  Unit of Measure: hours  31.4        (27.0 to 38.2)
Results 2:
  Arm/Group Title: Placebo
  Overall Number of Participants Analyzed: 58
  Measure Type: Number
  Unit of Measure: hours  Day: 44.1
  Night: 52.9"""


def test_a_value_of_results_has_what_was_measured_in_which_arm() -> None:
    found = [one for one in sentences(Chunk("n:0", "n", RESULTS, "NCT09000004")) if one.arm]
    assert [(one.columns, one.arm, one.text) for one in found] == [
        (
            "Median Time to Itch Relief",
            "Arm/Group Title: Nalfurafine 5 ug",
            "Median (95% Confidence Interval) Unit of Measure: hours 31.4 (27.0 to 38.2)",
        ),
        (
            "Median Time to Itch Relief",
            "Arm/Group Title: Placebo",
            "Measure Type: Number Unit of Measure: hours Day: 44.1 Night: 52.9",
        ),
    ]


def test_a_value_without_its_arm_stays_as_it_is() -> None:
    text = "Overall Number of Participants Analyzed: 61\n  Unit of Measure: hours  31.4"
    found = [one.text for one in sentences(Chunk("n:0", "n", text, "NCT09000004"))]
    assert found[-1] == "Unit of Measure: hours  31.4"
