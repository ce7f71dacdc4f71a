"""Is judged first what tells the lists apart, and is every beginning a fair sample?"""

from __future__ import annotations

import pytest

from assay.annotation.active import depth_within, drawn, estimates, weights, within_budget
from assay.model.annotation import Item


def item(query: str, chunk: str, **ranks: int) -> Item:
    return Item(query, chunk, chunk, f"text of {chunk}", found_by=ranks)


SHARED = item("q1", "shared", a=1, b=1)
OWN = item("q1", "own", a=2)
LOW = item("q1", "low", a=9, b=10)
DEEP = item("q1", "deep", a=40)
ITEMS = (SHARED, OWN, LOW, DEEP)


def test_what_only_one_list_has_weighs_more_than_what_all_have() -> None:
    found = weights(ITEMS)
    assert found[OWN.key] > found[LOW.key] >= found[SHARED.key] > 0
    assert found[SHARED.key] == found[DEEP.key], "what decides nothing is drawn late, not never"


def test_the_draw_goes_by_weight_and_by_seed() -> None:
    firsts = [drawn(ITEMS, seed)[0] for seed in range(200)]
    assert firsts.count(OWN) > 180
    assert {one.chunk_id for one in drawn(ITEMS, 1)} == {one.chunk_id for one in ITEMS}
    assert drawn(ITEMS, 1) == drawn(tuple(reversed(ITEMS)), 1)
    many = [item("q", f"d{number}", a=1 + number % 10) for number in range(50)]
    assert drawn(many, 1) != drawn(many, 2)
    assert len(within_budget(many, 7, 3)) == 7


def test_depth_follows_from_the_budget() -> None:
    assert depth_within(ITEMS, 4, 50) == 50
    assert depth_within(ITEMS, 3, 50) == 39
    assert depth_within(ITEMS, 1, 50) == 1


def test_estimates_are_exact_where_everything_is_judged() -> None:
    items = [item("q1", "x", a=1, b=2), item("q1", "y", a=2, b=1)]
    found = estimates(items, {("q1", "x"): 1, ("q1", "y"): 0})
    assert found["a"] == pytest.approx(1.0)
    assert found["b"] == pytest.approx(0.63093, abs=1e-5)


def test_what_nobody_judged_counts_as_its_ranks_suggest() -> None:
    items = [
        item(f"q{query}", f"{name}{query}", **{name: 1}) for query in range(20) for name in "ab"
    ]
    judged = {
        (f"q{query}", f"{name}{query}"): 3 if name == "a" else 0
        for query in range(10)
        for name in "ab"
    }
    found = estimates(items, judged)
    assert found["a"] > 0.9
    assert found["b"] < 0.1
