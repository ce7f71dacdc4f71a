"""Do judgments follow their passages to new chunks, and is every move listed?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.annotation.reanchor import Fate, NewChunk, reanchor
from assay.model.document import ChunkPlace
from assay.model.testset import GoldenQuery, Judgment, TestSet

TODAY = {
    "d1": [
        NewChunk("d1:chunk_0", ((0, 100),)),
        NewChunk("d1:chunk_1", ((100, 200),)),
        NewChunk("d1:chunk_2", ((200, 300),)),
    ]
}


def carried(*judged: Judgment, archive: dict[str, ChunkPlace] | None = None):  # type: ignore[no-untyped-def]
    one = TestSet("s", "v1", (GoldenQuery("q1", "words", relevant_docs=judged),))
    return reanchor(one, TODAY, archive or {})


@pytest.mark.parametrize(
    ("judged", "fate", "after"),
    [
        (Judgment("d1:chunk_0", 3, ((10, 60),)), Fate.KEPT, ("d1:chunk_0",)),
        (Judgment("d1:chunk_0", 3, ((110, 160),)), Fate.MOVED, ("d1:chunk_1",)),
        (Judgment("d1:chunk_9", 3, ((90, 130),)), Fate.MOVED, ("d1:chunk_1",)),
        (Judgment("d1:chunk_0", 3, ((90, 110),)), Fate.KEPT, ("d1:chunk_0",)),
        (Judgment("d1:chunk_0", 3, ((0, 300),)), Fate.SPLIT, ("d1:chunk_0", "d1:chunk_1")),
        (Judgment("d1:chunk_0", 3, ((280, 400),)), Fate.LOST, ()),
        (Judgment("d1:chunk_7", 3, ((500, 600),)), Fate.LOST, ()),
        (Judgment("d2:chunk_0", 3, ((0, 10),)), Fate.LOST, ()),
        (Judgment("d1:chunk_1", 3), Fate.UNKNOWN, ("d1:chunk_1",)),
        (Judgment("d1:chunk_8", 3), Fate.LOST, ()),
        (Judgment("d1", 3), Fate.KEPT, ("d1",)),
        (Judgment("d1", 3, ((10, 20),)), Fate.KEPT, ("d1",)),
        (Judgment("turn-3", 3, ((110, 160),), "d1"), Fate.MOVED, ("d1:chunk_1",)),
    ],
)
def test_fates(judged: Judgment, fate: Fate, after: tuple[str, ...]) -> None:
    found = carried(judged)
    (anchor,) = found.anchors
    assert (anchor.fate, anchor.after) == (fate, after)
    assert [one.id for one in found.test_set.queries[0].relevant_docs] == list(after)
    assert (found.review == ()) == (fate is Fate.KEPT)
    assert found.unanswered == (() if after else ("q1",))


def test_what_stays_is_unchanged_and_what_moves_keeps_its_passage() -> None:
    stays, moves = Judgment("d1:chunk_0", 3, ((10, 60),)), Judgment("d1:chunk_9", 2, ((110, 160),))
    assert carried(stays).test_set.queries[0].relevant_docs == (stays,)
    assert carried(moves).test_set.queries[0].relevant_docs == (replace(moves, id="d1:chunk_1"),)


def test_a_split_judgment_stands_on_its_part_of_each_chunk() -> None:
    found = carried(Judgment("d1:chunk_0", 3, ((50, 350),)))
    assert found.test_set.queries[0].relevant_docs == (
        Judgment("d1:chunk_1", 3, ((100, 200),)),
        Judgment("d1:chunk_2", 3, ((200, 300),)),
    )


def test_the_archive_knows_where_a_chunk_stood() -> None:
    archive = {"old-7": ChunkPlace("d1", ((205, 290),))}
    found = carried(Judgment("old-7", 1), archive=archive)
    assert found.anchors[0].after == ("d1:chunk_2",)
    assert found.test_set.queries[0].relevant_docs[0].spans == ((205, 290),)


def test_two_judgments_on_one_chunk_keep_the_higher_grade() -> None:
    found = carried(Judgment("a", 1, ((110, 130),), "d1"), Judgment("b", 3, ((140, 160),), "d1"))
    assert [(one.id, one.grade) for one in found.test_set.queries[0].relevant_docs] == [
        ("d1:chunk_1", 3)
    ]
    assert [anchor.fate for anchor in found.anchors] == [Fate.MOVED, Fate.MERGED]
