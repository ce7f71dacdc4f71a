"""Does kappa equal scikit-learn's, and its error the published one?"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from assay.errors import InputError, UsageError
from assay.stats.kappa import cohen_kappa, kappa_by_cluster

KINDS: list[Literal["none", "linear", "quadratic"]] = ["none", "linear", "quadratic"]


def _raters(n: int = 80, seed: int = 0) -> tuple[list[int], list[int]]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, n)
    second = np.where(rng.random(n) < 0.6, first, rng.integers(0, 4, n))
    return first.tolist(), second.tolist()


@pytest.mark.req("E12")
@pytest.mark.parametrize("weights", KINDS)
def test_equals_scikit_learn(weights: Literal["none", "linear", "quadratic"]) -> None:
    first, second = _raters()
    ours = cohen_kappa(first, second, weights=weights)
    theirs = cohen_kappa_score(first, second, weights=None if weights == "none" else weights)
    assert ours.value == pytest.approx(theirs, abs=1e-12)
    assert ours.agreement == pytest.approx(np.mean(np.array(first) == np.array(second)))
    assert [list(row) for row in ours.confusion] == confusion_matrix(first, second).tolist()
    assert ours.categories == (0, 1, 2, 3)
    assert ours.n == 80


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=0, max_size=20),
    st.sampled_from(KINDS),
)
def test_equals_scikit_learn_wherever_it_is_defined(
    rows: list[tuple[int, int]], weights: Literal["none", "linear", "quadratic"]
) -> None:
    first, second = [a for a, _ in rows], [b for _, b in rows]
    ours = cohen_kappa(first, second, weights=weights, categories=range(4))
    if len(set(first) | set(second)) < 2:
        assert ours.value is None
        assert ours.reason
        return
    theirs = cohen_kappa_score(
        first, second, weights=None if weights == "none" else weights, labels=list(range(4))
    )
    assert ours.value == pytest.approx(theirs, abs=1e-12)
    for number in (ours.standard_error, ours.interval.low, ours.interval.high):
        assert number is None or math.isfinite(number)


def test_the_error_of_a_published_example() -> None:
    """Fleiss, Cohen and Everitt (1969), table 1: 200 items, three categories."""
    table = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
    first = [i for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    second = [j for row in table for j, count in enumerate(row) for _ in range(count)]
    ours = cohen_kappa(first, second)
    assert ours.value == pytest.approx(0.429, abs=5e-4)
    assert ours.standard_error == pytest.approx(math.sqrt(0.002885), abs=5e-4)


@pytest.mark.parametrize("weights", KINDS)
def test_the_error_is_that_of_many_samples(
    weights: Literal["none", "linear", "quadratic"],
) -> None:
    first, second = _raters(400, seed=3)
    ours = cohen_kappa(first, second, weights=weights)
    drawn = kappa_by_cluster(
        first, second, range(400), weights=weights, categories=range(4), resamples=4_000
    )
    assert ours.interval.low == pytest.approx(drawn.low, abs=0.015)
    assert ours.interval.high == pytest.approx(drawn.high, abs=0.015)
    assert (drawn.resamples, drawn.seed, drawn.n) == (4_000, 42, 400)


def test_bootstrap_values_are_kappas_of_resampled_items() -> None:
    first, second = _raters(40, seed=4)
    items = np.random.default_rng(0).integers(0, 40, size=(250, 40))
    a, b = np.array(first), np.array(second)
    loop = [cohen_kappa_score(a[i], b[i], weights="quadratic") for i in items]
    drawn = kappa_by_cluster(
        first, second, range(40), weights="quadratic", categories=range(4), resamples=4_000
    )
    assert drawn.low == pytest.approx(np.quantile(loop, 0.025), abs=0.08)
    assert drawn.high == pytest.approx(np.quantile(loop, 0.975), abs=0.08)


def test_any_hashable_is_a_category() -> None:
    ours = cohen_kappa(["no", "yes", "yes"], ["no", "yes", "no"])
    assert ours.categories == ("no", "yes")
    mixed = cohen_kappa(["a", 1, (2,)], ["a", 1, "a"])
    assert mixed.categories == ("a", 1, (2,))
    assert mixed.value is not None
    arrays = cohen_kappa(np.array([0, 1, 1]), np.array([0, 1, 0]))
    assert arrays.value == ours.value


def test_the_given_order_sets_the_weights() -> None:
    first, second = ["low", "mid", "high", "low"], ["mid", "mid", "low", "low"]
    order = ["low", "mid", "high"]
    ours = cohen_kappa(first, second, weights="linear", categories=order)
    theirs = cohen_kappa_score(first, second, weights="linear", labels=order)
    assert ours.value == pytest.approx(theirs, abs=1e-12)
    assert ours.value != cohen_kappa(first, second, weights="linear").value


def test_one_category_only_is_undefined() -> None:
    ours = cohen_kappa([1, 1, 1], [1, 1, 1])
    assert (ours.value, ours.agreement, ours.interval.low) == (None, 1.0, None)
    assert ours.reason == "both annotators used one and the same category only"
    assert cohen_kappa([1, 1], [1, 1], categories=[0, 1, 2], weights="quadratic").value is None


def test_no_items_and_one_item_are_explained() -> None:
    none = cohen_kappa([], [])
    assert (none.value, none.agreement, none.n, none.reason) == (
        None,
        None,
        0,
        "there are no items",
    )
    one = cohen_kappa([0], [1])
    assert (one.value, one.interval.low, one.reason) == (0.0, None, "one item has no spread")


def test_perfect_agreement_is_degenerate_and_says_so() -> None:
    ours = cohen_kappa([0, 1, 0, 1], [0, 1, 0, 1])
    assert (ours.value, ours.standard_error) == (1.0, 0.0)
    assert (ours.interval.low, ours.interval.high) == (1.0, 1.0)
    assert ours.reason == "the standard error is zero and says too little"
    drawn = kappa_by_cluster([0, 1] * 9, [0, 1] * 9, range(18), categories=(0, 1), resamples=99)
    assert drawn.reason == "every resample gives the same value"


def test_unknown_weights_are_refused() -> None:
    with pytest.raises(UsageError, match="none, linear, quadratic"):
        cohen_kappa([1, 2], [1, 2], weights="cubic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no natural order"):
        cohen_kappa([1, "a"], [1, 1], weights="linear")


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
    by_item = kappa_by_cluster(first, second, range(200), categories=GRADES, resamples=2_000)
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
