"""Do several lists become the right one list?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.model.query import Hit
from assay.model.testset import QueryType
from assay.search.fusion import Fused, fuse
from assay.search.request import COMPONENTS, FusionMethod, Normalization, SearchOptions

RRF = SearchOptions()
WEIGHTED = SearchOptions(fusion_method=FusionMethod.WEIGHTED)


def ranking(*keys: int) -> list[Hit]:
    return [Hit(key, f"doc{key}", 10.0 - at) for at, key in enumerate(keys)]


def scored(scores: Mapping[int, float]) -> list[Hit]:
    ordered = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Hit(key, f"doc{key}", score) for key, score in ordered]


SEED = {"bm25": ranking(1, 2, 3), "splade": ranking(2, 1, 4), "dense": ranking(1, 4, 2)}


@pytest.mark.req("R4")
def test_the_digits_of_the_rrf_example() -> None:
    fused = fuse(SEED, RRF)
    assert [(one.chunk_id, round(one.score, 4)) for one in fused] == [
        ("doc1", 0.0489),
        ("doc2", 0.0484),
        ("doc4", 0.0320),
        ("doc3", 0.0159),
    ]
    assert fused[0].score == pytest.approx(2 / 61 + 1 / 62)


@pytest.mark.req("R4")
def test_every_component_has_an_entry_and_none_where_it_did_not_find_the_candidate() -> None:
    doc3 = fuse(SEED, RRF)[3]
    assert doc3.ranks == {"bm25": 3, "splade": None, "dense": None}
    assert doc3.raw == {"bm25": 8.0, "splade": None, "dense": None}
    assert doc3.normalized == {"bm25": 1 / 63, "splade": None, "dense": None}
    assert doc3.contributions == {"bm25": 1 / 63, "splade": None, "dense": None}


@pytest.mark.req("R5")
def test_ties_are_broken_by_the_rank_of_bm25_and_then_by_id() -> None:
    fused = fuse({"bm25": ranking(9, 5), "splade": ranking(5, 9), "dense": []}, RRF)
    assert [one.chunk_id for one in fused] == ["doc9", "doc5"]
    assert fused[0].score == fused[1].score
    without = fuse({"splade": ranking(5, 9), "dense": ranking(9, 5)}, RRF)
    assert [one.chunk_id for one in without] == ["doc5", "doc9"]
    found_by_bm25 = fuse({"bm25": ranking(8), "dense": ranking(7)}, RRF)
    assert [one.chunk_id for one in found_by_bm25] == ["doc8", "doc7"]


@pytest.mark.req("R4")
def test_a_small_k_lets_the_top_of_a_list_decide() -> None:
    lists = {"bm25": ranking(1, 2, 3, 4), "dense": ranking(5, 6, 7, 4)}
    assert fuse(lists, SearchOptions(rrf_k=60))[0].chunk_id == "doc4"
    assert fuse(lists, SearchOptions(rrf_k=1))[0].chunk_id == "doc1"


@pytest.mark.req("R6")
def test_the_weighted_example() -> None:
    lists = {
        "bm25": scored({1: 12.0, 2: 9.0, 3: 6.0}),
        "splade": scored({2: 8.0, 3: 4.0}),
        "dense": scored({1: 0.9, 3: 0.7, 4: 0.5}),
    }
    options = SearchOptions(
        fusion_method=FusionMethod.WEIGHTED, weights={"bm25": 0.3, "splade": 0.4, "dense": 0.3}
    )
    fused = {one.chunk_id: one for one in fuse(lists, options)}
    assert fused["doc1"].score == pytest.approx(0.3 * 1 + 0.3 * 1)
    assert fused["doc2"].score == pytest.approx(0.3 * 0.5 + 0.4 * 1)
    assert fused["doc3"].score == pytest.approx(0.3 * 0.5)
    assert fused["doc4"].score == 0.0
    assert fused["doc2"].normalized == {"bm25": 0.5, "splade": 1.0, "dense": None}


@pytest.mark.req("R7")
def test_weights_of_the_query_type() -> None:
    lists = {name: ranking(at, 9) for at, name in enumerate(COMPONENTS)}
    options = SearchOptions(fusion_method=FusionMethod.WEIGHTED, per_type_weights=True)
    for kind, expected in (
        (QueryType.EXACT_TERM, [0.5, 0.3, 0.2]),
        (QueryType.PARAPHRASE, [0.2, 0.3, 0.5]),
        (QueryType.COMPLEX_CLINICAL, [0.3, 0.3, 0.4]),
    ):
        scores = {one.key: one.score for one in fuse(lists, options, kind)}
        assert [scores[key] for key in range(3)] == pytest.approx(expected)


def test_a_component_that_did_not_answer_leaves_its_weight_to_the_others() -> None:
    fused = fuse({"bm25": ranking(1, 2), "dense": ranking(1, 2)}, WEIGHTED)
    assert fused[0].score == pytest.approx(1.0)
    assert fused[0].components == ("bm25", "dense")


def test_nothing_gives_nothing() -> None:
    assert not fuse({}, RRF)
    assert not fuse({"bm25": [], "dense": []}, WEIGHTED)


def test_the_first_of_two_occurrences_counts() -> None:
    hits = [Hit(1, "a", 3.0), Hit(2, "b", 2.0), Hit(1, "a", 1.0), Hit(3, "c", 0.5)]
    fused = fuse({"bm25": hits}, RRF)
    assert [(one.chunk_id, one.ranks["bm25"]) for one in fused] == [("a", 1), ("b", 2), ("c", 3)]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("options", [RRF, WEIGHTED])
def test_a_score_without_order_is_refused_with_its_place(
    bad: float, options: SearchOptions
) -> None:
    with pytest.raises(InputError, match="splade gave doc7 the score"):
        fuse({"bm25": ranking(1), "splade": [Hit(7, "doc7", bad)]}, options)


score_lists = st.dictionaries(
    st.sampled_from(COMPONENTS),
    st.dictionaries(st.integers(0, 30), st.floats(-1e6, 1e6, allow_nan=False), max_size=20).map(
        scored
    ),
    min_size=1,
)
every_option = st.builds(
    SearchOptions,
    fusion_method=st.sampled_from(FusionMethod),
    normalization=st.sampled_from(Normalization),
    rrf_k=st.integers(1, 200),
    weights=st.one_of(
        st.just({}),
        st.fixed_dictionaries({name: st.floats(0.01, 10) for name in COMPONENTS}),
    ),
)


@given(score_lists, every_option)
def test_the_order_of_components_changes_nothing(
    lists: Mapping[str, Sequence[Hit]], options: SearchOptions
) -> None:
    assert [*fuse(lists, options)] == [*fuse(dict(reversed([*lists.items()])), options)]


@given(score_lists, every_option)
def test_contributions_sum_to_a_score_that_is_never_negative(
    lists: Mapping[str, Sequence[Hit]], options: SearchOptions
) -> None:
    fused = fuse(lists, options)
    for one in fused:
        assert one.score == sum(sorted(share or 0.0 for share in one.contributions.values()))
        assert one.score >= 0.0
    assert {one.key for one in fused} == {hit.key for hits in lists.values() for hit in hits}
    _is_in_order(fused)


@given(score_lists, st.integers(-8, 8))
def test_min_max_does_not_see_a_component_s_scale(
    lists: Mapping[str, Sequence[Hit]], power: int
) -> None:
    larger = {
        name: [Hit(hit.key, hit.chunk_id, hit.score * 2.0**power) for hit in hits]
        for name, hits in lists.items()
    }
    before = [(one.key, one.score) for one in fuse(lists, WEIGHTED)]
    assert [(one.key, one.score) for one in fuse(larger, WEIGHTED)] == before


def _is_in_order(fused: Sequence[Fused]) -> None:
    rows = [(-one.score, one.ranks.get("bm25") or math.inf, one.chunk_id) for one in fused]
    assert rows == sorted(rows)


@pytest.mark.req("R4")
def test_equal_sums_are_equal_in_whatever_order_they_were_added_up() -> None:
    """1/61 + 1/67 + 1/62 both times; the better rank in BM25 decides."""
    fillers = iter(range(100, 200))
    rest = [next(fillers) for _ in range(30)]
    lists = {
        "bm25": ranking(1, 2),
        "splade": ranking(2, *rest[:5], 1),
        "dense": ranking(rest[5], 1, *rest[6:10], 2),
    }
    first, second = fuse(lists, RRF)[:2]
    assert (first.key, second.key) == (1, 2)
    assert first.score == second.score
