"""Does the interval say when there are enough grades?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from assay.annotation.standing import standing
from assay.model.annotation import Grade, Item, Plan, Purpose, Round

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
