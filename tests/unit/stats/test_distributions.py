"""Are our distributions SciPy's, to twelve digits?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from assay.stats.distributions import (
    noncentral_t_cdf,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

CLOSE = 1e-12
DEGREES = st.one_of(st.integers(1, 200_000), st.floats(1.0, 500.0))
SHARES = st.one_of(st.floats(1e-12, 0.49), st.floats(0.51, 1.0 - 1e-9))


@given(st.floats(-37.0, 9.0))
def test_the_normal_distribution_is_that_of_scipy(x: float) -> None:
    assert normal_cdf(x) == pytest.approx(float(special.ndtr(x)), rel=CLOSE, abs=0.0)


@given(SHARES)
def test_its_quantiles_are_those_of_scipy(share: float) -> None:
    assert normal_quantile(share) == pytest.approx(float(special.ndtri(share)), rel=CLOSE, abs=0.0)


# nearer to 0 SciPy itself loses digits; the test below says what is right there
@given(DEGREES, st.one_of(st.floats(-40.0, -0.1), st.floats(0.1, 40.0)))
def test_student_is_that_of_scipy(df: float, t: float) -> None:
    assert t_cdf(df, t) == pytest.approx(float(special.stdtr(df, t)), rel=1e-12, abs=1e-300)


@given(DEGREES, SHARES)
def test_the_quantiles_of_student_are_those_of_scipy(df: float, share: float) -> None:
    assert t_quantile(df, share) == pytest.approx(
        float(special.stdtrit(df, share)), rel=CLOSE, abs=0.0
    )


@given(st.integers(1, 5_000), st.floats(0.0, 40.0), st.floats(-15.0, 15.0))
def test_the_noncentral_distribution_is_that_of_scipy(df: int, shift: float, t: float) -> None:
    theirs = float(special.nctdtr(df, shift, t))
    if not math.isnan(theirs):  # SciPy gives up on some of its far tails
        assert noncentral_t_cdf(df, shift, t) == pytest.approx(theirs, rel=0.0, abs=1e-12)


@pytest.mark.parametrize("t", [1e-12, 1e-8, 1e-3, 1.0, 1e3, 1e9])
def test_one_and_two_degrees_have_a_closed_form(t: float) -> None:
    assert t_cdf(1, -t) == pytest.approx(math.atan2(1.0, t) / math.pi, rel=CLOSE, abs=0.0)
    root = math.sqrt(2.0 + t * t)
    assert t_cdf(2, -t) == pytest.approx(1.0 / (root * (root + t)), rel=CLOSE, abs=0.0)


def test_the_ends_are_infinite() -> None:
    assert normal_quantile(0.0) == t_quantile(7, 0.0) == -math.inf
    assert normal_quantile(1.0) == t_quantile(7, 1.0) == math.inf
    assert t_quantile(7, 0.5) == 0.0
    assert (t_cdf(7, -math.inf), t_cdf(7, 0.0), t_cdf(7, math.inf)) == (0.0, 0.5, 1.0)
