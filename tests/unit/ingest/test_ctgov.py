"""Are studies of ClinicalTrials.gov read module by module, results as tables?"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import FormatError
from assay.ingest.ctgov import prose
from tests.unit.ingest.samples import STUDY, entries, only, parts, write_lines


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "NCT00000001.json"
    path.write_text(json.dumps(STUDY, indent=1))
    return path


def test_the_protocol(study: Path) -> None:
    document = only("ctgov", study)
    assert parts(document)[:5] == [
        ("summary", "Brief summary",
         "Brief summary\nA trial of drug A\nWe test A.\nConditions: Itch; Rash\n"
         "Study type: Interventional\nPhase: 2\nAllocation: Randomized\n"
         "Masking: Double\nEnrollment: 20"),
        ("description", "Detailed description", "Detailed description\nAt length."),
        ("interventions", "Arms and interventions",
         "Arms and interventions\nExperimental: A\ngets A\nDrug: Drug A\n5 mg daily"),
        ("outcomes", "Primary outcomes", "Primary outcomes\nItch score\nTime frame: 4 weeks"),
        ("eligibility", "Eligibility criteria",
         "Eligibility criteria\nInclusion Criteria:\n* age >= 18\n* itch\nSex: All\n"
         "Age: 18 Years to any\nHealthy volunteers: no"),
    ]  # fmt: skip
    hints = [section.intent_hint for section in document.sections[:5]]
    assert hints == ["", "", "dose", "results", "eligibility"]


def test_the_acronym_and_why_a_study_stopped_can_be_found(study: Path) -> None:
    record = copy.deepcopy(STUDY)
    record["protocolSection"]["identificationModule"]["acronym"] = "ITCHSTOP"
    record["protocolSection"]["statusModule"]["whyStopped"] = "Slow accrual"
    study.write_text(json.dumps(record))
    document = only("ctgov", study)
    assert document.title == "Drug A for itch (ITCHSTOP)"
    assert "\nWhy it was stopped: Slow accrual\n" in parts(document)[0][2]


def test_a_design_in_prose_is_a_section_of_its_own(study: Path) -> None:
    record = copy.deepcopy(STUDY)
    record["protocolSection"]["designModule"] = {
        "phases": ["EARLY_PHASE1", "NA"],
        "designInfo": {
            "interventionModelDescription": "Two periods.",
            "maskingInfo": {"masking": "DOUBLE", "maskingDescription": "Same tablets."},
        },
    }
    study.write_text(json.dumps(record))
    document = only("ctgov", study)
    assert "Phase: Early 1, not applicable\nMasking: Double" in parts(document)[0][2]
    assert parts(document)[2] == (
        "methods", "Study design", "Study design\nTwo periods.\nSame tablets.",
    )  # fmt: skip
    assert document.sections[2].intent_hint == "methods"


def test_the_results_are_tables(study: Path) -> None:
    document = only("ctgov", study)
    assert parts(document)[5:] == [
        ("participant_flow", "Results > Participant flow > Overall",
         "Participant flow: Overall\nMilestone | A | Placebo\n\n"
         "STARTED | 10 | 10\nLeft: Lost to Follow-up | 1"),
        ("baseline", "Results > Baseline characteristics",
         "Baseline characteristics\nCharacteristic | A\n\nN (participants) | 10\n"
         "Age, mean (standard deviation) years | 40 (9)"),
        ("outcomes", "Results > Itch score",
         "Primary outcome: Itch score\nMeasure | A | Placebo\n\n"
         "mean points, Week 4 | 3 (2 to 4) | 7\nTime frame: 4 weeks\n"
         "Analysis, A vs Placebo: Difference -4, 95% CI -6 to -2, p 0.01"),
        ("adverse_events", "Results > Adverse events: totals",
         "Adverse events: totals\nAdverse events | A | Placebo\n\n"
         "All-cause mortality | 0/10 (0.00%)\n"
         "Serious adverse events | 1/10 (10.00%) | 0/10 (0.00%)\nTime frame: 4 weeks"),
        ("adverse_events", "Results > Serious adverse events",
         "Serious adverse events\nEvent (organ system) | A | Placebo\n\n"
         "Rash (Skin) | 1/10 (10.00%) | 0/10 (0.00%)"),
    ]  # fmt: skip
    assert all(section.is_table for section in document.sections[5:])
    assert all("<table>" in section.table_html for section in document.sections[5:])


def test_ids_and_metadata(study: Path) -> None:
    document = only("ctgov", study)
    assert (document.doc_id, document.title) == ("NCT00000001", "Drug A for itch")
    assert (document.profile, document.source) == ("registry", "ctgov")
    assert document.metadata == {
        "nct_id": "NCT00000001", "status": "COMPLETED", "phase": ("PHASE2",),
        "study_type": "INTERVENTIONAL", "conditions": ("Itch", "Rash"),
        "interventions": ("Drug A",), "enrollment": 20, "year": 2019, "start_date": "2019-01",
        "names": ("Itch", "Rash", "Drug A", "NCT00000001"), "identifiers": ("NCT00000001",),
    }  # fmt: skip


def test_every_shape_of_file(tmp_path: Path) -> None:
    other = copy.deepcopy(STUDY)
    other["protocolSection"]["identificationModule"]["nctId"] = "NCT00000002"
    shapes = {
        "lines.jsonl": json.dumps(STUDY) + "\n" + json.dumps(other) + "\n",
        "page.json": json.dumps({"studies": [STUDY, other], "nextPageToken": "x"}),
        "array.json": json.dumps([STUDY, other], indent=1),
    }
    for name, text in shapes.items():
        (tmp_path / name).write_text(text)
        found = [entry.document.doc_id for entry in entries("ctgov", tmp_path / name)]
        assert found == ["NCT00000001", "NCT00000002"], name


def test_without_results_there_are_no_tables(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"protocolSection": STUDY["protocolSection"]})
    assert not any(section.is_table for section in only("ctgov", path).sections)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocolSection": None}, "no id|doc_id"),
        ({"protocolSection": []}, "protocolSection is list"),
        ({"protocolSection": {"identificationModule": {}}}, "doc_id None"),
        ({"protocolSection": {"identificationModule": {"nctId": "../x"}}}, "not allowed"),
        ({"protocolSection": {"conditionsModule": {"conditions": "Itch"}}}, "conditions is str"),
        ({"protocolSection": {"armsInterventionsModule": {"armGroups": [1]}}}, "armGroups is int"),
        ({"other": 1}, "no protocolSection"),
    ],
)
def test_wrong_records_are_refused_with_their_line(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = write_lines(tmp_path / "a.jsonl", STUDY, change)
    with pytest.raises(FormatError, match=rf"a\.jsonl:2: .*({message})"):
        entries("ctgov", path)


def with_events(study: dict[str, Any], groups: list[dict[str, Any]]) -> dict[str, Any]:
    stats = [
        {"groupId": "EG0", "numAffected": 12, "numAtRisk": 10},
        {"groupId": "EG7", "numAffected": 1, "numAtRisk": 9},
    ]
    study = copy.deepcopy(study)
    study["resultsSection"] = {
        "adverseEventsModule": {
            "eventGroups": groups,
            "otherEvents": [{"term": "Rash", "stats": stats}],
        }
    }
    return study


@pytest.mark.parametrize("groups", [[{"id": "EG0", "title": "A"}], [{"id": "EG0"}], []])
def test_what_can_hardly_be_meant_is_noted_and_kept(
    tmp_path: Path, groups: list[dict[str, Any]]
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(with_events(STUDY, groups)))
    notes: list[str] = []
    (entry,) = entries("ctgov", path, notes)
    name = groups[0].get("title", "EG0") if groups else "EG0"
    assert entry.document.text.endswith(
        f"Event (organ system) | {name} | EG7\n\nRash | 12/10 | 1/9 (11.11%)"
    )
    assert any("Rash: 12 affected of 10 at risk, kept as given" in note for note in notes)
    assert any("adverse events: a group without a name is shown as 'EG7'" in note for note in notes)
    assert any("shown as 'EG0'" in note for note in notes) is (name == "EG0")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("~Key Inclusion:~LVEF under 40 %~~Key Exclusion:~Hypotension",
         "Key Inclusion:\nLVEF under 40 %\nKey Exclusion:\nHypotension"),
        ("About ~40 patients", "About ~40 patients"),
        ("Old \\>= 18\n~5 mg", "Old >= 18\n~5 mg"),
    ],
)  # fmt: skip
def test_line_breaks_of_older_records(given: str, text: str) -> None:
    assert prose(given) == text
