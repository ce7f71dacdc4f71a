"""Is the interval of kappa honest about groups of items?"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from assay.stats.kappa import kappa_bootstrap
from assay.stats.kappa_clusters import kappa_by_cluster

GRADES = (0, 1, 2, 3)


def table(groups: int, size: int, seed: int) -> tuple[list[int], list[int], list[int]]:
    """Annotators who agree on a whole query, or on almost nothing of it."""
    rng = np.random.default_rng(seed)
    first, second, clusters = [], [], []
    for group in range(groups):
        agrees = group % 2 == 0
        for _ in range(size):
            a = int(rng.integers(4))
            first.append(a)
            second.append(a if agrees else int(rng.integers(4)))
            clusters.append(group)
    return first, second, clusters


def test_groups_that_differ_make_a_wider_interval_than_items_do() -> None:
    first, second, clusters = table(10, 20, seed=1)
    by_item = kappa_bootstrap(first, second, categories=GRADES, resamples=2_000)
    by_group = kappa_by_cluster(first, second, clusters, categories=GRADES, resamples=2_000)
    assert by_item.high is not None and by_item.low is not None  # noqa: PT018
    assert by_group.high is not None and by_group.low is not None  # noqa: PT018
    assert by_group.high - by_group.low > 1.5 * (by_item.high - by_item.low)
    assert by_group.low < cohen_kappa_score(first, second) < by_group.high
    assert (by_group.clusters, by_group.n, by_group.seed is not None) == (10, 200, True)


@pytest.mark.parametrize("weights", ["none", "quadratic"])
def test_every_resample_is_the_kappa_of_the_groups_it_drew(
    weights: Literal["none", "quadratic"],
) -> None:
    first, second, clusters = table(2, 30, seed=2)
    found = kappa_by_cluster(
        first,
        second,
        clusters,
        weights=weights,
        categories=GRADES,
        resamples=400,
    )
    name = None if weights == "none" else weights
    ends = [
        float(cohen_kappa_score(first[part], second[part], weights=name, labels=GRADES))
        for part in (slice(0, 30), slice(30, 60))
    ]
    assert found.low == pytest.approx(min(ends))
    assert found.high == pytest.approx(max(ends))


def test_one_group_and_one_category_have_no_interval() -> None:
    one = kappa_by_cluster([0, 1], [0, 1], ["q", "q"], categories=GRADES)
    assert (one.low, one.reason) == (None, "fewer than two groups")
    same = kappa_by_cluster([0, 0], [0, 0], ["q", "r"], categories=GRADES, resamples=100)
    assert (same.low, same.reason) == (None, "almost no resample has two categories")


def test_the_seed_decides() -> None:
    first, second, clusters = table(6, 5, seed=3)
    draws = [
        kappa_by_cluster(first, second, clusters, categories=GRADES, resamples=300, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert draws[0] == draws[1]
    assert (draws[0].low, draws[0].high) != (draws[2].low, draws[2].high)
