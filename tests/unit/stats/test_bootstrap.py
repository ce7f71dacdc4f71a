"""Do the intervals of means equal scipy's on the same resamples, also where scipy has none?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.errors import InputError, UsageError
from assay.stats.bootstrap import bootstrap_mean, bootstrap_means
from tests.unit.stats.replay import Replay, draws

if TYPE_CHECKING:
    from assay.stats.inputs import Method

METHODS: list[Method] = ["percentile", "bca"]


def _scipy(
    column: np.ndarray, indices: np.ndarray, method: Method, level: float
) -> tuple[float, float]:
    answer = stats.bootstrap(
        (column,),
        np.mean,
        n_resamples=len(indices),
        method=method,
        confidence_level=level,
        rng=Replay(indices),
        axis=0,
    )
    return float(answer.confidence_interval.low), float(answer.confidence_interval.high)


@pytest.mark.req("E8")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("kind", ["normal", "skewed", "binary", "grades"])
def test_equals_scipy_on_the_same_resamples(method: Method, level: float, kind: str) -> None:
    rng = np.random.default_rng(11)
    column = {
        "normal": rng.normal(size=40),
        "skewed": rng.exponential(size=40) ** 2,
        "binary": (rng.random(40) < 0.3).astype(float),
        "grades": rng.integers(0, 4, size=40).astype(float),
    }[kind]
    ours = bootstrap_mean(column, method=method, level=level, resamples=999, seed=5)
    indices = draws(40, 999, seed=5)
    assert (ours.low, ours.high) == pytest.approx(_scipy(column, indices, method, level), abs=1e-12)
    assert (ours.resamples, ours.seed, ours.n) == (999, 5, 40)


def test_columns_together_equal_columns_alone() -> None:
    values = np.random.default_rng(1).random((25, 4))
    together = bootstrap_means(values, resamples=300)
    for j, interval in enumerate(together):
        alone = bootstrap_mean(values[:, j], resamples=300)
        assert alone.low == pytest.approx(interval.low, abs=1e-14)
        assert alone.high == pytest.approx(interval.high, abs=1e-14)


def test_the_seed_decides() -> None:
    values = np.random.default_rng(1).random(50)
    first, again = bootstrap_mean(values), bootstrap_mean(values)
    assert first == again
    assert first.seed == 42
    assert bootstrap_mean(values, seed=43) != first


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    samples = rng.normal(size=(60, 400))
    for method in METHODS:
        intervals = bootstrap_means(samples, method=method, resamples=800, level=0.9)
        covered = sum(
            i.low is not None and i.high is not None and i.low <= 0 <= i.high for i in intervals
        )
        assert 0.84 <= covered / 400 <= 0.94


@pytest.mark.parametrize("method", METHODS)
def test_undefined_entries_do_not_count(method: Method) -> None:
    rng = np.random.default_rng(2)
    values = rng.random((40, 2))
    defined = np.ones((40, 2), dtype=bool)
    defined[::3, 1] = False
    masked = np.where(defined, values, np.nan)
    whole, part = bootstrap_means(masked, defined=defined, method=method, resamples=2_000)
    assert whole.n == 40
    assert part.n == int(defined[:, 1].sum())
    assert whole == bootstrap_means(values, method=method, resamples=2_000)[0]
    alone = bootstrap_mean(values[defined[:, 1], 1], method=method, resamples=2_000)
    assert part.low == pytest.approx(alone.low, abs=0.03)
    assert part.high == pytest.approx(alone.high, abs=0.03)


def test_resamples_without_a_defined_entry_are_left_out() -> None:
    values = np.array([[0.0], [1.0], [5.0], [5.0], [5.0], [5.0]])
    defined = np.array([[True], [True], [False], [False], [False], [False]])
    (interval,) = bootstrap_means(values, defined=defined, resamples=1_000)
    assert (interval.low, interval.high) == (0.0, 1.0)
    assert interval.resamples is not None
    assert interval.resamples == pytest.approx(1_000 * (1 - (4 / 6) ** 6), abs=40)


def test_no_resample_with_a_defined_entry_is_explained() -> None:
    seed = next(seed for seed in range(100) if draws(40, 1, seed).min() >= 2)
    values, defined = np.zeros((40, 1)), np.zeros((40, 1), dtype=bool)
    values[1], defined[:2] = 1.0, True
    (interval,) = bootstrap_means(values, defined=defined, resamples=1, seed=seed)
    assert (interval.low, interval.resamples) == (None, 0)
    assert interval.reason == "no resample has a defined value"


@pytest.mark.parametrize("method", METHODS)
def test_small_and_constant_columns_are_explained(method: Method) -> None:
    none = bootstrap_mean([], method=method)
    assert (none.low, none.high, none.n) == (None, None, 0)
    assert none.reason == "no query has a defined value"
    one = bootstrap_mean([0.5], method=method)
    assert (one.low, one.high, one.n) == (None, None, 1)
    assert one.reason == "one query has no spread"
    constant = bootstrap_mean([0.5, 0.5, 0.5], method=method)
    assert (constant.low, constant.high, constant.reason) == (0.5, 0.5, "every value is the same")
    two = bootstrap_mean([0.0, 1.0], method=method)
    assert (two.low, two.high, two.reason) == (0.0, 1.0, None)


def test_no_columns_give_no_intervals() -> None:
    assert bootstrap_means(np.empty((5, 0))) == ()
    assert bootstrap_means([]) == ()


def test_bca_gives_way_to_percentiles_where_every_resample_lies_on_one_side() -> None:
    seed = next(seed for seed in range(100) if draws(3, 1, seed).mean() < 1)
    interval = bootstrap_mean([0.0, 1.0, 2.0], method="bca", resamples=1, seed=seed)
    plain = bootstrap_mean([0.0, 1.0, 2.0], resamples=1, seed=seed)
    assert (interval.low, interval.high, interval.method) == (plain.low, plain.high, "percentile")
    assert interval.reason == (
        "percentile, since BCa is undefined: every resample lies on the same side of the estimate"
    )


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12),
    st.sampled_from(METHODS),
    st.integers(0, 2**32),
)
def test_ends_are_ordered_finite_and_within_the_data(
    values: list[float], method: Method, seed: int
) -> None:
    interval = bootstrap_mean(values, method=method, resamples=50, seed=seed)
    if interval.low is None or interval.high is None:
        assert interval.reason
        return
    slack = 1e-9 * max(map(abs, values))
    assert math.isfinite(interval.low)
    assert min(values) - slack <= interval.low <= interval.high <= max(values) + slack


def test_the_input_is_left_alone() -> None:
    values = np.random.default_rng(0).random((8, 2))
    before = values.copy()
    bootstrap_means(values, method="bca", resamples=20, clusters="aabbccdd")
    assert np.array_equal(values, before)


def test_bad_values_are_named() -> None:
    with pytest.raises(InputError, match=r"values\[1, 0\] is nan"):
        bootstrap_means([[1.0], [math.nan]])
    with pytest.raises(InputError, match=r"values\[0, 0\] is inf"):
        bootstrap_mean([math.inf, 1.0])
    with pytest.raises(InputError, match="numbers"):
        bootstrap_means([["a"]])
    with pytest.raises(InputError, match="dimension"):
        bootstrap_means([1.0, 2.0])
    with pytest.raises(InputError, match="shape"):
        bootstrap_means([[1.0], [2.0]], defined=[[True]])
    with pytest.raises(InputError, match="boolean"):
        bootstrap_means([[1.0], [2.0]], defined=[[1], [0]])
    with pytest.raises(InputError, match="2 cluster names do not pair with 3"):
        bootstrap_mean([1.0, 2.0, 3.0], clusters=["a", "b"])
    with pytest.raises(InputError, match="4 cluster names"):
        bootstrap_mean([1.0, 2.0, 3.0], clusters=["a", "b", "c", "d"])
    with pytest.raises(InputError, match=r"clusters\[0\] is \[1\]"):
        bootstrap_mean([1.0], clusters=[[1]])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"clusters\[1\]"):
        bootstrap_mean([1.0, 2.0, 3.0], clusters=["a", None, "b"])


def test_bad_options_are_refused() -> None:
    with pytest.raises(UsageError, match="level"):
        bootstrap_mean([1.0, 2.0], level=95)
    with pytest.raises(UsageError, match="percentile or bca"):
        bootstrap_mean([1.0, 2.0], method="basic")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="resamples"):
        bootstrap_mean([1.0, 2.0], resamples=0)
    with pytest.raises(UsageError, match="seed"):
        bootstrap_mean([1.0, 2.0], seed=-1)
