"""Are splits exact, seeded, disjoint and complete?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import UsageError
from assay.model.answers import Expect
from assay.model.testset import QueryType, TestSet
from assay.testsets.load import parse_test_set
from assay.testsets.overlap import overlap
from assay.testsets.save import with_split
from assay.testsets.split import (
    PARTS,
    apportion,
    hold_out,
    part,
    split_by_group,
    split_notes,
    units,
)
from assay.testsets.write import as_yaml
from tests.unit.testsets.samples import any_test_sets, fifty, golden


@pytest.mark.req("E13")
def test_held_out_validation_set() -> None:
    """GIVEN 50 queries WHEN split THEN 40 are for evaluation and 10 are held out, stratified."""
    split = hold_out(fifty())
    assert (len(split.evaluation_queries), len(split.held_out_queries)) == (40, 10)
    assert Counter(query.query_type for query in split.held_out_queries) == {
        QueryType.EXACT_TERM: 4,
        QueryType.PARAPHRASE: 3,
        QueryType.COMPLEX_CLINICAL: 3,
    }


@pytest.mark.req("E13")
@pytest.mark.parametrize("seed", range(20))
def test_every_seed_gives_the_same_counts_and_extras_do_not_disturb_them(seed: int) -> None:
    extras = [golden(f"x{at}", expect=Expect.REFUSAL, relevant_docs=()) for at in range(6)]
    base = fifty()
    split = hold_out(replace(base, queries=(*base.queries, *extras)), seed=seed)
    kinds = Counter(query.query_type for query in split.held_out_queries)
    assert [kinds[kind] for kind in QueryType] == [4, 3, 3]
    assert kinds[None] == 1


def test_the_draw_depends_on_the_seed_and_not_on_the_order() -> None:
    base = fifty()
    turned = replace(base, queries=base.queries[::-1])
    assert hold_out(base).held_out_ids == hold_out(turned).held_out_ids
    assert hold_out(base, seed=1).held_out_ids != hold_out(base, seed=2).held_out_ids
    assert hold_out(base, seed=5).held_out == hold_out(base, seed=5).held_out


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(any_test_sets(), st.floats(0.01, 0.99), st.integers(0, 1000))
def test_a_split_loses_and_repeats_nothing(test_set: TestSet, share: float, seed: int) -> None:
    try:
        split = hold_out(test_set, share=share, seed=seed)
    except UsageError:
        nothing = round(len(test_set.queries) * share) in (0, len(test_set.queries))
        assert nothing or len(units(test_set.queries)) == 1
        return
    kept, back = split.evaluation_queries, split.held_out_queries
    assert overlap(kept, back, ("kept", "back")).disjoint
    assert kept
    assert back
    assert Counter((*kept, *back)) == Counter(test_set.queries)
    if len(units(test_set.queries)) < len(test_set.queries):
        return  # whole groups come only as close as they can
    for kind in {(query.expect, query.query_type) for query in test_set.queries}:
        there = sum((query.expect, query.query_type) == kind for query in test_set.queries)
        held = sum((query.expect, query.query_type) == kind for query in back)
        assert abs(held - there * share) < 1.01


@given(st.lists(st.floats(0, 50), min_size=1, max_size=8), st.integers(0, 10))
def test_shares_are_apportioned(quotas: list[float], more: int) -> None:
    total = min(sum(int(quota + 1e-9) for quota in quotas) + more, round(sum(quotas)))
    counts = apportion(quotas, total)
    assert all(-1 < count - quota <= 1 for count, quota in zip(counts, quotas, strict=True))
    assert sum(counts) <= max(total, sum(int(quota + 1e-9) for quota in quotas))


@pytest.mark.parametrize("share", [0, 1, -0.5, 2, 0.001])
def test_a_share_that_cannot_be(share: float) -> None:
    with pytest.raises(UsageError, match="cannot be held out"):
        hold_out(fifty(), share=share)


def grouped(sizes: list[int]) -> TestSet:
    queries = [
        golden(f"q{group}-{at}", group=f"post{group}")
        for group, size in enumerate(sizes)
        for at in range(size)
    ]
    return TestSet("grouped", "v1", tuple(queries))


@pytest.mark.req("M4")
def test_posts_are_disjoint_80_10_10() -> None:
    """No post appears in more than one of TRAIN, VAL and TEST."""
    test_set = grouped([1, 2, 3, 4, 5] * 20)
    parts = split_by_group(test_set).parts
    posts = {name: {test_set.by_id[one].group for one in ids} for name, ids in parts.items()}
    assert {name: len(found) for name, found in posts.items()} == {
        "train": 80,
        "val": 10,
        "test": 10,
    }
    assert not posts["train"] & posts["val"]
    assert not posts["train"] & posts["test"]
    assert not posts["val"] & posts["test"]
    assert sum(map(len, parts.values())) == 300


@pytest.mark.req("M4")
@given(st.lists(st.integers(1, 5), min_size=3, max_size=40), st.integers(0, 1000))
def test_groups_are_disjoint_and_complete(sizes: list[int], seed: int) -> None:
    test_set = grouped(sizes)
    drawn = split_by_group(test_set, seed=seed)
    owners: dict[str | None, str] = {}
    for name, ids in drawn.parts.items():
        assert ids
        for one in ids:
            assert owners.setdefault(test_set.by_id[one].group, name) == name
    everyone = [one for ids in drawn.parts.values() for one in ids]
    assert sorted(everyone) == sorted(test_set.by_id)
    assert split_by_group(test_set, seed=seed) == drawn


def test_a_query_without_a_group_is_its_own() -> None:
    assert [len(ids) for ids in split_by_group(fifty()).parts.values()] == [40, 5, 5]


@pytest.mark.req("M4", "E13")
@given(st.lists(st.integers(1, 6), min_size=2, max_size=20), st.integers(0, 1000))
def test_a_post_is_never_on_both_sides_of_a_held_out_part(sizes: list[int], seed: int) -> None:
    test_set = grouped(sizes)
    try:
        split = hold_out(test_set, seed=seed)
    except UsageError:
        assert round(len(test_set.queries) * 0.2) in (0, len(test_set.queries))
        return
    held = {query.group for query in split.held_out_queries}
    assert held
    assert not held & {query.group for query in split.evaluation_queries}
    assert split.evaluation_queries


@pytest.mark.req("M4", "E13")
def test_whole_posts_come_as_close_to_the_share_as_they_can() -> None:
    kinds = [Expect.EVIDENCE, Expect.EVIDENCE, Expect.NOTHING]
    posts = [
        golden(f"q{post}-{at}", group=f"post{post}", expect=kind)
        for post in range(20)
        for at, kind in enumerate(kinds)
    ]
    split = hold_out(TestSet("posts", "v1", tuple(posts)))
    assert len(split.held_out_queries) == 12
    assert Counter(query.expect for query in split.held_out_queries) == {
        Expect.EVIDENCE: 8,
        Expect.NOTHING: 4,
    }
    few = hold_out(grouped([4, 4, 4]))
    assert len(few.held_out_queries) == 4
    assert split_notes(few, 0.2)[0] == (
        "groups stay whole: 4 of 12 queries are held out, where 20% would be 2"
    )
    with pytest.raises(UsageError, match="one group, which cannot be on both sides"):
        hold_out(grouped([10]))


@pytest.mark.req("M4")
def test_the_same_question_is_never_on_both_sides() -> None:
    asked = [
        replace(golden(f"q{at:02}"), query_text=("Dose of  WARFARIN", "dose of warfarin")[at % 2])
        for at in range(4)
    ]
    test_set = TestSet("same", "v1", (*fifty().queries, *asked))
    for seed in range(10):
        held = hold_out(test_set, seed=seed).held_out_ids & {query.query_id for query in asked}
        assert len(held) in (0, 4)
        parts = split_by_group(test_set, seed=seed).parts
        assert sum(bool({"q00", "q01", "q02", "q03"} & set(ids)) for ids in parts.values()) == 1


def test_documents_of_both_sides_are_said() -> None:
    assert split_notes(hold_out(fifty()), 0.2) == (
        "evaluation and held_out: 1 document is relevant in both: d1",
    )


def test_splits_that_cannot_be() -> None:
    with pytest.raises(UsageError, match="2 groups cannot be split into 3 parts"):
        split_by_group(grouped([5, 5]))
    for shares in ({}, {"a": 0.5}, {"a": 1.5, "b": -0.5}):
        with pytest.raises(UsageError, match="sum to 1"):
            split_by_group(fifty(), shares)


def test_a_part_is_a_test_set_of_its_own() -> None:
    test_set = hold_out(fifty())
    one = part(test_set, "val", split_by_group(test_set).parts["val"])
    assert (one.name, len(one.queries), one.held_out) == ("fifty-val", 5, None)
    assert one.provenance == {"part_of": "fifty", "part": "val"}
    assert set(PARTS) == {"train", "val", "test"}


@pytest.mark.req("E13")
@pytest.mark.parametrize("layout", ["after", "before", "none", "flow"])
def test_a_stored_split_leaves_the_rest_of_the_file_alone(layout: str) -> None:
    test_set = fifty()
    queries = as_yaml(test_set).split("\n", 2)[2]
    old = "held_out:\n  # drawn in May\n  seed: 1\n  query_ids: [q001]\n"
    head = "# by hand\nname: fifty  # fifty\nversion: v1\n"
    text = {
        "after": head + queries + old,
        "before": head + old + queries,
        "none": head + queries,
        "flow": head + "held_out: {seed: 1, query_ids: [q001]}\n" + queries,
    }[layout]
    split = hold_out(parse_test_set(text.encode(), source="t.yaml").sound(), seed=7)
    new = with_split(text.encode(), split)
    assert parse_test_set(new.encode(), source="t.yaml").sound() == split
    assert new.startswith("# by hand\nname: fifty  # fifty\n")
    assert queries in new


def test_a_file_that_cannot_be_edited_is_written_anew() -> None:
    split = hold_out(fifty())
    text = (
        "{name: fifty, version: v1, queries: ["
        + ", ".join(
            f"{{query_id: {query.query_id}, query_text: {query.query_text}, "
            f"query_type: {query.query_type}, relevant_docs: [{{doc_id: d1, grade: 1}}]}}"
            for query in split.queries
        )
        + "]}\n"
    )
    new = with_split(text.encode(), split)
    assert parse_test_set(new.encode(), source="t.yaml").sound() == split


def test_the_folder_of_a_split_set(tmp_path: Path) -> None:
    from assay.testsets.save import save_test_set

    for name in ("a/b/t.yaml", "t.json"):
        save_test_set(hold_out(fifty()), tmp_path / name)
        data = (tmp_path / name).read_bytes()
        assert parse_test_set(data, source=name).sound() == hold_out(fifty())
