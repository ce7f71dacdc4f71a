"""Are Holm's adjusted p-values right, in order, and blind to undefined tests?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.multiple import holm


@pytest.mark.req("E8")
def test_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_undefined_tests_pass_through_and_are_not_counted() -> None:
    assert holm([None, 0.02, None, 0.01]) == (None, 0.02, None, 0.02)
    assert holm([None]) == (None,)
    assert holm([]) == ()


def test_one_test_is_not_corrected() -> None:
    assert holm([0.03]) == (0.03,)


def test_equal_p_values_get_equal_answers() -> None:
    assert holm([0.02, 0.02, 0.02]) == pytest.approx((0.06, 0.06, 0.06))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_rejects_exactly_what_the_step_down_procedure_rejects(p_values: list[float]) -> None:
    alpha = 0.05
    adjusted = holm(p_values)
    rejected = set()
    for done, (p, i) in enumerate(sorted((p, i) for i, p in enumerate(p_values))):
        if (len(p_values) - done) * p >= alpha:
            break
        rejected.add(i)
    assert {i for i, p in enumerate(adjusted) if p is not None and p < alpha} == rejected
    assert all(q is not None and p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_impossible_p_values_are_named(bad: float) -> None:
    with pytest.raises(InputError, match=r"p_values\[1\]"):
        holm([0.5, bad])
