"""Is everything found that two test sets should not share?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.testsets.overlap import overlap, overlaps
from tests.unit.testsets.samples import golden

DEV = TestSet(
    "dev",
    "v1",
    (
        golden("a", group="post1"),
        GoldenQuery("b", "Warfarin  dose", relevant_docs=(Judgment("PMC1:chunk_2", 2),)),
        GoldenQuery("c", "c", relevant_docs=(Judgment("seg-1", 1, doc_id="visit"),)),
    ),
)


@pytest.mark.req("M4")
def test_ids_texts_groups_and_documents() -> None:
    test = TestSet(
        "test",
        "v1",
        (
            GoldenQuery("a", "else", relevant_docs=(Judgment("PMC1:chunk_9", 1),)),
            golden("x", group="post1", relevant_docs=(Judgment("visit", 1),)),
            GoldenQuery("y", "warfarin dose", relevant_docs=(Judgment("d1", 0),)),
        ),
    )
    (found,) = overlaps([DEV, test])
    assert found.query_ids == ("a",)
    assert found.texts == (("b", "y"),)
    assert found.groups == ("post1",)
    assert found.documents == ("PMC1", "visit")  # what is judged 0 is not relevant
    assert not found.disjoint
    assert found.sentences() == [
        "dev and test: 1 query id is in both: a",
        "dev and test: 1 query text is in both: b = y",
        "dev and test: 1 group is in both: post1",
        "dev and test: 2 documents are relevant in both: PMC1, visit",
    ]
    assert found.to_dict()["disjoint"] is False


@pytest.mark.req("M4")
def test_sets_that_share_documents_only_are_disjoint() -> None:
    other = TestSet("test", "v1", (golden("z"),))
    found = overlap(DEV.queries, other.queries, ("dev", "test"))
    assert found.disjoint
    assert found.documents == ("d1",)
    assert overlaps([DEV, replace(other, queries=(golden("z", relevant_docs=()),))]) == ()
