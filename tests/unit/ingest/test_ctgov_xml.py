"""Does a study in the registry's older XML say the same as in its present form?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import FormatError
from assay.ingest import detect
from assay.ingest.ctgov_xml import study_row
from assay.ingest.parsed import FileLocation
from assay.ingest.xml_input import parse_xml
from tests.unit.ingest.samples import entries, only, parts

STUDY = """<clinical_study rank="1">
<id_info><org_study_id>ITCH-1</org_study_id><nct_id>NCT00000077</nct_id></id_info>
<brief_title>Drug A for Itch</brief_title><acronym>SCRATCH</acronym>
<official_title>A Trial of Drug A for Itch</official_title>
<sponsors><lead_sponsor><agency>Made-up Trust</agency></lead_sponsor></sponsors>
<brief_summary><textblock>
      Does it help
      against itch?

      We will see.
</textblock></brief_summary>
<overall_status>Active, not recruiting</overall_status>
<start_date type="Actual">March 5, 2019</start_date><completion_date>May 2021</completion_date>
<phase>Phase 2/Phase 3</phase><study_type>Interventional</study_type>
<study_design_info><allocation>Randomized</allocation>
<masking>Double (Participant, Investigator)</masking>
</study_design_info>
<primary_outcome><measure>Itch score</measure><time_frame>8 weeks</time_frame></primary_outcome>
<enrollment type="Actual">60</enrollment><condition>Pruritus</condition>
<arm_group><arm_group_label>Drug A</arm_group_label><arm_group_type>Experimental</arm_group_type>
</arm_group><intervention><intervention_type>Drug</intervention_type>
<intervention_name>Drug A</intervention_name><description>10 mg daily</description>
<other_name>A-1</other_name></intervention>
<eligibility><criteria><textblock>
        Inclusion Criteria:

          -  Adults who
             itch

          -  Consent
</textblock></criteria><gender>All</gender><minimum_age>18 Years</minimum_age>
<maximum_age>N/A</maximum_age><healthy_volunteers>No</healthy_volunteers></eligibility>
<condition_browse><mesh_term>Pruritus</mesh_term></condition_browse>
<clinical_results>
<outcome_list><outcome><type>Primary</type><title>Itch score</title><time_frame>8 weeks</time_frame>
<group_list><group group_id="O1"><title>Drug A</title></group></group_list>
<measure><title>Itch score</title><units>points</units><param>Mean</param>
<dispersion>Standard Deviation</dispersion>
<analyzed_list><analyzed><units>Participants</units><count_list><count group_id="O1" value="30"/>
</count_list></analyzed></analyzed_list>
<class_list><class><category_list><category><measurement_list>
<measurement group_id="O1" value="3.2" spread="1.1"/></measurement_list></category></category_list>
</class></class_list></measure></outcome></outcome_list>
<reported_events><time_frame>12 weeks</time_frame>
<group_list><group group_id="E1"><title>Drug A</title></group></group_list>
<serious_events><category_list><category><title>Total</title><event_list><event>
<sub_title>Total, serious adverse events</sub_title>
<counts group_id="E1" subjects_affected="2" subjects_at_risk="30"/></event></event_list></category>
<category><title>Skin</title><event_list><event><sub_title>Rash</sub_title>
<counts group_id="E1" subjects_affected="2" subjects_at_risk="30"/></event></event_list></category>
</category_list></serious_events></reported_events>
</clinical_results></clinical_study>"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "NCT00000077.xml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_sections_are_those_of_a_study(study: Path) -> None:
    assert detect(study) == "ctgov"
    found = {heading: (label, text) for label, heading, text in parts(only("ctgov", study))}
    assert found["Brief summary"][1].splitlines() == [
        "Brief summary", "A Trial of Drug A for Itch", "Does it help against itch?", "We will see.",
        "Conditions: Pruritus", "Study type: Interventional", "Phase: 2, 3",
        "Allocation: Randomized", "Masking: Double", "Enrollment: 60",
    ]  # fmt: skip
    assert found["Eligibility criteria"] == ("eligibility", (
        "Eligibility criteria\nInclusion Criteria:\n- Adults who itch\n- Consent\nSex: All\n"
        "Age: 18 Years to any\nHealthy volunteers: no"
    ))  # fmt: skip
    assert found["Results > Itch score"][1] == (
        "Primary outcome: Itch score\nMeasure | Drug A\n\nN (participants) | 30\n"
        "mean (standard deviation) points | 3.2 (1.1)\nTime frame: 8 weeks"
    )
    assert found["Results > Adverse events: totals"][1].splitlines()[3] == (
        "Serious adverse events | 2/30 (6.67%)"
    )
    assert "Rash (Skin) | 2/30 (6.67%)" in found["Results > Serious adverse events"][1]


def test_facts_are_those_of_a_study(study: Path) -> None:
    document = only("ctgov", study)
    assert (document.doc_id, document.title) == ("NCT00000077", "Drug A for Itch (SCRATCH)")
    assert document.metadata == {
        "nct_id": "NCT00000077", "acronym": "SCRATCH", "status": "ACTIVE_NOT_RECRUITING",
        "phase": ("PHASE2", "PHASE3"), "study_type": "INTERVENTIONAL", "sponsor": "Made-up Trust",
        "conditions": ("Pruritus",), "interventions": ("Drug A",), "mesh": ("Pruritus",),
        "enrollment": 60, "year": 2019, "start_date": "2019-03-05", "completion_date": "2021-05",
        "names": ("SCRATCH", "Pruritus", "Drug A", "A-1", "NCT00000077", "ITCH-1"),
        "identifiers": ("NCT00000077", "ITCH-1"),
    }  # fmt: skip


def test_both_forms_read_alike(study: Path, tmp_path: Path) -> None:
    row = study_row(parse_xml(study.read_bytes(), FileLocation(str(study))))
    path = tmp_path / "same.json"
    path.write_text(json.dumps(row))
    assert only("ctgov", path) == only("ctgov", study)


def test_a_study_without_an_id_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text("<clinical_study><brief_title>x</brief_title></clinical_study>")
    with pytest.raises(FormatError, match="doc_id"):
        entries("ctgov", path)
