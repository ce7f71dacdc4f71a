"""Between which two values does the mean lie of values that have a lowest and a highest?

Shares of answers, shares within answers and grades are such values; they are few and mostly at one
end, where resampling sees no spread. Of 0 and 1 alone the interval is Wilson's. Values in between
spread less, so that n of them are worth more of these: with values x in [0, 1], z = Φ⁻¹((1 + level)
/ 2), and z²/2 values added at either end (Agresti and Coull 1998), whose mean is m and whose mean
has the squared error e²,

    worth = m (1 - m) / e² · n / (n + z²)

which goes into Wilson's formula in the place of n. Values of one cluster, such as the claims of an
answer, count by their sum, and what is added comes in clusters of the usual size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError
from assay.model.sampling import DEFAULT_LEVEL
from assay.stats.distributions import normal_quantile
from assay.stats.inputs import check_share, number_vector
from assay.stats.interval import Interval
from assay.stats.shares import wilson

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike

    from assay.model.arrays import FloatArray

METHOD = "bounded"


def bounded_interval(
    values: ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    bounds: tuple[float, float] = (0.0, 1.0),
    clusters: Sequence[Hashable] | None = None,
) -> Interval:
    """The interval of a mean; values of one cluster belong together."""
    check_share(level, "level")
    x = scaled(number_vector(values, "values"), bounds, "values")
    groups = grouped(clusters, len(x))
    if not len(x):
        reason = "there is nothing to count"
        return Interval(low=None, high=None, level=level, method=METHOD, n=0, reason=reason)
    low, high = wilson(float(x.mean()), worth(x, groups, level), level)
    return Interval(
        low=unscaled(low, bounds),
        high=unscaled(high, bounds),
        level=level,
        method=METHOD,
        n=len(x),
        clusters=None if groups is None else int(groups.max()) + 1,
    )


def worth(x: FloatArray, groups: FloatArray | None, level: float) -> float:
    """How many values of 0 and 1, by themselves, have a mean as sure as this one."""
    n, size = len(x), usual_size(groups, len(x))
    added = size * added_items(level)
    middle = (float(x.sum()) + added / 2.0) / (n + added)
    ends = size * added / 2.0 * ((1.0 - middle) ** 2 + middle**2)
    squared = (sum_of_squares(x - middle, groups) + ends) / (n + added) ** 2
    return middle * (1.0 - middle) / squared * n / (n + added)


def added_items(level: float) -> float:
    """How many items are added, at both ends together."""
    return float(normal_quantile((1.0 + level) / 2.0)) ** 2


def sum_of_squares(values: FloatArray, groups: FloatArray | None) -> float:
    """Of the values, or of their sums by group."""
    sums = values if groups is None else np.bincount(groups.astype(np.intp), weights=values)
    return float((sums**2).sum())


def usual_size(groups: FloatArray | None, n: int) -> float:
    """How many items a group has on average; 1 without groups."""
    return 1.0 if groups is None or not n else n / (float(groups.max()) + 1.0)


def grouped(clusters: Sequence[Hashable] | None, n: int) -> FloatArray | None:
    """The number of each item's cluster, from 0."""
    if clusters is None or not n:
        return None
    if len(clusters) != n:
        raise InputError(f"{n} values and {len(clusters)} clusters")
    numbers = {one: at for at, one in enumerate(dict.fromkeys(clusters))}
    return np.array([numbers[one] for one in clusters], dtype=np.float64)


def scaled(values: FloatArray, bounds: tuple[float, float], what: str) -> FloatArray:
    """The values as shares of the way from the lowest to the highest; others are refused."""
    low, high = bounds
    if len(values) and not (low <= float(values.min()) and float(values.max()) <= high):
        raise InputError(
            f"{what} lie between {values.min():g} and {values.max():g}, outside of {low:g} to "
            f"{high:g}",
            hint="give the lowest and the highest value that they can have as bounds",
        )
    return (values - low) / (high - low)


def unscaled(share: float, bounds: tuple[float, float]) -> float:
    """What a share of the way from the lowest to the highest value means."""
    return bounds[0] + share * (bounds[1] - bounds[0])
