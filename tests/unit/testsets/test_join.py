"""Are several test sets one, with nothing lost?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.errors import UsageError
from assay.evaluation.parts import Split, part_of
from assay.model.answers import Expect
from assay.model.document import ID_FORM
from assay.model.testset import TestSet
from assay.testsets.join import join
from assay.testsets.split import hold_out
from tests.unit.testsets.samples import fifty, golden


def extras() -> TestSet:
    queries = tuple(golden(f"x{at}", expect=Expect.NOTHING, relevant_docs=()) for at in range(4))
    return TestSet("extras", "v1", queries, skipped=("x9",))


def test_all_queries_are_there_and_what_was_held_out_stays_so() -> None:
    first = hold_out(fifty())
    both = join([first, extras()])
    assert both.queries == (*first.queries, *extras().queries)
    assert both.held_out_ids == first.held_out_ids
    assert both.skipped == ("x9",)
    assert len(part_of(both).test_set.queries) == 44
    assert len(part_of(both, Split.HOLDOUT).test_set.queries) == 10


def test_the_name_says_what_was_joined_and_may_stand_wherever_names_stand() -> None:
    both = join([fifty(), extras()])
    assert both.name == f"{fifty().name}:extras"
    assert join([fifty(), replace(extras(), name=f"{fifty().name}_extras")]).name == both.name
    assert both.version == "v1"
    assert ID_FORM.fullmatch(both.name)
    other = join([fifty(), replace(extras(), version="v2")])
    assert other.version == "v1:v2"
    assert other.checksum != both.checksum


def test_one_set_stays_as_it_is() -> None:
    assert join([fifty()]) == fifty()


def test_an_id_that_both_use_is_refused_by_name() -> None:
    first = fifty()
    with pytest.raises(
        UsageError, match=rf"{first.name} and again both have {first.queries[0].query_id}"
    ):
        join([first, replace(first, name="again")])
