"""Are questions made from what a document's form shows, and from nothing else?"""

from __future__ import annotations

from dataclasses import replace

from assay.annotation.suggest import KINDS, suggestions
from assay.model.document import Chunk, StoredDocument


def document(title: str, chunks: list[Chunk], **metadata: tuple[str, ...]) -> StoredDocument:
    return StoredDocument(
        "d1", "x", title, "text", "", "", "", 1, metadata=metadata, chunks=tuple(chunks)
    )


def chunk(number: int, label: str, text: str = "text", *, table: bool = False) -> Chunk:
    return Chunk(f"d1:chunk_{number}", "d1", text, section_label=label, is_table=table)


def texts(found: StoredDocument, *kinds: str) -> dict[str, str]:
    return {one.text: one.chunk.chunk_id for one in suggestions(found, kinds or KINDS)}


def test_a_label_is_asked_about_its_drug_by_both_names() -> None:
    label = document(
        "NEPHRAVA (velcarenone)",
        [chunk(0, "indications"), chunk(1, "dosage"), chunk(2, "dosage"), chunk(3, "back_matter")],
        brands=("NEPHRAVA",),
        generics=("velcarenone",),
    )
    assert texts(label) == {
        "What is velcarenone used for?": "d1:chunk_0",
        "What is nephrava used for?": "d1:chunk_0",
        "How much velcarenone should be taken?": "d1:chunk_1",
        "What is the usual dose of nephrava?": "d1:chunk_1",
    }


def test_a_trial_is_asked_about_its_treatment_and_its_disease() -> None:
    trial = document(
        "A study",
        [
            chunk(0, "eligibility"),
            chunk(1, "adverse_events", "Table 2. Serious adverse events\na | b", table=True),
        ],
        interventions=("Placebo", "Brevatropium"),
        conditions=("Pulmonary Disease, Chronic Obstructive",),
    )
    subject = "brevatropium for chronic obstructive pulmonary disease"
    assert texts(trial, "section", "table") == {
        f"Who could take part in the study of {subject}?": "d1:chunk_0",
        f"What are the figures for serious adverse events with {subject}?": "d1:chunk_1",
    }


def test_an_article_is_asked_about_its_title_and_its_headings() -> None:
    article = document(
        "Sleep apnoea in chronic heart failure: a cohort study of 418 outpatients",
        [chunk(0, "introduction"), chunk(1, "abstract")],
        mesh=("Heart Failure", "Sleep Apnea Syndromes"),
    )
    assert texts(article, "title", "mesh") == {
        "What is known about sleep apnoea in chronic heart failure?": "d1:chunk_1",
        "What is known about heart failure in connection with sleep apnea syndromes?": "d1:chunk_1",
    }
    asked = replace(article, title="Does coffee raise the blood pressure?")
    assert [*texts(asked, "title")] == ["Does coffee raise the blood pressure?"]


def test_nothing_is_made_of_nothing() -> None:
    assert texts(document("", [])) == {}
    assert texts(document("Visit", [chunk(0, "turn")])) == {}
