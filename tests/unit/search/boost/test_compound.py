"""R13: a word that only begins a compound asks for nothing."""

from __future__ import annotations

import pytest

from assay.search.boost import default_lexicon, detect
from assay.search.subject import subject_of

LEXICON = default_lexicon()


def asked(query: str) -> set[str]:
    return {one.intent for one in detect(query, LEXICON)}


@pytest.mark.parametrize(
    "query",
    [
        "table football wrist injury",
        "coffee table book",
        "method acting and sleep",
        "safety goggles in squash",
        "safety behaviours in social anxiety",
        "eligible voters turnout",
        "outcome bias in juries",
        "dosage compensation in flies",
        "interaction network of enzymes",
        "toxicity assay plates",
        "warning lamp colour",
    ],
)
def test_the_first_part_of_a_compound_asks_for_nothing(query: str) -> None:
    assert asked(query) == set()


def test_it_belongs_to_the_subject() -> None:
    assert subject_of("safety goggles in squash", LEXICON).typed == (
        ("safety", "goggles"),
        ("squash",),
    )


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("dosage apixaban", "dosage"),
        ("toxicity liver", "adverse_events"),
        ("toxicity hepatic", "adverse_events"),
        ("safety pregnancy", "adverse_events"),
        ("dose psoriasis", "dosage"),
        ("dosage range of lithium", "dosage"),
        ("dose children", "dosage"),
        ("pooled safety analysis of fluoxetine", "adverse_events"),
        ("toxicity symptoms of lithium", "adverse_events"),
        ("dose BI-1206", "dosage"),
        ("warnings fluoxetine", "warnings"),
        ("interactions grapefruit", "interactions"),
        ("safety of fluoxetine", "adverse_events"),
        ("eligible patients", "eligibility"),
        ("fluoxetine dosage", "dosage"),
    ],
)
def test_who_names_what_a_section_is_of_asks_for_it(query: str, intent: str) -> None:
    assert intent in asked(query)
