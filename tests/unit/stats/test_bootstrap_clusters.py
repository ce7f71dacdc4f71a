"""Are whole clusters drawn, and left out, when queries come in clusters?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from assay.stats.bootstrap import bootstrap_mean

if TYPE_CHECKING:
    from assay.stats.inputs import Method

METHODS: list[Method] = ["percentile", "bca"]


def test_clusters_of_one_are_plain_units() -> None:
    values = np.random.default_rng(4).random(30)
    for method in METHODS:
        plain = bootstrap_mean(values, method=method, resamples=400)
        clustered = bootstrap_mean(values, clusters=range(30), method=method, resamples=400)
        assert clustered.low == pytest.approx(plain.low, abs=1e-14)
        assert clustered.high == pytest.approx(plain.high, abs=1e-14)
        assert clustered.clusters == 30
        assert plain.clusters is None


def test_clusters_are_drawn_whole() -> None:
    names = ["a", "a", "b", "b", "b", "c"]
    values = np.array([0.0, 2.0, 5.0, 5.0, 5.0, 9.0])
    interval = bootstrap_mean(values, clusters=names, resamples=300, seed=8)
    drawn = np.random.default_rng(8).integers(0, 3, size=(300, 3))
    members = [[0, 1], [2, 3, 4], [5]]
    means = [values[np.concatenate([members[c] for c in row])].mean() for row in drawn]
    assert interval.low == pytest.approx(np.quantile(means, 0.025), abs=1e-12)
    assert interval.high == pytest.approx(np.quantile(means, 0.975), abs=1e-12)
    assert (interval.n, interval.clusters) == (6, 3)


def test_bca_leaves_out_one_cluster_at_a_time() -> None:
    rng = np.random.default_rng(6)
    names = np.repeat(np.arange(12), 3)
    values = np.repeat(rng.exponential(size=12), 3)
    clustered = bootstrap_mean(values, clusters=names.tolist(), method="bca", resamples=500)
    by_mean = bootstrap_mean(values[::3], method="bca", resamples=500)
    assert clustered.low == pytest.approx(by_mean.low, abs=1e-12)
    assert clustered.high == pytest.approx(by_mean.high, abs=1e-12)


def test_clustered_intervals_are_wider_where_clusters_agree() -> None:
    rng = np.random.default_rng(9)
    values = np.repeat(rng.normal(size=20), 10) + rng.normal(scale=0.1, size=200)
    plain = bootstrap_mean(values, resamples=500)
    clustered = bootstrap_mean(
        values, clusters=np.repeat(np.arange(20), 10).tolist(), resamples=500
    )
    assert plain.low is not None
    assert plain.high is not None
    assert clustered.low is not None
    assert clustered.high is not None
    assert clustered.high - clustered.low > 2 * (plain.high - plain.low)


def test_one_cluster_has_no_spread() -> None:
    interval = bootstrap_mean([0.1, 0.9], clusters=["a", "a"])
    assert (interval.low, interval.reason) == (None, "one cluster has no spread")
