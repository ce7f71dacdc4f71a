"""Is every resource that holds text a document, with its sections, codes and dates?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import FormatError
from assay.ingest import detect
from assay.model.document import Document
from tests.unit.ingest.samples import BUNDLE, entries, parts


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


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 1}, "no resourceType"),
        ({"resourceType": "Condition", "code": {"text": "x"}}, "doc_id"),
        ({"resourceType": "Condition", "id": "a", "note": "x"}, "note is str"),
        ({"resourceType": "DocumentReference", "id": "a",
          "content": [{"attachment": {"contentType": "text/plain", "data": "%"}}]}, "base64"),
    ],
)  # fmt: skip
def test_what_is_no_resource_is_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        entries("fhir", written(tmp_path, row))
