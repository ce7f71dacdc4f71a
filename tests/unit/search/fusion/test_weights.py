"""Are weights refused where they cannot be used, and scaled as each method needs them?"""

from __future__ import annotations

import math
from typing import Any

import pytest

from assay.errors import UsageError
from assay.model.testset import QueryType
from assay.search.fusion import effective_weights, weighted_by_type
from assay.search.fusion.weights import DEFAULT_WEIGHTS, TYPE_WEIGHTS
from assay.search.request import COMPONENTS, FusionMethod, SearchOptions, changed, check_components

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


OWN = {
    "exact_term": {"bm25": 6.0, "splade": 1.0, "dense": 3.0},
    "paraphrase": {"bm25": 1.0, "splade": 1.0, "dense": 2.0},
}


@pytest.mark.parametrize("method", FusionMethod)
def test_own_weights_of_a_type_come_first(method: FusionMethod) -> None:
    options = SearchOptions(
        fusion_method=method, weights=THREE, per_type_weights=True, type_weights=OWN
    )
    aim = 1.0 if method is FusionMethod.WEIGHTED else 3.0
    found = effective_weights(options, COMPONENTS, QueryType.EXACT_TERM)
    assert found == pytest.approx({"bm25": 0.6 * aim, "splade": 0.1 * aim, "dense": 0.3 * aim})
    assert weighted_by_type(options, QueryType.EXACT_TERM)
    other = effective_weights(options, COMPONENTS, QueryType.COMPLEX_CLINICAL)
    assert other == pytest.approx({name: weight * aim for name, weight in THREE.items()})
    assert not weighted_by_type(options, QueryType.COMPLEX_CLINICAL)
    plain = effective_weights(options, COMPONENTS)
    assert plain == other


def test_weights_of_a_type_that_cannot_be_used_are_refused_by_name() -> None:
    for weights, message in (
        ({"bm25": 1.0}, "type_weights.paraphrase: splade, dense have no weight"),
        ({**THREE, "bm25": -1.0}, "type_weights.paraphrase.bm25 is -1.0"),
        (dict.fromkeys(COMPONENTS, 0.0), "type_weights.paraphrase: all are 0"),
    ):
        with pytest.raises(UsageError, match=message):
            SearchOptions(type_weights={"paraphrase": weights})


def test_weights_for_every_query_replace_those_by_type() -> None:
    usual = SearchOptions(type_weights=OWN)
    assert changed(usual, weights=THREE).type_weights == {}
    assert changed(usual, weights={}).type_weights == {}
    assert changed(usual, weights=THREE, type_weights=OWN) == SearchOptions(
        weights=THREE, type_weights=OWN
    )
    assert changed(usual, rrf_k=10).type_weights == OWN


def test_a_component_without_a_weight_of_its_own_counts_like_the_others() -> None:
    four = (*COMPONENTS, "labels")
    weighted = effective_weights(SearchOptions(fusion_method=FusionMethod.WEIGHTED), four)
    assert weighted["labels"] == pytest.approx(0.25)
    assert weighted["bm25"] == pytest.approx(0.3)
    assert effective_weights(SearchOptions(), four) == dict.fromkeys(four, 1.0)


def test_unknown_components_are_refused_with_those_that_there_are() -> None:
    for options, message in (
        (
            SearchOptions(components=("bm25", "lucene")),
            "components: there is no component 'lucene'",
        ),
        (
            SearchOptions(weights={**THREE, "lucene": 1.0}),
            "weights: there is no component 'lucene'",
        ),
        (
            SearchOptions(type_weights={"paraphrase": {**THREE, "lucene": 1.0}}),
            "type_weights.paraphrase: there is no component 'lucene'",
        ),
    ):
        with pytest.raises(UsageError, match=message) as refused:
            check_components(options, ["labels"])
        assert refused.value.hint == "known: bm25, splade, dense, labels"
        check_components(options, ["lucene"])


def test_without_a_type_the_default_weights_hold() -> None:
    options = SearchOptions(fusion_method=FusionMethod.WEIGHTED, per_type_weights=True)
    assert effective_weights(options, COMPONENTS) == pytest.approx(DEFAULT_WEIGHTS)


def test_shipped_weights_are_themselves_valid() -> None:
    for weights in (DEFAULT_WEIGHTS, *TYPE_WEIGHTS.values()):
        assert SearchOptions(weights=weights).weights == weights
        assert math.fsum(weights.values()) == pytest.approx(1.0)
    assert set(TYPE_WEIGHTS) == set(QueryType)
