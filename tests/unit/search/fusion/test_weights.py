"""Are weights refused where they cannot be used, and scaled as each method needs them?"""

from __future__ import annotations

import math
from typing import Any

import pytest

from assay.errors import UsageError
from assay.model.testset import QueryType
from assay.search.fusion import effective_weights
from assay.search.fusion.weights import DEFAULT_WEIGHTS, TYPE_WEIGHTS
from assay.search.request import COMPONENTS, FusionMethod, SearchOptions

THREE = {"bm25": 0.3, "splade": 0.4, "dense": 0.3}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"bm25": 1.0, "dense": 1.0}, "weights: splade has no weight"),
        ({"bm25": 1.0}, "weights: splade, dense have no weight"),
        ({**THREE, "bm25": -0.1}, "weights.bm25 is -0.1"),
        ({**THREE, "dense": math.nan}, "weights.dense is nan"),
        ({**THREE, "dense": math.inf}, "weights.dense is inf"),
        ({**THREE, "dense": "nan"}, "weights.dense is 'nan'"),
        ({**THREE, "dense": True}, "weights.dense is True"),
        ({**THREE, "splade": 1e300}, "weights.splade is 1e\\+300"),
        ({**THREE, "lucene": 1.0}, "there is no component 'lucene'"),
        (dict.fromkeys(COMPONENTS, 0.0), "weights: all are 0"),
    ],
)
def test_weights_that_cannot_be_used_are_refused_by_name(
    weights: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        SearchOptions(weights=weights)


@pytest.mark.parametrize("k", [0, -1, 10**18, 60.0, True, "60"])
def test_rrf_k_is_a_whole_number_in_range(k: Any) -> None:
    with pytest.raises(UsageError, match="rrf_k: must be a whole number"):
        SearchOptions(rrf_k=k)


def test_good_weights_pass() -> None:
    assert SearchOptions(weights={**THREE, "splade": 0}).weights["splade"] == 0
    assert SearchOptions(components=("bm25", "dense"), weights=THREE).weights == THREE


def test_weighted_fusion_has_weights_that_sum_to_one() -> None:
    options = SearchOptions(
        fusion_method=FusionMethod.WEIGHTED, weights={"bm25": 3, "splade": 4, "dense": 3}
    )
    assert effective_weights(options, COMPONENTS) == pytest.approx(THREE)
    assert effective_weights(options, ("bm25", "dense")) == {"bm25": 0.5, "dense": 0.5}


def test_reciprocal_ranks_have_weights_with_the_mean_one() -> None:
    assert effective_weights(SearchOptions(), COMPONENTS) == dict.fromkeys(COMPONENTS, 1.0)
    halves = SearchOptions(weights=dict.fromkeys(COMPONENTS, 0.5))
    assert effective_weights(halves, COMPONENTS) == dict.fromkeys(COMPONENTS, 1.0)


def test_where_all_components_with_a_weight_failed_the_others_count_equally() -> None:
    only = SearchOptions(
        fusion_method=FusionMethod.WEIGHTED, weights={"bm25": 1, "splade": 0, "dense": 0}
    )
    assert effective_weights(only, ("splade", "dense")) == {"splade": 0.5, "dense": 0.5}


def test_given_weights_come_before_those_of_the_type() -> None:
    options = SearchOptions(
        fusion_method=FusionMethod.WEIGHTED, weights=THREE, per_type_weights=True
    )
    found = effective_weights(options, COMPONENTS, QueryType.EXACT_TERM)
    assert found == pytest.approx(THREE)


def test_without_a_type_the_default_weights_hold() -> None:
    options = SearchOptions(fusion_method=FusionMethod.WEIGHTED, per_type_weights=True)
    assert effective_weights(options, COMPONENTS) == pytest.approx(DEFAULT_WEIGHTS)


def test_shipped_weights_are_themselves_valid() -> None:
    for weights in (DEFAULT_WEIGHTS, *TYPE_WEIGHTS.values()):
        assert SearchOptions(weights=weights).weights == weights
        assert math.fsum(weights.values()) == pytest.approx(1.0)
    assert set(TYPE_WEIGHTS) == set(QueryType)
