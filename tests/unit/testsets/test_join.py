"""Are several test sets one, with nothing lost?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.errors import UsageError
from assay.evaluation.parts import Mode, Split, part_of
from assay.model.answers import Expect
from assay.model.document import ID_FORM
from assay.model.testset import HeldOut, TestSet
from assay.testsets.join import join
from assay.testsets.split import hold_out, part, split_by_group
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


def test_a_question_that_both_have_is_said_and_a_group_where_they_are_parts() -> None:
    first, other = fifty(), replace(extras(), name="other")
    twin = replace(other.queries[0], query_text=first.queries[0].query_text.upper(), group="post1")
    first = replace(first, queries=(*first.queries, golden("g", group="post1")))
    other = replace(other, queries=(twin, *other.queries[1:]))
    both = join([first, other])
    assert both.overlap == ("fifty and other: 1 query text is in both: q001 = x0",)
    tuned_on = part(other, "val", [query.query_id for query in other.queries])
    assert "fifty and other-val: 1 group is in both: post1" in join([first, tuned_on]).overlap
    assert both.overlap == part_of(both).test_set.overlap
    assert join([fifty(), extras()]).overlap == ()


@pytest.mark.req("M4")
def test_a_part_keeps_its_name_and_so_do_several() -> None:
    parts = split_by_group(fifty()).parts
    val, test = (part(fifty(), name, parts[name]) for name in ("val", "test"))
    assert part_of(val).label == "val"
    assert part_of(val, mode=Mode.OVERALL).label == "val, overall"
    held = hold_out(replace(val, queries=(*val.queries, *extras().queries)))
    assert part_of(held).label == "val, evaluation"
    assert part_of(held, Split.HOLDOUT).label == "val, holdout"
    assert part_of(fifty()).label == "all"
    both = join([val, test])
    assert part_of(both).label == "val:test"
    assert both.overlap == ("fifty-val and fifty-test: 1 document is relevant in both: d1",)
    assert part_of(join([val, extras()])).label == "val:all"


@pytest.mark.req("M4")
def test_a_split_that_cuts_a_post_in_two_is_said_wherever_it_is_used() -> None:
    queries = tuple(golden(f"q{at}", group=f"post{at // 2}") for at in range(4))
    cut = TestSet("cut", "v1", queries, held_out=HeldOut(1, ("q1",)))
    for split in (None, *Split):
        assert part_of(cut, split).test_set.overlap == (
            "evaluation and held_out: 1 group is in both: post0",
        )


def test_an_id_that_both_use_is_refused_by_name() -> None:
    first = fifty()
    with pytest.raises(
        UsageError, match=rf"{first.name} and again both have {first.queries[0].query_id}"
    ):
        join([first, replace(first, name="again")])
