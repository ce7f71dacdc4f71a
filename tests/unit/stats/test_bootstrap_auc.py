"""Do resampled AUROC and AUPRC equal scikit-learn's on the same pairs?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from assay.errors import InputError, UsageError
from assay.stats import bootstrap_auc, bounds
from assay.stats.bootstrap_auc import bootstrap_ranking_quality
from tests.unit.stats.replay import Replay, draws


def _data(n: int, decimals: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.35
    return labels, np.round(rng.normal(size=n) + labels, decimals)


def _ranked(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Our order of units: positives from the best down, then negatives from the best down."""
    return np.lexsort((-scores, ~labels))


@pytest.mark.slow
@pytest.mark.req("M5")
@pytest.mark.parametrize("decimals", [8, 1, 0])
def test_equals_a_scikit_learn_loop_over_the_same_resamples(decimals: int) -> None:
    labels, scores = _data(60, decimals)
    order = _ranked(labels, scores)
    draws = np.random.default_rng(3).integers(0, 60, size=(100, 60))
    picked = [order[row] for row in draws]
    aurocs = [roc_auc_score(labels[i], scores[i]) for i in picked]
    auprcs = [average_precision_score(labels[i], scores[i]) for i in picked]
    ours = bootstrap_ranking_quality(labels, scores, resamples=100, seed=3)
    assert ours.auroc == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert ours.auprc == pytest.approx(average_precision_score(labels, scores), abs=1e-12)
    for interval, values in ((ours.auroc_interval, aurocs), (ours.auprc_interval, auprcs)):
        assert interval.low == pytest.approx(np.quantile(values, 0.025), abs=1e-12)
        assert interval.high == pytest.approx(np.quantile(values, 0.975), abs=1e-12)
        assert (interval.n, interval.resamples, interval.seed) == (60, 100, 3)
    assert ours.redrawn == 0


def test_clusters_are_drawn_whole() -> None:
    labels, scores = _data(40, 1, seed=2)
    clusters = np.arange(40) // 4
    draws = np.random.default_rng(4).integers(0, 10, size=(150, 10))
    picked = [np.concatenate([np.flatnonzero(clusters == c) for c in row]) for row in draws]
    values = [average_precision_score(labels[i], scores[i]) for i in picked]
    ours = bootstrap_ranking_quality(
        labels, scores, clusters=clusters.tolist(), resamples=150, seed=4
    )
    assert ours.redrawn == 0
    assert ours.auprc_interval.low == pytest.approx(np.quantile(values, 0.025), abs=1e-12)
    assert ours.auprc_interval.clusters == 10


@pytest.mark.slow
def test_one_class_resamples_are_drawn_again() -> None:
    labels = np.array([True] + [False] * 9)
    scores = np.arange(10.0)
    ours = bootstrap_ranking_quality(labels, scores, resamples=400, seed=1)
    assert ours.redrawn == pytest.approx(400 * 0.3487 / 0.6513, rel=0.25)
    draws = np.random.default_rng(1).integers(0, 10, size=(400 + ours.redrawn, 10))
    order = _ranked(labels, scores)
    both = [i for i in (order[row] for row in draws) if labels[i].any() and not labels[i].all()]
    assert len(both) == 400
    values = [roc_auc_score(labels[i], scores[i]) for i in both]
    assert ours.auroc_interval.low == pytest.approx(np.quantile(values, 0.025), abs=1e-12)


@pytest.mark.parametrize("block_cells", [1, 40, 97, 10**6])
def test_the_block_size_changes_nothing(block_cells: int) -> None:
    labels = np.array([True, True] + [False] * 10)
    scores = np.random.default_rng(0).integers(0, 4, size=12)
    wanted = bootstrap_ranking_quality(labels, scores, resamples=300)
    assert (
        bootstrap_ranking_quality(labels, scores, resamples=300, block_cells=block_cells) == wanted
    )
    names = "aabbccddeeff"
    wanted = bootstrap_ranking_quality(labels, scores, resamples=300, clusters=names)
    assert (
        bootstrap_ranking_quality(
            labels, scores, resamples=300, clusters=names, block_cells=block_cells
        )
        == wanted
    )


def test_the_order_of_the_pairs_changes_nothing() -> None:
    labels, scores = _data(50, 1)
    shuffled = np.random.default_rng(1).permutation(50)
    wanted = bootstrap_ranking_quality(labels, scores, resamples=100)
    assert bootstrap_ranking_quality(labels[shuffled], scores[shuffled], resamples=100) == wanted


def test_the_seed_decides() -> None:
    labels, scores = _data(50, 8)
    first = bootstrap_ranking_quality(labels, scores, resamples=100)
    assert first == bootstrap_ranking_quality(labels, scores, resamples=100, seed=42)
    assert first != bootstrap_ranking_quality(labels, scores, resamples=100, seed=43)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ([], "there are no pairs"),
        ([1], "there is one class only"),
        ([1, 1, 1], "there is one class only"),
        ([0, 0], "there is one class only"),
    ],
)
def test_one_class_is_undefined_with_the_reason(labels: list[int], reason: str) -> None:
    ours = bootstrap_ranking_quality(labels, [0.5] * len(labels))
    assert (ours.auroc, ours.auprc, ours.reason) == (None, None, reason)
    assert (ours.auroc_interval.low, ours.auroc_interval.reason) == (None, reason)


def test_two_pairs_and_perfect_separation_are_degenerate_and_say_so() -> None:
    for labels, scores in (([1, 0], [2.0, 1.0]), ([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0])):
        ours = bootstrap_ranking_quality(labels, scores, resamples=200)
        assert (ours.auroc_interval.low, ours.auroc_interval.high) == (1.0, 1.0)
        assert ours.auroc_interval.reason == "every resample gives the same value"


def test_all_scores_tied_is_chance() -> None:
    ours = bootstrap_ranking_quality([1, 0, 0, 1, 0], [0.0] * 5, resamples=200)
    assert ours.auroc == 0.5
    assert (ours.auroc_interval.low, ours.auroc_interval.high) == (0.5, 0.5)
    assert ours.auprc == pytest.approx(0.4)


def test_one_cluster_has_an_estimate_but_no_interval() -> None:
    ours = bootstrap_ranking_quality([1, 0, 0], [3.0, 1.0, 5.0], clusters="aaa")
    assert ours.auroc == 0.5
    assert (ours.auroc_interval.low, ours.auroc_interval.reason) == (
        None,
        "one cluster has no spread",
    )


def test_no_result_ranks_below_everything() -> None:
    labels, scores = _data(30, 1)
    low = scores.copy()
    low[:8] = -math.inf
    finite = np.where(np.isinf(low), -99.0, low)
    ours = bootstrap_ranking_quality(labels, low, resamples=50)
    assert ours == bootstrap_ranking_quality(labels, finite, resamples=50)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match=r"scores\[1\] is nan"):
        bootstrap_ranking_quality([0, 1], [0.5, math.nan])
    with pytest.raises(InputError, match=r"scores\[0\] is inf"):
        bootstrap_ranking_quality([0, 1], [math.inf, 0.0])
    with pytest.raises(InputError, match=r"labels\[1\] is .*2"):
        bootstrap_ranking_quality([0, 2], [0.5, 0.1])
    with pytest.raises(InputError, match="dimension"):
        bootstrap_ranking_quality([[0, 1]], [0.5, 0.1])
    with pytest.raises(InputError, match="2 labels do not pair with 1 scores"):
        bootstrap_ranking_quality([0, 1], [0.5])
    with pytest.raises(UsageError, match="level"):
        bootstrap_ranking_quality([0, 1], [0.5, 0.1], level=1.0)


SKEWED = (
    np.array([1] * 10 + [0] * 40, dtype=np.bool_),
    np.array([*np.linspace(3.0, 5.0, 9), -2.0, *np.linspace(-1.5, 2.5, 40)]),
)


@pytest.mark.req("M5")
@pytest.mark.parametrize("decimals", [8, 1])
def test_bca_equals_scipy_on_the_same_resamples(decimals: int) -> None:
    labels, scores = _data(40, decimals, seed=5)
    order = _ranked(labels, scores)
    ours = bootstrap_ranking_quality(labels, scores, method="bca", resamples=300, seed=3)
    for interval, measure in (
        (ours.auroc_interval, lambda *pairs: round(roc_auc_score(*pairs), 12)),
        (ours.auprc_interval, lambda *pairs: round(average_precision_score(*pairs), 12)),
    ):  # rounded, so that ties with the estimate stay ties
        theirs = stats.bootstrap(
            (labels[order], scores[order]),
            measure,
            paired=True,
            vectorized=False,
            n_resamples=300,
            method="BCa",
            rng=Replay(draws(40, 300, seed=3)),
        ).confidence_interval
        assert interval.method == "bca"
        assert interval.low == pytest.approx(theirs.low, abs=1e-9)
        assert interval.high == pytest.approx(theirs.high, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_leaving_out_each_pair_equals_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.array([True, False, *(rng.random(rng.integers(0, 10)) < 0.5)])
    scores = rng.integers(0, 4, size=labels.size).astype(float)  # ties within and across classes
    kept = [np.arange(labels.size) != i for i in _ranked(labels, scores)]
    left = [k for k in kept if labels[k].any() and not labels[k].all()]
    wanted = [
        (roc_auc_score(labels[k], scores[k]), average_precision_score(labels[k], scores[k]))
        for k in left
    ]
    found = bootstrap_auc._without_pairs(bootstrap_auc._rank(labels, scores, None))
    assert found == pytest.approx(np.array(wanted).reshape(-1, 2), abs=1e-12)
    codes = np.arange(labels.size)
    by_cluster = bootstrap_auc._without(
        bootstrap_auc._rank(labels, scores, codes), labels.size, rows=3
    )
    assert np.sort(by_cluster, axis=0) == pytest.approx(np.sort(found, axis=0), abs=1e-12)


@pytest.mark.req("M5")
def test_bca_reaches_further_where_one_positive_is_far_off() -> None:
    bca = bootstrap_ranking_quality(*SKEWED, method="bca", resamples=2000).auroc_interval
    plain = bootstrap_ranking_quality(*SKEWED, resamples=2000).auroc_interval
    assert (bca.method, plain.method) == ("bca", "percentile")
    assert bca.low is not None
    assert plain.low is not None
    assert bca.low < plain.low - 0.02


def test_where_bca_is_undefined_the_percentile_interval_says_its_own_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "bca_bounds", lambda *_: "the data are too skewed")
    bca = bootstrap_ranking_quality(*SKEWED, method="bca", resamples=200).auroc_interval
    plain = bootstrap_ranking_quality(*SKEWED, resamples=200).auroc_interval
    assert (bca.low, bca.high, bca.method) == (plain.low, plain.high, "percentile")
    assert bca.reason == "percentile, since BCa is undefined: the data are too skewed"


def test_too_many_clusters_to_leave_out_fall_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap_auc, "JACKKNIFE_CELLS", 100)
    clusters = [at // 2 for at in range(50)]
    found = bootstrap_ranking_quality(*SKEWED, clusters=clusters, method="bca", resamples=100)
    assert found.auroc_interval.method == "percentile"
    assert found.auroc_interval.reason is not None
    assert "too many clusters for BCa: 25" in found.auroc_interval.reason


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown bootstrap method"):
        bootstrap_ranking_quality(*SKEWED, method="normal")  # type: ignore[arg-type]
