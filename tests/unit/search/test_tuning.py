"""Do settings tried on stored lists rank as fusion itself does?"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from assay.errors import UsageError
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery
from assay.search.fuse_again import fuser
from assay.search.request import FusionMethod, Normalization, SearchOptions
from assay.search.tuning import grid, pool, weight_grid, weights_of

COMPONENTS = ("bm25", "splade", "dense")


def outcome(seed: int) -> QueryOutcome:
    rng = random.Random(seed)
    lists, scores = {}, {}
    for name in COMPONENTS[: 3 if seed % 4 else 2]:
        ids = rng.sample([f"c{n:03}" for n in range(60)], rng.choice((0, 1, 40)))
        lists[name] = tuple(ids)
        # few distinct values: ties everywhere
        scores[name] = tuple(sorted((rng.choice((0.0, 0.5, 1.5, 2.5)) for _ in ids), reverse=True))
    return QueryOutcome(f"q{seed}", component_lists=lists, component_list_scores=scores)


@pytest.mark.parametrize("seed", range(40))
def test_the_order_is_that_of_fusion_to_the_last_digit(seed: int) -> None:
    found = outcome(seed)
    rng = random.Random(seed)
    candidates = pool(found, COMPONENTS)
    for method in FusionMethod:
        for how in Normalization:
            weights = {name: rng.choice((0.0, 0.1, 0.3, 0.7)) for name in COMPONENTS}
            weights["bm25"] += 0.1
            options = SearchOptions(
                fusion_method=method,
                normalization=how,
                rrf_k=rng.choice((1, 60)),
                weights=weights if rng.random() < 0.8 else {},
            )
            wanted = fuser(options)(GoldenQuery("q", "what"), found, COMPONENTS)
            if not candidates.ids:
                assert wanted == []
                continue
            ranks = candidates.ranks(candidates.worth(options), weights_of(candidates, options))
            order = sorted(range(len(ranks)), key=lambda at: int(ranks[at]))
            assert [candidates.ids[at] for at in order] == wanted


def test_weights_lie_on_a_grid_and_sum_to_one() -> None:
    found = list(weight_grid(COMPONENTS, 0.25))
    assert found == [
        {"bm25": 0.25, "splade": 0.25, "dense": 0.5},
        {"bm25": 0.25, "splade": 0.5, "dense": 0.25},
        {"bm25": 0.5, "splade": 0.25, "dense": 0.25},
    ]
    assert len(list(weight_grid(COMPONENTS, 0.1))) == 36
    with pytest.raises(UsageError, match="no weights"):
        list(weight_grid(COMPONENTS, 0.5))


def test_every_setting_of_the_grid_is_tried_once() -> None:
    options = SearchOptions(components=("bm25", "dense"))
    tried = list(grid(options, list(FusionMethod), 0.25))
    assert len(tried) == len({one.identity() for one in tried}) == 3 * (6 + 3)


def test_a_run_without_scores_cannot_be_tuned() -> None:
    bare = replace(outcome(1), component_lists={"bm25": ("a",)}, component_list_scores={})
    with pytest.raises(UsageError, match="did not keep"):
        pool(bare, COMPONENTS)
