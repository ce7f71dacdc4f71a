"""Do the bounds follow their formulas, also without skew, bias or spread?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.stats.bounds import bca_bounds, percentile_bounds


def test_percentile_bounds_hold_the_middle() -> None:
    assert percentile_bounds(np.arange(101.0), 0.9) == pytest.approx((5.0, 95.0))


def test_without_bias_and_skew_both_agree() -> None:
    values = np.arange(101.0)
    bounds = bca_bounds(values, 50.0, np.array([-1.0, 0.0, 1.0]), 0.9, 0.0)
    assert bounds == pytest.approx(percentile_bounds(values, 0.9))


def test_bias_and_acceleration_shift_the_quantiles() -> None:
    values, jackknife = np.arange(1_001.0), np.array([0.0, 0.0, 0.0, 4.0])
    distance = 1.0 - jackknife
    a = np.sum(distance**3) / (6 * np.sum(distance**2) ** 1.5)
    z0 = stats.norm.ppf(600.5 / 1_001)
    z = z0 + stats.norm.ppf([0.05, 0.95])
    expected = 1_000 * np.asarray(stats.norm.cdf(z0 + z / (1 - a * z)))
    assert bca_bounds(values, 600.0, jackknife, 0.9, 0.0) == pytest.approx(tuple(expected))


def test_a_jackknife_without_spread_means_no_acceleration() -> None:
    values = np.arange(101.0)
    assert bca_bounds(values, 50.0, np.ones(5), 0.9, 0.0) == pytest.approx((5.0, 95.0))


def test_ties_within_the_tolerance_count_one_half() -> None:
    values = np.array([1.0, 2.0 - 1e-13, 2.0 + 1e-13, 3.0])
    jackknife = np.array([-1.0, 1.0])
    assert bca_bounds(values, 2.0, jackknife, 0.5, 1e-12) == pytest.approx(
        percentile_bounds(values, 0.5)
    )


def test_reasons_stand_in_for_bounds() -> None:
    values = np.arange(101.0)
    assert bca_bounds(values, -1.0, np.arange(3.0), 0.9, 0.0) == (
        "every resample lies on the same side of the estimate"
    )
    skewed = np.append(np.zeros(999), -1_000.0)
    assert bca_bounds(np.arange(10_001.0), 9_999.0, skewed, 1 - 1e-9, 0.0) == (
        "the data are too skewed for the BCa correction at this level"
    )
