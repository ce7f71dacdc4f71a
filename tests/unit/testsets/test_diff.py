"""Does a diff name every change, and nothing else?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from assay.model.testset import Judgment, QueryType, TestSet
from assay.testsets.diff import FieldChange, JudgmentChange, diff
from assay.testsets.split import hold_out
from tests.unit.testsets.samples import any_test_sets, fifty, golden


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(any_test_sets())
def test_a_set_does_not_differ_from_itself(test_set: TestSet) -> None:
    assert diff(test_set, replace(test_set, version="v2")).same


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(any_test_sets(), any_test_sets())
def test_sets_that_do_not_differ_have_the_same_queries(one: TestSet, other: TestSet) -> None:
    found = diff(one, other)
    same = one.queries == other.queries and one.held_out_ids == other.held_out_ids
    assert found.same == same


def test_every_kind_of_change() -> None:
    before = TestSet("t", "v1", (golden("q1"), golden("q2"), golden("q3")))
    after = TestSet(
        "t",
        "v2",
        (
            golden("q2", QueryType.PARAPHRASE),
            golden("q1", relevant_docs=(Judgment("d1", 2), Judgment("d2", 1))),
            golden("q4"),
        ),
    )
    found = diff(before, after)
    assert (found.added, found.removed, found.reordered) == (("q4",), ("q3",), True)
    assert found.changed == (FieldChange("q2", "query_type", None, "paraphrase"),)
    assert found.judgments == (
        JudgmentChange("q1", "d1", Judgment("d1", 1), Judgment("d1", 2)),
        JudgmentChange("q1", "d2", None, Judgment("d2", 1)),
    )
    split = diff(fifty(), hold_out(fifty()))
    assert (len(split.held_out_in), split.held_out_out, split.same) == (10, (), False)
