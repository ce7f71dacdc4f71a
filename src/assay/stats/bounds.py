"""Which quantiles of the resampled values bound the estimate?

    percentile   the (1 ± level)/2 quantiles of the resampled values (Efron 1979)
    BCa          quantiles shifted by the bias z0 and the acceleration a (Efron 1987):
                 Φ(z0 + (z0 + z) / (1 - a (z0 + z))) for z = Φ⁻¹((1 ± level)/2), where
                 z0 = Φ⁻¹(share of resampled values below the estimate, ties as one half) and
                 a = Σ d³ / (6 (Σ d²)^1.5), d = jackknife mean - jackknife value

Quantiles interpolate linearly, as numpy and scipy do. Where BCa is undefined the percentile bounds
stand in, under their own name and with the reason.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from assay.stats.distributions import normal_cdf, normal_quantile

if TYPE_CHECKING:
    from assay.model.arrays import FloatArray
    from assay.stats.interval import Interval


def bounded(
    values: FloatArray, blank: Interval, estimate: float, jackknife: FloatArray, tolerance: float
) -> Interval:
    """``blank`` with the bounds of its method, or those of the one that had to stand in for it."""
    if blank.method == "bca":
        bounds = bca_bounds(values, estimate, jackknife, blank.level, tolerance)
        if not isinstance(bounds, str):
            return replace(blank, low=bounds[0], high=bounds[1])
        reason = f"percentile, since BCa is undefined: {bounds}"
        blank = replace(blank, method="percentile", reason=reason)
    low, high = percentile_bounds(values, blank.level)
    return replace(blank, low=low, high=high)


def percentile_bounds(values: FloatArray, level: float) -> tuple[float, float]:
    """The middle ``level`` of the resampled values."""
    return _quantiles(values, (1.0 - level) / 2.0, (1.0 + level) / 2.0)


def bca_bounds(
    values: FloatArray, estimate: float, jackknife: FloatArray, level: float, tolerance: float
) -> tuple[float, float] | str:
    """The bias-corrected and accelerated bounds, or the reason why there are none.

    Resampled values within ``tolerance`` of the estimate are ties: they differ by rounding only.
    """
    below = _share_below(values, estimate, tolerance)
    if not 0.0 < below < 1.0:
        return "every resample lies on the same side of the estimate"
    bias = normal_quantile(below)
    acceleration = _acceleration(jackknife)
    shares: list[float] = []
    for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0):
        shift = bias + normal_quantile(tail)
        scale = 1.0 - acceleration * shift
        if scale <= 0.0:
            return "the data are too skewed for the BCa correction at this level"
        shares.append(normal_cdf(bias + shift / scale))
    return _quantiles(values, shares[0], shares[1])


def _share_below(values: FloatArray, estimate: float, tolerance: float) -> float:
    distance = values - estimate
    below = int(np.count_nonzero(distance < -tolerance))
    ties = int(np.count_nonzero(np.abs(distance) <= tolerance))
    return (below + 0.5 * ties) / values.size


def _acceleration(jackknife: FloatArray) -> float:
    distance: FloatArray = jackknife.mean() - jackknife
    spread = math.pow(float(np.sum(distance**2)), 1.5)
    if not math.isfinite(spread) or spread == 0.0:
        return 0.0
    return float(np.sum(distance**3)) / (6.0 * spread)


def _quantiles(values: FloatArray, low: float, high: float) -> tuple[float, float]:
    ends = np.quantile(values, [low, high])
    return float(ends[0]), float(ends[1])
