"""Is what belongs together shown as one result, and nothing else?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from assay.app.workspace import Workspace
from assay.model.document import Chunk
from assay.search.folding import Fold, fold
from assay.search.why import Verdict
from tests.unit.search.corpus import filled

TEXT = (
    "The usual starting dose is 10 mg by mouth once daily, with or without food. Raise it to 20 mg "
    "after four weeks where the blood pressure is not controlled, and watch the kidneys closely."
)


def label(number: int, text: str = TEXT, drug: str = "enalapril maleate", **more: object) -> Chunk:
    chunk = Chunk(
        f"l{number}:chunk_0",
        f"l{number}",
        text,
        section_label="dosage",
        metadata={
            "generics": (drug,),
            "names": (drug, f"set-{number}"),
            "identifiers": (f"set-{number}",),
            "manufacturer": f"Maker {number}",
        },
    )
    return replace(chunk, **more)  # type: ignore[arg-type]


def folded(*chunks: Chunk) -> dict[int, list[int]]:
    found = fold(chunks, by_document=False, repeats=True)
    assert {reason for rows in found.under.values() for _, reason in rows} <= {Fold.TEXT}
    return {place: [at for at, _ in found.under.get(place, ())] for place in found.shown}


@pytest.mark.parametrize(
    "other",
    [
        label(1),
        label(1, TEXT.upper()),
        label(1, TEXT.replace("closely", "carefully")),
        label(1, drug="Enalapril Maleate"),
        label(1, section_label="Dosage and Administration"),
    ],
)
def test_a_label_of_another_maker_repeats_the_first(other: Chunk) -> None:
    assert folded(label(0), other) == {0: [1]}


@pytest.mark.parametrize(
    "other",
    [
        label(1, TEXT.replace("20 mg", "40 mg")),
        label(1, drug="ramipril"),
        label(1, section_label="overdosage"),
        label(1, is_table=True),
        label(1, TEXT[:90]),
        label(1, metadata={}),
        label(1, TEXT.replace("with or without food", "one hour before a meal")),
    ],
)
def test_what_differs_in_what_matters_is_not_folded(other: Chunk) -> None:
    assert folded(label(0), other) == {0: [], 1: []}


def test_short_passages_must_be_equal() -> None:
    short = [
        label(at, text) for at, text in enumerate(("Take daily.", "take daily", "Take weekly."))
    ]
    assert folded(*short) == {0: [1], 2: []}


def test_a_passage_that_was_deleted_is_left_alone() -> None:
    assert folded(label(0), label(1, ""), label(2, "")) == {0: [], 1: [], 2: []}


def _chunks() -> list[Chunk]:
    parts = ("aspirin dose", "aspirin dose for children", "aspirin dose for adults and others")
    return [
        Chunk(f"d{at}:chunk_{part}", f"d{at}", f"{text}, study {at}", title=f"Study {at}")
        for at in range(8)
        for part, text in enumerate(parts)
    ] + [label(at, f"aspirin dose. {TEXT}") for at in range(3)]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("folding") / "home", _chunks()) as opened:
        yield opened


def test_one_result_for_each_document(here: Workspace) -> None:
    plain = here.search("aspirin dose", k=1000)
    grouped = here.search("aspirin dose", k=1000, group_by="document")
    first = {hit.chunk.doc_id: hit for hit in reversed(plain.results)}
    best = sorted(first.values(), key=lambda hit: hit.rank)
    assert [hit.chunk.chunk_id for hit in grouped.results] == [hit.chunk.chunk_id for hit in best]
    assert [hit.rank for hit in grouped.results] == [*range(1, 12)]
    assert grouped.total_results == 11
    assert grouped.total_candidates == plain.total_results == 27
    for hit in grouped.results:
        rest = [one for one in plain.results if one.chunk.doc_id == hit.chunk.doc_id]
        assert [one.rank for one in hit.folded] == [one.rank for one in rest[1:]]
        assert [one.score for one in hit.folded] == [one.score for one in rest[1:]]
        assert {one.reason for one in hit.folded} <= {"same document"}
        assert hit.folded_count == len(hit.folded)


def test_pages_are_cut_of_what_is_shown(here: Workspace) -> None:
    whole = here.search("aspirin dose", k=11, group_by="document").results
    pages = [
        here.search("aspirin dose", k=4, offset=at, group_by="document") for at in (0, 4, 8, 12)
    ]
    assert [hit for page in pages for hit in page.results] == list(whole)
    assert [page.next_offset for page in pages] == [4, 8, None, None]


def test_labels_that_repeat_each_other_are_one_result(here: Workspace) -> None:
    plain = here.search("aspirin dose", k=1000)
    both = here.search("aspirin dose", k=1000, collapse=True)
    labels = [hit for hit in both.results if hit.chunk.doc_id.startswith("l")]
    assert len(labels) == 1
    assert [one.reason for one in labels[0].folded] == ["same text", "same text"]
    assert {one.doc_id for one in labels[0].folded} | {labels[0].chunk.doc_id} == {"l0", "l1", "l2"}
    assert both.total_results == plain.total_results - 2


def test_fusing_again_folds_again(here: Workspace) -> None:
    prepared = here.searcher.prepare("aspirin dose")
    again = prepared.fuse_again(group_by="document", k=1000)
    assert len(again.results) == 11


def test_why_says_where_a_passage_is_folded(here: Workspace) -> None:
    shown = here.search("aspirin dose", k=11, group_by="document").results
    first = next(hit for hit in shown if hit.folded)
    (rest, *_) = first.folded
    why = here.searcher.why("aspirin dose", rest.chunk_id, group_by="document")
    assert why.verdict is Verdict.FOLDED
    assert f"under {first.chunk.chunk_id} at rank {first.rank}: same document" in why.sentence
    own = here.searcher.why("aspirin dose", first.chunk.doc_id, group_by="document")
    assert own.verdict is Verdict.IN_RESULTS
    low = here.searcher.why("aspirin dose", shown[-1].chunk.doc_id, group_by="document", k=5)
    assert low.rank == 11
    assert low.verdict in (Verdict.BELOW_K, Verdict.LOST_IN_FUSION)
