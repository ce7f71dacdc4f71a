"""How are scores of one component scaled so that they can be added to another's?

Every function maps the scores of one list to values of zero or more, preserving their order; a
component that did not find a candidate counts as 0. A list of one score, or of equal scores, maps
to 1.0.

- min-max: ``(s - min) / (max - min)``, in [0, 1].
- z-score: ``(s - min) / σ``: standard scores, shifted so that the last of the list has 0, because
  an absent candidate is no better than the last one.
- dbsf: the band ``mean ± 3σ`` to [0, 1], clipped (distribution-based score fusion): a single
  outlier does not squeeze the others together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_BAND = 3.0


def min_max(scores: Sequence[float]) -> list[float]:
    """The list's range to [0, 1]."""
    low, high = _ends(scores)
    span = high - low
    if not span:
        return [1.0] * len(scores)
    if math.isinf(span):
        return min_max([score / 4 for score in scores])
    return [(score - low) / span for score in scores]


def z_score(scores: Sequence[float]) -> list[float]:
    """Standard deviations above the last of the list."""
    steady = min_max(scores)  # standard scores do not change with a shift and a positive factor
    _, deviation = _moments(steady)
    if not deviation:
        return steady
    return [value / deviation for value in steady]


def dbsf(scores: Sequence[float]) -> list[float]:
    """The band of three standard deviations around the mean to [0, 1]."""
    steady = min_max(scores)
    mean, deviation = _moments(steady)
    if not deviation:
        return steady
    low, width = mean - _BAND * deviation, 2 * _BAND * deviation
    return [min(1.0, max(0.0, (value - low) / width)) for value in steady]


def _ends(scores: Sequence[float]) -> tuple[float, float]:
    return (min(scores), max(scores)) if scores else (0.0, 0.0)


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (of the whole list, not of a sample)."""
    if not values:
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
