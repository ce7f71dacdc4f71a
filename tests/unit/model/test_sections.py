"""Do headings, codes and captions get the labels and intents that search relies on?"""

from __future__ import annotations

import pytest

from assay.ingest.tables import kind_of_table
from assay.model.sections import CTGOV_MODULES, INTENTS, LABELS, LOINC, intent_of, label_of


def test_the_vocabulary_is_closed() -> None:
    assert set(LOINC.values()) <= set(LABELS)
    assert set(CTGOV_MODULES.values()) <= set(LABELS)
    assert {label.intent for label in LABELS.values()} - {""} == set(INTENTS)
    assert all(label.help for label in LABELS.values())


@pytest.mark.parametrize(
    ("heading", "parent", "label"),
    [
        ("1. INTRODUCTION", "", "introduction"),
        ("Background", "", "introduction"),
        ("Materials and Methods", "", "methods"),
        ("2.1. Study design", "methods", "methods"),
        ("Patients and methods", "", "methods"),
        ("Participants", "methods", "eligibility"),
        ("Participants", "results", "results"),
        ("Inclusion and exclusion criteria", "methods", "eligibility"),
        ("Eligibility Criteria", "", "eligibility"),
        ("Results and discussion", "", "results"),
        ("Adverse events", "results", "adverse_events"),
        ("Safety and tolerability", "results", "adverse_events"),
        ("Data Safety Monitoring Board", "methods", "methods"),
        ("Baseline characteristics", "results", "baseline"),
        ("Baseline study visit", "methods", "methods"),
        ("Response to treatment", "results", "results"),
        ("Primary endpoint", "methods", "outcomes"),
        ("Ethics", "methods", "methods"),
        ("Competing interests", "", "back_matter"),
        ("Thyroid supplementation", "introduction", "introduction"),
        ("Supplementary material", "", "appendix"),
        ("Conclusions and future directions", "", "conclusions"),
        ("Limitations", "discussion", "discussion"),
        ("5 WARNINGS AND PRECAUTIONS", "", "warnings"),
        ("4 CONTRAINDICATIONS", "", "contraindications"),
        ("Uses", "", "indications"),
        ("10 OVERDOSAGE", "", "overdosage"),
        ("3 DOSAGE FORMS AND STRENGTHS", "", "dosage_forms"),
        ("Directions", "", "dosage"),
        ("Adverse Events", "", "adverse_events"),
        ("Intervention", "", "interventions"),
        ("Quality of life", "results", "results"),
        ("Selumetinib", "", "other"),
        ("", "methods", "methods"),
        ("", "", "other"),
    ],
)
def test_headings(heading: str, parent: str, label: str) -> None:
    assert label_of(heading, parent) == label


@pytest.mark.parametrize(
    ("label", "text", "intent"),
    [
        ("adverse_events", "", ""),
        ("adverse_events", "Rash was seen in 3 of 50 patients (6%) and went away.", ""),
        (
            "adverse_events",
            "The following were seen in the trials of this drug:\n- rash\n- itch",
            "ae",
        ),
        ("adverse_events", "Adverse Events 1:\n  Total: 3/50 (6.00%)\n  Rash 1/50 (2.00%)", "ae"),
        ("adverse_events", "Rash 3 (6)", "ae"),
        (
            "adverse_events",
            "Skin: rash, itching, hives.\nHeart: angina, syncope, palpitation.",
            "ae",
        ),
        ("adverse_events", "Adverse Events 1:", ""),
        ("adverse_events", "- Serious infections [see Warnings (5.1)]", ""),
        ("adverse_events", f"- rash\n{'Most patients had none of these at all. ' * 3}", ""),
        ("dosage", "", "dose"),
        ("eligibility", "", "eligibility"),
        ("outcomes", "", "results"),
        ("methods", "", "methods"),
        ("indications", "", "indications"),
        ("interventions", "cyclophosphamide 30 mg/kg", "dose"),
        ("interventions", "counselling by telephone", ""),
        ("introduction", "", ""),
        ("Something of the user's", "", ""),
    ],
)
def test_intents(label: str, text: str, intent: str) -> None:
    assert intent_of(label, text) == intent


@pytest.mark.parametrize("text", ["", "Rash was seen.", "- rash"])
def test_a_table_of_adverse_events_has_their_intent(text: str) -> None:
    assert intent_of("adverse_events", text, is_table=True) == "ae"


@pytest.mark.parametrize(
    ("caption", "header", "kind"),
    [
        ("Table 2. Treatment-emergent adverse events", "", "adverse_events"),
        ("Baseline characteristics of the patients", "p value", "baseline"),
        ("Demographics", "", "baseline"),
        ("Characteristics of study respondents", "", "baseline"),
        ("Trial exclusion criteria", "", "eligibility"),
        ("Dose escalation scheme", "Dose level", "dosage"),
        ("Primary and secondary outcomes", "", "outcomes"),
        ("Table 3", "Event\nGrade 1\nGrade 2", "adverse_events"),
        ("Table 4", "Drug\nRecommended dose", "dosage"),
        ("Table 5", "Variable\nHazard ratio", "outcomes"),
        ("Centres", "City\nCountry", ""),
        ("Baseline characteristics (safety population)", "", "baseline"),
        ("Mean change in score from baseline to week 12", "", "outcomes"),
        ("Physical fitness at baseline and after 16 weeks", "", ""),
        ("Medication at baseline", "", "baseline"),
        ("Baseline data of postmenopausal women", "", "baseline"),
        ("Baseline and clinical features", "", "baseline"),
        ("Strength at baseline and posttraining", "", ""),
        ("Lipids at baseline and at the end of the study", "", ""),
        ("Demographics, safety analysis set", "", "baseline"),
        ("Adverse events (safety population)", "", "adverse_events"),
        ("Safety", "", "adverse_events"),
    ],
)
def test_tables(caption: str, header: str, kind: str) -> None:
    assert kind_of_table(caption, header) == kind
