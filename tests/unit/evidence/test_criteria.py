"""Does a criterion include patients or exclude them?"""

from __future__ import annotations

import pytest

from assay.answers.sentences import sentences
from assay.evidence.criteria import BOTH, Side, side_of_heading, sides_asked, sides_of
from assay.model.document import Chunk

IN, OUT = frozenset({Side.INCLUSION}), frozenset({Side.EXCLUSION})


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("inclusion criteria of the gout trial", IN),
        ("who may take part in NCT04000001?", IN),
        ("Which patients were eligible?", IN),
        ("exclusion criteria of NCT04000001", OUT),
        ("who cannot join NCT04000001", OUT),
        ("Who could not take part in the study?", OUT),
        ("Which patients were not allowed in the gout trial?", OUT),
        ("who shouldn't join the study", OUT),
        ("why were patients excluded from the gout trial", OUT),
        ("eligibility criteria of NCT04000001", BOTH),
        ("inclusion and exclusion criteria", BOTH),
        ("recommended dose of colchicine", frozenset()),
    ],
)
def test_a_question_asks_for_one_kind_or_both(question: str, sides: frozenset[Side]) -> None:
    assert sides_asked(question) == sides


@pytest.mark.parametrize(
    ("line", "side"),
    [
        ("Inclusion Criteria:", Side.INCLUSION),
        ("KEY EXCLUSION CRITERIA", Side.EXCLUSION),
        ("Exclusion criteria (any of the following):", Side.EXCLUSION),
        ("Non-inclusion criteria:", Side.EXCLUSION),
        ("Candidates will be excluded if they have:", Side.EXCLUSION),
        ("Eligibility Criteria", None),
        ("Excluded patients had worse outcomes than others.", None),
    ],
)
def test_headings(line: str, side: Side | None) -> None:
    assert side_of_heading(line) is side


def test_a_heading_decides_and_without_one_the_sentence() -> None:
    assert sides_of("Patients with treated lesions are eligible", Side.EXCLUSION) == OUT
    assert sides_of("Smokers were excluded.", None) == OUT
    assert sides_of("Adults were eligible; smokers were excluded.", None) == BOTH
    assert sides_of("Smokers will not be excluded.", None) == frozenset()
    assert sides_of("Age: 18 Years to 70 Years", Side.EXCLUSION) == IN


def chunk(text: str, at: int, start: int, heading: str = "Eligibility") -> Chunk:
    return Chunk(
        f"t:chunk_{at}",
        "t",
        text,
        section_label="eligibility",
        spans=((start, start + len(text)),),
        metadata={"heading": heading},
    )


def test_a_list_that_goes_on_in_the_next_chunk_keeps_its_heading() -> None:
    first = chunk("Eligibility\nInclusion Criteria:\n* Gout\nExclusion Criteria:\n* Asthma", 1, 100)
    second = chunk("* Unstable angina within 6 months", 2, 100 + len(first.text) + 1)
    [angina] = sentences(second, [first, second])
    assert angina.side is Side.EXCLUSION
    [alone] = sentences(second)
    assert alone.side is None


def test_what_stands_above_a_heading_of_exclusion_includes() -> None:
    found = sentences(chunk("* Age of 18 years or more\nExclusion Criteria:\n* Asthma", 3, 500))
    assert [one.side for one in found] == [Side.INCLUSION, Side.EXCLUSION]
    assert found[1].announced == "Exclusion Criteria:"


@pytest.mark.parametrize(
    "question",
    [
        "How old did boys have to be?",
        "How many migraines a month were required?",
        "What ferritin level was required for the patients?",
        "Which platelet count did women need?",
        "What did patients have to have to be enrolled?",
        "minimum age in the trial of zelomab",
    ],
)
def test_who_asks_what_was_required_asks_for_criteria(question: str) -> None:
    assert sides_asked(question) == {Side.INCLUSION, Side.EXCLUSION}


@pytest.mark.parametrize(
    "question",
    [
        "How many patients had to be hospitalised?",
        "How many transfusions were required?",
        "What monitoring is required?",
        "How old were the patients?",
        "What level of evidence was found?",
        "Which drug levels were measured?",
    ],
)
def test_who_asks_what_happened_asks_for_no_criteria(question: str) -> None:
    assert sides_asked(question) == frozenset()
