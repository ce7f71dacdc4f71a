"""Are detectable effects those of the noncentral t distribution?"""

from __future__ import annotations

import math

import pytest
from scipy import integrate, stats

from assay.errors import InputError, UsageError
from assay.stats.power import minimum_detectable_effect, power_at


def _power(effect: float, n: int, alpha: float) -> float:
    """The chance of |Z + shift| > c S, integrated over the sample spread S."""
    critical, shift, df = stats.t.ppf(1 - alpha / 2, n - 1), effect * math.sqrt(n), n - 1
    spread = stats.chi(df, scale=1 / math.sqrt(df))
    low, high = float(spread.ppf(1e-15)), float(spread.ppf(1 - 1e-15))

    def rejected(s: float) -> float:
        tails = stats.norm.sf(critical * s - shift) + stats.norm.cdf(-critical * s - shift)
        return float(spread.pdf(s) * tails)

    return float(integrate.quad(rejected, low, high, limit=500, epsabs=1e-10)[0])


@pytest.mark.req("E8")
@pytest.mark.parametrize(("effect", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_textbook_number_of_pairs_is_the_first_with_the_wanted_power(
    effect: float, n: int
) -> None:
    enough, fewer = power_at(effect, n), power_at(effect, n - 1)
    assert enough is not None and fewer is not None  # noqa: PT018
    assert fewer < 0.8 <= enough
    assert power_at(-effect, n) == enough


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 10, 50, 1_000, 6_980])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_detectable_effect_has_the_wanted_power(n: int, alpha: float) -> None:
    ours = minimum_detectable_effect(n, alpha=alpha, power=0.8)
    assert ours.effect_size is not None
    assert _power(ours.effect_size, n, alpha) == pytest.approx(0.8, abs=1e-7)
    assert ours.reason is None


def test_large_samples_follow_the_normal_approximation() -> None:
    ours = minimum_detectable_effect(10**6)
    assert ours.effect_size == pytest.approx((1.959964 + 0.841621) / 1_000, rel=1e-4)


def test_the_difference_is_in_units_of_the_measure() -> None:
    plain = minimum_detectable_effect(50)
    scaled = minimum_detectable_effect(50, sd=0.25)
    assert plain.difference is None
    assert plain.effect_size is not None
    assert scaled.difference == pytest.approx(0.25 * plain.effect_size)
    assert minimum_detectable_effect(50, sd=0.0).difference == 0.0


def test_more_pairs_detect_less() -> None:
    effects = [minimum_detectable_effect(n).effect_size or 0.0 for n in (2, 3, 5, 20, 100)]
    assert effects == sorted(effects, reverse=True)


@pytest.mark.parametrize("n", [-1, 0, 1])
def test_too_few_pairs_are_undefined(n: int) -> None:
    ours = minimum_detectable_effect(n, sd=0.1)
    assert (ours.effect_size, ours.difference) == (None, None)
    assert ours.reason == "it takes two pairs"
    assert power_at(0.5, n) is None


def test_a_huge_effect_cannot_be_missed() -> None:
    assert power_at(1e6, 2) == 1.0


def test_an_alpha_that_no_number_can_express_is_explained() -> None:
    assert minimum_detectable_effect(2, alpha=1e-9).effect_size is not None
    ours = minimum_detectable_effect(2, alpha=1e-17)
    assert ours.effect_size is None
    assert ours.reason == "alpha is too small for this few pairs"


def test_bad_options_are_refused() -> None:
    with pytest.raises(UsageError, match="alpha"):
        minimum_detectable_effect(10, alpha=0.0)
    with pytest.raises(UsageError, match="not above"):
        minimum_detectable_effect(10, alpha=0.5, power=0.4)
    with pytest.raises(InputError, match="sd"):
        minimum_detectable_effect(10, sd=math.nan)
