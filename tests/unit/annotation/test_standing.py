"""Does the interval say when there are enough grades?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from assay.annotation.standing import standing
from assay.model.annotation import Grade, Item, Order, Plan, Purpose, Round

ITEMS = tuple(
    Item(f"q{query}", f"d{rank}", f"d{rank}", "text", found_by={"hybrid": rank})
    for query in range(12)
    for rank in (1, 2, 3)
)
ROUND = Round("r", Purpose.FIRST, "ward", "v1", "", ("ann",), 7, "2026-01-01", plan=Plan(until=0.2))


def grades(count: int, annotator: str = "ann") -> list[Grade]:
    return [
        Grade(item.query_id, item.chunk_id, annotator, 3 if item.chunk_id == "d1" else 0, "", "")
        for item in ITEMS[:count]
    ]


def test_the_interval_narrows_as_grades_come_in() -> None:
    widths = [standing(ROUND, ITEMS, grades(count)).width for count in (0, 12, 24, 36)]
    assert widths[0] == pytest.approx(1.0)
    assert all(a is not None and b is not None and a > b for a, b in pairwise(widths))
    assert widths[-1] == pytest.approx(0.0)


def test_judging_stops_at_the_goal_or_when_nothing_is_left() -> None:
    before, after = (standing(ROUND, ITEMS, grades(count)) for count in (6, 36))
    assert (before.enough, before.judged, before.unjudged) == (False, 6, 30)
    assert after.enough
    assert "36 judged, 0 not" in str(after)
    wide = replace(ROUND, plan=Plan(until=0.99))
    assert standing(wide, ITEMS, grades(24)).enough
    assert not standing(replace(ROUND, plan=Plan()), ITEMS, grades(6)).enough


def test_only_the_first_person_counts() -> None:
    assert standing(ROUND, ITEMS, grades(36, "judge:words")).judged == 0


def test_one_query_has_no_interval() -> None:
    found = standing(ROUND, ITEMS[:3], grades(1))
    assert found.width is None
    assert "no interval" in str(found)


def crossing(query: int) -> list[Item]:
    """Ten passages of each of two lists that share none."""
    return [
        Item(f"q{query}", f"{name}{rank}", f"{name}{rank}", "text", found_by={name: rank})
        for name in ("hybrid", "bm25")
        for rank in range(1, 11)
    ]


def test_the_low_end_knows_that_other_lists_may_have_found_what_this_one_missed() -> None:
    items = [item for query in range(20) for item in crossing(query)]
    first = [
        Grade(item.query_id, item.chunk_id, "ann", 3, "", "")
        for item in items
        if item.chunk_id == "hybrid1"
    ]
    early = standing(ROUND, items, first)
    assert not early.enough
    everything = [
        Grade(item.query_id, item.chunk_id, "ann", 3 if item.key in said else 0, "", "")
        for said in [{(i.query_id, i.chunk_id) for i in items if i.chunk_id != "hybrid2"}]
        for item in items
    ]
    final = standing(ROUND, items, everything)
    assert early.low is not None
    assert early.high is not None
    assert final.low is not None
    assert early.low <= final.low <= early.high


@pytest.mark.parametrize("order", Order)
def test_the_interval_holds_whatever_the_rest_turns_out_to_be(order: Order) -> None:
    random = Random(3)
    for _ in range(30):
        items = [item for query in range(6) for item in crossing(query)]
        held = replace(ROUND, plan=Plan(order, until=0.1))
        truth = {item.key: random.choice((0, 0, 1, 3)) for item in items}
        for query in range(6):  # the best of each query is known
            truth[f"q{query}", "bm251"] = 3
        grades = [Grade(*key, "ann", grade, "", "") for key, grade in truth.items()]
        some = [one for one in grades if one.chunk_id == "bm251" or random.random() < 0.5]
        part, whole = standing(held, items, some), standing(held, items, grades)
        assert part.low is not None
        assert whole.low is not None
        assert part.high is not None
        assert whole.high is not None
        assert part.low <= whole.low + 1e-9
        assert whole.high <= part.high + 1e-9


def test_what_a_budget_left_out_is_counted() -> None:
    shallow = [item for item in ITEMS if item.found_by["hybrid"] <= 2]
    judged = [Grade(item.query_id, item.chunk_id, "ann", 1, "", "") for item in shallow]
    held = replace(ROUND, source={"depth": 2, "cut": 12})
    found = standing(held, shallow, judged)
    assert (found.measure, found.cut) == ("nDCG@2", 12)
    assert "12 left out by the budget" in str(found)
    drawn = replace(held, source={"depth": 20, "cut": 12}, plan=Plan(Order.ACTIVE, until=0.2))
    wide = standing(drawn, shallow, judged)
    assert wide.measure == "nDCG@10"
    assert not wide.enough, "ranks that were not drawn may hold anything"
