"""Is every resource that holds text a document, with its sections, codes and dates?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import FormatError
from assay.ingest import detect
from assay.model.document import Document
from tests.unit.ingest.samples import BUNDLE, entries, fhir_xml, parts


def written(folder: Path, *rows: dict[str, Any], name: str = "bundle.json") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def read(path: Path, notes: list[str] | None = None) -> dict[str, Document]:
    return {one.document.doc_id: one.document for one in entries("fhir", path, notes)}


def test_a_bundle_is_read_resource_by_resource(tmp_path: Path) -> None:
    path = written(tmp_path, BUNDLE)
    notes: list[str] = []
    found = read(path, notes)
    assert detect(path) == "fhir"
    assert list(found) == [
        "Composition-c1", "Condition-d1", "MedicationRequest-m1", "DocumentReference-r1",
    ]  # fmt: skip
    assert notes == [f"{path}: resources without text, left out: 1 Patient"]


def test_a_letter_has_its_sections(tmp_path: Path) -> None:
    letter = read(written(tmp_path, BUNDLE))["Composition-c1"]
    assert letter.title == "Discharge letter"
    assert parts(letter) == [
        ("other", "", "Discharge summary"),
        ("adverse_events", "Adverse reactions", "Adverse reactions\nRash after penicillin."),
        ("dosage", "Plan > Dosage", "Plan\nDosage\n10 mg"),
    ]
    assert letter.metadata["patient"] == "p1"
    assert letter.metadata["year"] == 2021


def test_coded_resources_are_named_by_their_words(tmp_path: Path) -> None:
    found = read(written(tmp_path, BUNDLE))
    condition, drug = found["Condition-d1"], found["MedicationRequest-m1"]
    assert condition.text == "Pruritus, unspecified\nWorse at night."
    assert condition.metadata["codes"] == ("L29.9",)
    assert condition.metadata["published_date"] == "2020-02"
    assert drug.text == "Drug A 10 mg tablet\none tablet daily"
    assert [section.label for section in drug.sections] == ["dosage"]
    assert found["DocumentReference-r1"].text == "Itching."


def test_bulk_exports_are_lines(tmp_path: Path) -> None:
    rows = [entry["resource"] for entry in BUNDLE["entry"]]  # type: ignore[index]
    assert len(read(written(tmp_path, *rows, name="export.ndjson"))) == 4


CODED = {"coding": [{"code": "C1", "display": "Sotagliflozin"}]}


def concept(text: str) -> dict[str, Any]:
    return {"text": text}


def of(folder: Path, kind: str, **fields: Any) -> Document:
    """The document of one resource."""
    path = written(folder, {"resourceType": kind, "id": "x", **fields})
    return read(path)[f"{kind}-x"]


def test_what_does_not_hold_says_so(tmp_path: Path) -> None:
    refuted = {"coding": [{"code": "refuted"}]}
    found = of(tmp_path, "Condition", code=concept("Asthma"), verificationStatus=refuted)
    assert (found.text, found.metadata["verification"]) == ("Asthma\n\nStatus: refuted", "refuted")
    drug = {"medicationCodeableConcept": concept("Metformin"), "dosageInstruction": []}
    assert of(tmp_path, "MedicationRequest", status="stopped", **drug).text.endswith("stopped")
    found = of(tmp_path, "MedicationRequest", status="active", **drug)
    assert (found.text, found.metadata["status"]) == ("Metformin", "active")
    reaction = {"manifestation": [concept("Rash")], "severity": "severe"}
    found = of(tmp_path, "AllergyIntolerance", code=concept("Penicillin"), reaction=[reaction])
    assert found.text == "Penicillin\nRash (severe)"


def test_values_answers_messages_and_relatives_are_read(tmp_path: Path) -> None:
    parts = [
        {"code": concept("Systolic"), "valueQuantity": {"value": 140, "unit": "mmHg"}},
        {"code": concept("Diastolic"), "valueQuantity": {"value": 90, "unit": "mmHg"}},
    ]
    found = of(tmp_path, "Observation", code=concept("BP"), component=parts)
    assert found.text == "BP\nSystolic: 140 mmHg\nDiastolic: 90 mmHg"
    nested = {"text": "Where?", "answer": [{"valueString": "Left knee"}]}
    item = {"text": "Any pain?", "answer": [{"valueBoolean": True}], "item": [nested]}
    found = of(tmp_path, "QuestionnaireResponse", item=[item])
    assert found.text == "Any pain?: true\nWhere?: Left knee"
    found = of(tmp_path, "Communication", payload=[{"contentString": "Call us."}])
    assert found.text == "Call us."
    history = {"relationship": concept("Mother"), "condition": [{"code": concept("Gout")}]}
    assert of(tmp_path, "FamilyMemberHistory", **history).text == "Mother: Gout"


def test_medication_that_is_pointed_to_is_named(tmp_path: Path) -> None:
    inner = {"resourceType": "Medication", "id": "m", "code": concept("Warfarin")}
    repeat = {"frequency": 2, "period": 1, "periodUnit": "d"}
    dose = {
        "doseAndRate": [{"doseQuantity": {"value": 5, "unit": "mg"}}],
        "timing": {"repeat": repeat},
    }
    pointer = {"medicationReference": {"reference": "#m"}, "dosageInstruction": [dose]}
    found = of(tmp_path, "MedicationRequest", contained=[inner], **pointer)
    assert found.text == "Warfarin\n5 mg, 2 times every day"
    beside = {"resourceType": "MedicationStatement", "id": "s"}
    beside["medicationReference"] = {"reference": "Medication/m"}  # type: ignore[assignment]
    entry = [{"resource": beside}, {"resource": inner}]
    path = written(tmp_path, {"resourceType": "Bundle", "entry": entry})
    assert read(path)["MedicationStatement-s"].text == "Warfarin"


def test_release_5_is_read_as_release_4_is(tmp_path: Path) -> None:
    old = {"medicationCodeableConcept": CODED, "reasonCode": [concept("Heart failure")]}
    new = {"medication": {"concept": CODED}, "reason": [{"concept": concept("Heart failure")}]}
    found = [of(tmp_path, "MedicationRequest", **fields) for fields in (old, new)]
    assert found[0] == found[1]
    assert found[0].text == "Sotagliflozin\nReason: Heart failure"
    assert found[0].metadata["codes"] == ("C1",)
    pointer = {"medication": CODED, "reason": [{"reference": {"display": "CKD"}}]}
    assert of(tmp_path, "MedicationRequest", **pointer).text == "Sotagliflozin\nReason: CKD"
    reaction = {"manifestation": [{"concept": concept("Hives")}]}
    found = [of(tmp_path, "AllergyIntolerance", code=concept("Nuts"), reaction=[reaction])]
    assert found[0].text == "Nuts\nHives"


def test_a_study_has_its_description(tmp_path: Path) -> None:
    found = of(tmp_path, "ResearchStudy", title="SOTA", description="Who itches less?")
    assert (found.title, found.text) == ("SOTA", "Who itches less?")


def test_a_resource_without_an_id_has_its_address(tmp_path: Path) -> None:
    resource = {"resourceType": "Condition", "code": concept("Gout")}
    bundle = {"resourceType": "Bundle", "entry": [{"fullUrl": "urn:uuid:7", "resource": resource}]}
    assert list(read(written(tmp_path, bundle))) == ["Condition-7"]
    (made,) = read(written(tmp_path, resource))
    assert made.startswith("Condition-")


def test_attachments_that_are_not_text_are_counted(tmp_path: Path) -> None:
    attachment = {"contentType": "application/pdf", "data": "JVBERg=="}
    text = {"contentType": "text/plain", "data": "SXRjaC4="}
    content = [{"attachment": text}, {"attachment": attachment}]
    notes: list[str] = []
    path = written(tmp_path, {"resourceType": "DocumentReference", "id": "x", "content": content})
    assert read(path, notes)["DocumentReference-x"].text == "Itch."
    assert notes[0].endswith("attachments that are not text, or elsewhere, left out: "
                             "1 application/pdf")  # fmt: skip


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 1}, "no resourceType"),
        ({"resourceType": "Condition", "id": "a", "note": "x"}, "note is str"),
        ({"resourceType": "DocumentReference", "id": "a",
          "content": [{"attachment": {"contentType": "text/plain", "data": "%"}}]}, "base64"),
    ],
)  # fmt: skip
def test_what_is_no_resource_is_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        entries("fhir", written(tmp_path, row))


def test_xml_gives_the_same_documents_as_json(tmp_path: Path) -> None:
    path = tmp_path / "bundle.xml"
    path.write_bytes(b"<?xml version='1.0'?>\n<!-- an export -->\n" + fhir_xml(BUNDLE))
    notes: list[str] = []
    assert detect(path) == "fhir"
    assert read(path, notes) == read(written(tmp_path, BUNDLE))
    assert notes == [f"{path}: resources without text, left out: 1 Patient"]


def test_xml_of_a_resource_with_doses_and_contained_medication(tmp_path: Path) -> None:
    dose = {
        "doseAndRate": [{"doseQuantity": {"value": 5, "unit": "mg"}}],
        "timing": {"repeat": {"frequency": 2, "period": 1, "periodUnit": "d"}},
        "asNeededBoolean": True,
    }
    row = {
        "resourceType": "MedicationRequest",
        "id": "m2",
        "status": "stopped",
        "contained": [{"resourceType": "Medication", "id": "a", "code": {"text": "Drug B"}}],
        "medicationReference": {"reference": "#a"},
        "dosageInstruction": [dose],
        "note": [{"text": "With food."}],
    }
    path = tmp_path / "one.xml"
    path.write_bytes(fhir_xml(row))
    found = read(path)
    assert found == read(written(tmp_path, row))
    said = found["MedicationRequest-m2"].text
    assert said.startswith("Drug B\n5 mg, 2 times every day, as needed\nWith food.")
    assert said.endswith("Status: stopped")
