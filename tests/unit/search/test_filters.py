"""Do filters leave exactly what they say, before anything is ranked?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.app.workspace import Workspace
from assay.model.document import Chunk
from assay.search.why import Verdict
from tests.unit.search.corpus import filled

LABELS = ("eligibility", "Eligibility Criteria", "ELIGIBILITY_CRITERIA", "Patient Story", "other")


def _sections() -> list[Chunk]:
    return [
        Chunk(f"s{at}:chunk_0", f"s{at}", f"age over {at} years", section_label=label)
        for at, label in enumerate(LABELS)
    ]


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("sections") / "home", _sections()) as opened:
        yield opened


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("eligibility", LABELS[:3]),
        ("Eligibility criteria", LABELS[:3]),
        ("Inclusion Criteria", LABELS[:3]),
        ("Patient Story", ("Patient Story",)),
        ("patient story", ("Patient Story",)),
        ("other", ("other",)),
        ("nowhere", ()),
    ],
)
def test_a_section_is_the_same_whatever_it_is_called(
    sections: Workspace, wanted: str, found: tuple[str, ...]
) -> None:
    answer = sections.search("age years", section=wanted)
    assert {hit.chunk.section_label for hit in answer.results} == {*found}


def test_what_a_filter_lets_through_a_boost_lifts(sections: Workspace) -> None:
    answer = sections.search("age years eligibility criteria", query_intent="eligibility")
    lifted = {hit.chunk.section_label for hit in answer.results if hit.boosts}
    passed = sections.search("age years", section="eligibility").results
    assert lifted == {hit.chunk.section_label for hit in passed} == {*LABELS[:3]}


def test_why_goes_by_the_same_sections(sections: Workspace) -> None:
    why = sections.searcher.why("age years", "s1", section="eligibility")
    assert why.verdict is Verdict.IN_RESULTS
    assert sections.searcher.why("age years", "s3", section="eligibility").verdict is (
        Verdict.FILTERED_OUT
    )
