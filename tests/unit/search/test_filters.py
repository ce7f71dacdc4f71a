"""Do filters leave exactly what they say, before anything is ranked?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.app.workspace import Workspace
from assay.errors import UsageError
from assay.index.facts import PROFILES, TERMS, VALUES
from assay.index.manifest import load, save
from assay.model.document import Chunk
from assay.search.request import SearchOptions, changed
from assay.search.why import Verdict
from tests.unit.search.corpus import documents, filled, workspace

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


def _trials() -> list[Chunk]:
    """Sixty trials; all but the last have the same words, so that only filters tell them apart."""
    return [
        Chunk(
            f"t{at:02}:chunk_{part}",
            f"t{at:02}",
            f"headache after aspirin{' every day' * part}",
            title=f"Trial {at}",
            metadata={
                "year": 2000 + at % 30,
                "phase": ("PHASE2", "PHASE3") if at % 3 == 0 else ("PHASE1",),
                "status": "COMPLETED" if at % 2 else "NOT_YET_RECRUITING",
                "start_date": f"20{at % 30:02}-{1 + at % 12:02}",
                "blinded": at % 4 == 0,
                "sponsor": "Acme | Sons" if at == 7 else "Other",
            }
            if at < 59
            else {},
        )
        for at in range(60)
        for part in range(2)
    ]


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("trials") / "home", _trials()) as opened:
        yield opened


def _found(workspace: Workspace, *texts: str, **changes: Any) -> set[int]:
    answer = workspace.search("headache aspirin", k=1000, filter=texts, **changes)
    return {int(hit.chunk.doc_id[1:]) for hit in answer.results}


NUMBERS = range(59)


@pytest.mark.parametrize("components", [("bm25",), ("splade",), ("dense",)])
@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["year>=2028"], {28, 29, 58}),
        (["year>2028"], {29}),
        (["year=2005..2006"], {5, 6, 35, 36}),
        (["year=2005|2007"], {5, 7, 35, 37}),
        (["Year < 2001"], {0, 30}),
        (["phase=Phase 3"], {at for at in NUMBERS if at % 3 == 0}),
        (["phase=phase III", "year<=2000"], {0, 30}),
        (["phase=3", "year<=2000"], {0, 30}),
        (["phase>=2", "year<=2000"], {0, 30}),
        (["phases!=phase 1", "year=2001"], set()),
        (["phase!=PHASE3", "year=2003"], set()),
        (["year!=2000..2028"], {29, 59}),
        (["status=not yet recruiting", "year=2028"], {28, 58}),
        (["start_date=2005"], {5, 35}),
        (["start_date>=2029"], {29}),
        (["start_date<=2000-01"], {0}),
        (["blinded=true", "year=2004"], {4}),
        (["sponsor=acme\\|sons"], {7}),
        (["sponsor=Nobody"], set()),
    ],
)
def test_conditions_hold_in_every_component(
    trials: Workspace, components: tuple[str, ...], texts: list[str], found: set[int]
) -> None:
    assert _found(trials, *texts, components=components) == found


def test_as_many_come_back_as_pass(trials: Workspace) -> None:
    """A filter applies before ranking: the only trial of 2029 comes back at any depth."""
    for components in (("bm25",), ("splade",), ("dense",), ("bm25", "splade", "dense")):
        answer = trials.search(
            "headache aspirin", k=2, depth=2, filter="year=2029", components=components
        )
        assert len(answer.results) == 2
    few = trials.search("headache aspirin", k=3, depth=3, filter="phase=PHASE3").results
    assert len(few) == 3


def test_python_has_a_form_of_its_own(trials: Workspace) -> None:
    texts = _found(trials, "year=2027..", "phase=Phase 3")
    for filters in (
        {"year": (2027, None), "phase": ["Phase 3"]},
        {"year": [2027, 2028, 2029], "phase": "phase3"},
        {"filter": "year>=2027", "phase": "Phase 3"},
    ):
        answer = trials.search("headache aspirin", k=1000, filters=filters)
        assert {int(hit.chunk.doc_id[1:]) for hit in answer.results} == texts == {27, 57}


def test_a_field_that_no_document_has_is_refused_with_those_there_are(trials: Workspace) -> None:
    with pytest.raises(UsageError, match="no document has 'yaer'") as caught:
        trials.search("aspirin", filter="yaer=2020")
    assert caught.value.hint
    assert "year? known: blinded, phase," in caught.value.hint
    with pytest.raises(UsageError) as caught:
        trials.search("aspirin", filter="section=methods")
    assert "section has an option of its own" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["phase=7"], "no document has phase=7; phase is PHASE1, PHASE2, PHASE3 here"),
        (["status>=2"], "no document has status>=2; status is COMPLETED, NOT_YET_RECRUITING here"),
        (["phase=3", "year=2001"], "no document passes all filters together"),
    ],
)
def test_filters_that_leave_nothing_say_so(trials: Workspace, texts: list[str], note: str) -> None:
    answer = trials.search("headache aspirin", filter=texts)
    assert (answer.results, answer.notes) == ((), (note,))
    assert trials.search("headache aspirin", filter="phase=3").notes == ()


def test_why_names_the_condition(trials: Workspace) -> None:
    why = trials.searcher.why("aspirin", "t05", filter=["year=2005", "phase=Phase 3"])
    assert why.verdict is Verdict.FILTERED_OUT
    assert "phase is PHASE1, not phase=Phase 3" in why.sentence
    assert "year" not in why.sentence
    assert trials.searcher.why("aspirin", "t05", filter="year=2005").verdict is Verdict.IN_RESULTS


def test_filters_are_part_of_what_is_remembered(trials: Workspace) -> None:
    one = trials.search("aspirin", filter="year=2005")
    other = trials.search("aspirin", filter="year=2006")
    assert one.results != other.results
    assert trials.search("aspirin", filter="year=2005").cached
    plain, chosen = SearchOptions(), changed(SearchOptions(), filter="year=2005")
    assert plain.identity() != chosen.identity()


def test_an_index_from_before_there_were_facts_asks_the_store(tmp_path: Path) -> None:
    with filled(tmp_path / "home", _trials()) as opened:
        folder = opened.layout.index
    manifest = load(folder)
    for part in manifest.segments:
        for name in (VALUES, PROFILES, TERMS):
            (folder / part.folder / name).unlink()
            del part.files[name]
    save(folder, manifest)
    with workspace(tmp_path / "home") as opened:
        assert _found(opened, "year>=2028") == {28, 29, 58}


def test_documents_that_come_and_go_take_their_values_along(tmp_path: Path) -> None:
    with filled(tmp_path / "home", _trials()[:20]) as opened:
        new = Chunk("new:chunk_0", "t77", "headache after aspirin", metadata={"year": 2077})
        opened.store_documents(documents([new]))
        opened.update_index()
        opened.searcher.refresh()
        assert _found(opened, "year>2001") == {*range(2, 10), 77}
        opened.delete(["t77", "t05"])
        opened.update_index()
        opened.searcher.refresh()
        assert _found(opened, "year>2001") == {*range(2, 10)} - {5}
