"""Does the interval of a mean of bounded values cover it, and is it Wilson's where it should be?"""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import InputError
from assay.stats.bounded import bounded_interval
from assay.stats.shares import wilson


@pytest.mark.parametrize(("ones", "n"), [(0, 5), (3, 10), (29, 30), (30, 30)])
def test_of_zeros_and_ones_it_is_wilsons(ones: int, n: int) -> None:
    found = bounded_interval([1.0] * ones + [0.0] * (n - ones))
    assert (found.low, found.high) == pytest.approx(wilson(ones / n, n, 0.95))


@pytest.mark.parametrize("mean", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("n", [20, 60])
def test_it_covers_means_of_shares(mean: float, n: int) -> None:
    rng = np.random.default_rng(3)
    held = []
    for _ in range(500):  # answers of four claims, some of them all right
        values = rng.binomial(4, rng.beta(2 * mean, 2 * (1 - mean), n)) / 4
        found = bounded_interval(values)
        held.append((found.low or 0.0) <= mean <= (found.high or 0.0))
    assert np.mean(held) >= 0.93


def test_clusters_and_bounds() -> None:
    values = [1.0, 1.0, 0.0, 0.0] * 10
    apart = bounded_interval(values)
    pairs = bounded_interval(values, clusters=[at // 2 for at in range(40)])
    assert (pairs.clusters, apart.clusters) == (20, None)
    wide, narrow = ((one.high or 0.0) - (one.low or 0.0) for one in (pairs, apart))
    assert wide > 1.3 * narrow
    all_right = bounded_interval([1.0] * 40, clusters=[at // 2 for at in range(40)])
    assert all_right.low == pytest.approx(wilson(1.0, 20, 0.95)[0])
    grades = bounded_interval([3.0, 2.0, 0.0], bounds=(0.0, 3.0))
    shares = bounded_interval([1.0, 2 / 3, 0.0])
    assert grades.low == pytest.approx(3 * (shares.low or 0.0))
    with pytest.raises(InputError, match="outside of 0 to 1"):
        bounded_interval([3.0])
    assert bounded_interval([]).reason == "there is nothing to count"
