"""Are sign-flip p-values those of full enumeration, and of scipy within sampling error?"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.errors import InputError, UsageError
from assay.stats.randomization import BLOCK_FLIPS, randomization_test, randomization_tests


def _enumerated(differences: np.ndarray) -> float:
    whole = abs(differences.sum()) * (1 - 1e-9)
    sums = [
        abs(np.dot(s, differences)) for s in itertools.product((1, -1), repeat=len(differences))
    ]
    return float(np.mean([total >= whole for total in sums]))


@pytest.mark.req("E8")
@pytest.mark.parametrize("n", [2, 5, 10])
def test_small_samples_are_enumerated(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.random(n), rng.random(n)
    ours = randomization_test(a, b)
    theirs = stats.permutation_test((b - a,), np.mean, permutation_type="samples", vectorized=True)
    assert ours.exact
    assert ours.flips == 2**n
    assert ours.p == pytest.approx(_enumerated(b - a), abs=1e-12)
    assert ours.p == pytest.approx(float(theirs.pvalue), abs=1e-12)
    assert ours.difference == pytest.approx((b - a).mean())


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_ties_that_rounding_breaks_are_counted(grades: list[int]) -> None:
    differences = np.array(grades) / 10
    ours = randomization_test(np.zeros(len(grades)), differences)
    assert ours.p == pytest.approx(_enumerated(np.array(grades, dtype=float)), abs=1e-12)


def test_sampling_agrees_with_enumeration() -> None:
    rng = np.random.default_rng(5)
    a = rng.random(12)
    b = a + rng.normal(0.08, 0.15, 12)
    exact = randomization_test(a, b)
    sampled = randomization_test(a, b, flips=4_000)
    assert exact.p is not None
    assert exact.exact
    assert not sampled.exact
    assert sampled.p == pytest.approx(exact.p, abs=4 * math.sqrt(exact.p * (1 - exact.p) / 4_000))


def test_sampling_agrees_with_the_t_test_at_large_n() -> None:
    rng = np.random.default_rng(6)
    a = rng.random(500)
    b = a + rng.normal(0.01, 0.1, 500)
    assert randomization_test(a, b).p == pytest.approx(stats.ttest_rel(b, a).pvalue, abs=0.02)


def test_sampled_ties_count_as_reached() -> None:
    a = np.zeros(40)
    b = np.full(40, 0.1)
    b[20:] = -0.1
    b[0] = 0.0
    ours = randomization_test(a, b)
    assert ours.p == 1.0


def test_p_is_never_zero() -> None:
    ours = randomization_test(np.zeros(100), np.ones(100))
    assert ours.p == pytest.approx(1 / 10_001)


def test_the_limit_between_exact_and_sampled() -> None:
    rng = np.random.default_rng(0)
    assert randomization_test(np.zeros(13), rng.random(13)).exact
    assert not randomization_test(np.zeros(14), rng.random(14)).exact
    assert randomization_test(np.zeros(3), rng.random(3), flips=8).exact
    assert not randomization_test(np.zeros(3), rng.random(3), flips=7).exact


def test_queries_without_a_difference_change_nothing() -> None:
    rng = np.random.default_rng(1)
    b = rng.normal(size=8)
    plain = randomization_test(np.zeros(8), b)
    more = randomization_test(np.zeros(33), np.concatenate((np.zeros(25), b)))
    assert more.p == plain.p
    assert (more.exact, more.n, plain.n) == (True, 33, 8)


def test_more_patterns_than_a_block_holds() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.random(30), rng.random(30)
    many = randomization_test(a, b, flips=3 * BLOCK_FLIPS + 5)
    assert many.flips == 3 * BLOCK_FLIPS + 5
    assert many.p == pytest.approx(stats.ttest_rel(b, a).pvalue, abs=0.03)
    assert many.p == pytest.approx(randomization_test(a, b).p, abs=0.02)


def test_columns_together_equal_columns_alone() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random((50, 3)), rng.random((50, 3))
    b[:20, 1] = a[:20, 1]
    together = randomization_tests(a, b, flips=500, seed=9)
    alone = [randomization_test(a[:, j], b[:, j], flips=500, seed=9) for j in range(3)]
    assert [t.p for t in together] == [t.p for t in alone]


def test_undefined_pairs_do_not_count() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.random((20, 2)), rng.random((20, 2))
    defined = np.ones((20, 2), dtype=bool)
    defined[10:, 1] = False
    a[15, 1] = np.nan
    whole, part = randomization_tests(a, b, defined=defined)
    assert (whole.n, part.n) == (20, 10)
    assert part.exact
    assert not whole.exact
    assert part.p == randomization_test(a[:10, 1], b[:10, 1]).p
    assert part.difference == pytest.approx((b - a)[:10, 1].mean())


def test_the_seed_decides_and_is_recorded() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.random(60), rng.random(60)
    assert randomization_test(a, b) == randomization_test(a, b, seed=42)
    assert randomization_test(a, b, seed=1).p != randomization_test(a, b, seed=2).p
    assert randomization_test(a, b, seed=1).seed == 1


def test_degenerate_inputs_are_explained() -> None:
    none = randomization_test([], [])
    assert (none.p, none.difference, none.exact, none.reason) == (
        None,
        None,
        False,
        "there are no pairs",
    )
    same = randomization_test([0.3, 0.5], [0.1 + 0.2, 0.5])
    assert (same.p, same.difference, same.reason) == (1.0, 0.0, "the runs are identical")
    one = randomization_test([0.0], [1.0])
    assert (one.p, one.exact) == (1.0, True)
    assert one.reason == "one non-zero difference cannot be told from chance"
    constant = randomization_test([0.0] * 5, [0.1] * 5)
    assert (constant.p, constant.reason) == (2 / 32, None)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="shape"):
        randomization_test([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match=r"b\[1, 0\] is nan"):
        randomization_test([1.0, 2.0], [1.0, math.nan])
    with pytest.raises(UsageError, match="resamples"):
        randomization_test([1.0], [1.0], flips=0)
