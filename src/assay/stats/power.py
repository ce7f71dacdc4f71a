"""How small a difference could this many queries have shown?

The power of a two-sided paired t-test at effect d_z = difference / sd of the differences is

    P(|T| > c), T noncentral t with df = n - 1 and noncentrality d_z √n, c = t(1 - alpha/2, df)

The minimum detectable effect is the d_z at which this equals the wanted power (Cohen 1988).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from assay.errors import InputError, UsageError
from assay.stats.defaults import DEFAULT_ALPHA, DEFAULT_POWER
from assay.stats.distributions import noncentral_t_cdf, t_quantile
from assay.stats.inputs import check_share


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableEffect:
    """The smallest effect that n pairs show with the wanted power.

    ``effect_size`` is in units of the standard deviation of the differences (d_z), ``difference``
    in units of the measure; the latter needs that standard deviation.
    """

    n: int
    effect_size: float | None
    difference: float | None
    alpha: float
    power: float
    reason: str | None = None


def minimum_detectable_effect(
    n: int,
    *,
    sd: float | None = None,
    alpha: float = DEFAULT_ALPHA,
    power: float = DEFAULT_POWER,
) -> DetectableEffect:
    """The smallest effect that a paired t-test of n pairs detects."""
    _check(alpha, power)
    if sd is not None and not (0.0 <= sd < math.inf):
        raise InputError(f"sd is {sd}", hint="give the standard deviation of the differences")
    effect = None if n < 2 else _solve_effect(n, alpha, power)
    reason = None
    if effect is None:
        reason = "it takes two pairs" if n < 2 else "alpha is too small for this few pairs"
    return DetectableEffect(
        n=n,
        effect_size=effect,
        difference=None if effect is None or sd is None else effect * sd,
        alpha=alpha,
        power=power,
        reason=reason,
    )


def power_at(effect_size: float, n: int, alpha: float = DEFAULT_ALPHA) -> float | None:
    """The chance that n pairs show the effect; ``None`` where it cannot be computed."""
    check_share(alpha, "alpha")
    if n < 2:
        return None
    shift = abs(effect_size) * math.sqrt(n)
    critical = t_quantile(n - 1, 1.0 - alpha / 2.0)
    if math.isinf(critical):
        return None
    if shift > 40.0 + 10.0 * critical:
        return 1.0  # a miss takes a sample spread ten times the true one, or Z < -40
    missed = noncentral_t_cdf(n - 1, shift, critical)
    wrong_side = noncentral_t_cdf(n - 1, shift, -critical)
    return 1.0 - missed + wrong_side


def _check(alpha: float, power: float) -> None:
    check_share(alpha, "alpha")
    check_share(power, "power")
    if power <= alpha:
        raise UsageError(f"power {power} is not above alpha {alpha}", hint="such as 0.8 and 0.05")


@lru_cache(maxsize=256)
def _solve_effect(n: int, alpha: float, power: float) -> float | None:
    """Bisect for the effect; power grows with it.

    Comparisons ask once a measure, and measures mostly have the same number of queries.
    """
    low, high = 0.0, 1.0 / math.sqrt(n)
    while (reached := power_at(high, n, alpha)) is not None and reached < power:
        low, high = high, 2.0 * high
    if reached is None:
        return None
    while high - low > 1e-12 * high:
        middle = (low + high) / 2.0
        if (power_at(middle, n, alpha) or 0.0) < power:
            low = middle
        else:
            high = middle
    return high
