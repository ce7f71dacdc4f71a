"""Are drug labels read by their section codes?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import FormatError
from tests.unit.ingest.samples import LABEL, entries, only, parts


@pytest.fixture
def label(tmp_path: Path) -> Path:
    path = tmp_path / "a.xml"
    path.write_text(LABEL, encoding="utf-8")
    return path


def test_sections_take_labels_from_codes_and_parents(label: Path) -> None:
    assert parts(only("spl", label)) == [
        ("dosage", "2 DOSAGE AND ADMINISTRATION > 2.1 Adults",
         "2 DOSAGE AND ADMINISTRATION\n2.1 Adults\nTake 5 mg daily.\n- with food\n- or not"),
        ("dosage", "2 DOSAGE AND ADMINISTRATION > 2.1 Adults",
         "Table 1: Doses\nAge | Dose\n\nadult | 5 mg\nper day"),
        ("adverse_events", "6 ADVERSE REACTIONS", "6 ADVERSE REACTIONS\nRash."),
    ]  # fmt: skip


def test_intents_follow(label: Path) -> None:
    document = only("spl", label)
    assert [section.intent_hint for section in document.sections] == ["dose", "dose", ""]
    assert [section.is_table for section in document.sections] == [False, True, False]


def test_ids_and_metadata(label: Path) -> None:
    document = only("spl", label)
    assert document.doc_id == "11111111-2222-3333-4444-555555555555"
    assert document.title == "Itchex Forte (drugamab)"
    assert document.metadata == {
        "set_id": "11111111-2222-3333-4444-555555555555", "label_id": "v-1", "version": 7,
        "effective_date": "2020-01-01", "year": 2020,
        "kind": "HUMAN PRESCRIPTION DRUG LABEL", "manufacturer": "Maker",
        "brands": ("Itchex Forte",), "generics": ("drugamab",),
        "drugs": ("Itchex Forte", "drugamab"),
        "names": (
            "Itchex Forte", "drugamab", "11111111-2222-3333-4444-555555555555", "v-1",
        ),
        "identifiers": ("11111111-2222-3333-4444-555555555555", "v-1"),
    }  # fmt: skip
    assert (document.profile, document.source) == ("label", "spl")


def test_a_label_without_product_keeps_its_title(tmp_path: Path) -> None:
    path = tmp_path / "plain label.xml"
    path.write_text(
        "<document><title>Drug<br/>Facts</title><component><structuredBody><component><section>"
        "<title>Uses</title><text>For itch.</text></section></component></structuredBody>"
        "</component></document>"
    )
    document = only("spl", path)
    assert (document.doc_id, document.title) == ("plain-label", "Drug Facts")
    assert parts(document) == [("indications", "Uses", "Uses\nFor itch.")]


def test_a_title_with_nothing_below_it_is_text(tmp_path: Path) -> None:
    """Labels list contraindications in titles; a title above a picture says nothing by itself."""
    path = tmp_path / "a.xml"
    path.write_text(
        "<document><component><structuredBody><component><section><code code='34070-3'/>"
        "<title>4 CONTRAINDICATIONS</title>"
        "<component><section><title>4.1 Liver disease</title></section></component>"
        "<component><section><title>4.2 Hypersensitivity</title><text><paragraph/></text>"
        "</section></component></section></component>"
        "<component><section><title>Carton</title><text><renderMultiMedia/></text></section>"
        "</component></structuredBody></component></document>"
    )
    above = "4 CONTRAINDICATIONS"
    assert parts(only("spl", path)) == [
        ("contraindications", f"{above} > 4.1 Liver disease", f"{above}\n4.1 Liver disease"),
        ("contraindications", f"{above} > 4.2 Hypersensitivity", "4.2 Hypersensitivity"),
    ]


def test_other_xml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<document/>")
    with pytest.raises(FormatError, match=r"a drug label \(SPL\) is expected"):
        entries("spl", path)


def test_doses_below_each_other_in_a_cell_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "label.xml"
    path.write_text(
        '<document xmlns="urn:hl7-org:v3"><title>X</title><component><structuredBody><component>'
        '<section><code code="34068-7"/><text><table><tbody><tr><td><paragraph>5 mg</paragraph>'
        "<paragraph>10 mg</paragraph></td><td>twice<br/>daily</td></tr><tr><td><list>"
        "<item>20 mg</item><item>40 mg</item></list></td><td><table><tbody><tr><td>Day 1</td>"
        "<td>50 mg</td></tr><tr><td>Day 2</td><td>100 mg</td></tr></tbody></table></td></tr>"
        "</tbody></table></text></section></component></structuredBody></component></document>"
    )
    (section,) = only("spl", path).sections
    assert only("spl", path).text == (
        "5 mg; 10 mg | twice daily\n20 mg; 40 mg | Day 1 | 50 mg\n20 mg; 40 mg | Day 2 | 100 mg"
    )
    assert "<td>Day 1</td><td>50 mg</td></tr><tr><td>Day 2</td>" in section.table_html


def _coded(code: str, text: str, *inner: str, title: str = "") -> str:
    return (
        f'<component><section><code code="{code}"/><title>{title}</title>'
        f"<text><paragraph>{text}</paragraph></text>{''.join(inner)}</section></component>"
    )


def test_what_stands_in_a_dosage_section_is_about_doses_though_it_is_boxed(tmp_path: Path) -> None:
    box, unclassified, old_age = "34066-1", "42229-5", "34082-8"
    path = tmp_path / "label.xml"
    dosage = _coded(
        "34068-7",
        "Doses vary.",
        _coded(unclassified, "By mouth.", _coded(box, "Mild - 1 mg twice a day."), title="Adults"),
        _coded(old_age, "Half of the dose.", title="Geriatric Use"),
        _coded(box, "WARNING: never into a vein."),
        title="DOSAGE AND ADMINISTRATION",
    )
    warnings = _coded("34071-1", "Take care.", _coded(box, "Liver failure."), title="WARNINGS")
    path.write_text(
        '<document xmlns="urn:hl7-org:v3"><title>X</title><component><structuredBody>'
        f"{_coded(box, 'Deaths occurred.')}{dosage}{warnings}"
        "</structuredBody></component></document>"
    )
    found = {text.split("\n")[-1]: label for label, _, text in parts(only("spl", path))}
    assert found == {
        "Deaths occurred.": "boxed_warning",
        "Doses vary.": "dosage",
        "By mouth.": "dosage",
        "Mild - 1 mg twice a day.": "dosage",
        "Half of the dose.": "dosage",
        "WARNING: never into a vein.": "boxed_warning",
        "Take care.": "warnings",
        "Liver failure.": "boxed_warning",
    }


def test_a_footnote_in_running_text_stays_apart_from_its_sentence(tmp_path: Path) -> None:
    """It was glued to the word before it: 10^9/L.Maximum 20 mg."""
    path = tmp_path / "label.xml"
    said = "Start above 3 × 10<sup>9</sup>/L.<footnote>Maximum 20 mg</footnote>Then wait."
    path.write_text(
        '<document xmlns="urn:hl7-org:v3"><title>X</title><component><structuredBody>'
        f"{_coded('34068-7', said, title='DOSAGE')}</structuredBody></component></document>"
    )
    assert only("spl", path).text.endswith(
        "Start above 3 × 10^9/L. [note: Maximum 20 mg] Then wait."
    )
