"""A small clinical corpus for end-to-end tests: real models make real vectors of it.

Drugs, conditions and sections are chosen so that each scenario has something to find, and something
that must not be found first.
"""

from __future__ import annotations

from assay.model.document import Chunk

DRUGS = ("pembrolizumab", "nivolumab", "atezolizumab", "docetaxel", "ipilimumab", "durvalumab")
CANCERS = ("breast cancer", "lung cancer", "melanoma", "colon cancer")
CARE = (
    "metformin lowers glucose in type 2 diabetes",
    "insulin treatment of diabetes is adjusted to meals",
    "diet and exercise are the first treatment of diabetes",
    "diabetes damages small vessels of the eye",
    "the pathophysiology of diabetes begins with insulin resistance",
    "blood pressure was measured at every visit",
    "research trends in cancer were reviewed",
    "the heart attack was treated with a stent",
)


def chunks() -> list[Chunk]:
    """About 180 chunks of some twenty words."""
    return [*_tables(), *_prose(), *_eligibility(), *_filler()]


def _tables() -> list[Chunk]:
    return [
        Chunk(
            chunk_id=f"AE-{drug}:chunk_{part}",
            doc_id=f"AE-{drug}",
            title=f"Safety of {drug}",
            text=f"{drug} adverse events: fatigue {part + 3}%, rash {part + 9}%, nausea {part}%",
            section_label="adverse_events",
            intent_hint="ae",
            is_table=True,
            table_html="<table><tr><td>fatigue</td></tr></table>",
            source="registry",
        )
        for drug in DRUGS
        for part in range(5)
    ]


def _prose() -> list[Chunk]:
    kinds = (
        ("results", "", "overall survival with {} was longer than with placebo"),
        ("dosage", "dose", "the dose of {} is 200 mg every three weeks"),
        ("adverse_events", "", "patients on {} reported adverse events such as tiredness"),
        ("introduction", "", "{} blocks a checkpoint of the immune system"),
    )
    return [
        Chunk(
            chunk_id=f"TXT-{drug}:chunk_{at}",
            doc_id=f"TXT-{drug}",
            title=f"Trial of {drug}",
            text=f"{form.format(drug)}.",
            section_label=section,
            intent_hint=hint,
            source="article",
        )
        for drug in DRUGS
        for at, (section, hint, form) in enumerate(kinds)
    ]


def _eligibility() -> list[Chunk]:
    texts = (
        "This trial in {} compares two treatments and their outcome.",
        "Inclusion criteria: adults with {} and measurable disease.",
        "Exclusion criteria: earlier treatment of {} with chemotherapy.",
        "Women and men with {} of any age may take part.",
    )
    return [
        Chunk(
            chunk_id=f"EL-{at}:chunk_{part}",
            doc_id=f"EL-{at}",
            title=f"A trial in {cancer}",
            text=text.format(cancer),
            section_label="Eligibility Criteria" if part else "introduction",
            intent_hint="eligibility" if part else "",
            source="registry",
        )
        for at, cancer in enumerate(CANCERS)
        for part, text in enumerate(texts)
    ]


def _filler() -> list[Chunk]:
    return [
        Chunk(
            chunk_id=f"GEN-{at}:chunk_0",
            doc_id=f"GEN-{at}",
            title="Notes on care",
            text=f"{CARE[at % len(CARE)]}, note {at} on diabetes treatment.",
            section_label="discussion",
            source="notes",
        )
        for at in range(110)
    ]
