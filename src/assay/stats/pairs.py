"""By how much do two runs differ, query by query?

A difference is b - a. Measured values carry rounding errors (0.3 - 0.1 is not 0.2), so differences
that are smaller than ``SAME`` times the values they come from count as zero, and differences of all
queries that agree to ``SAME`` times the largest value count as constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError
from assay.stats.defaults import SAME
from assay.stats.inputs import number_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.model.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Pairs:
    """The differences b - a; ones closer than ``tolerance`` differ by rounding only."""

    differences: FloatArray
    tolerance: float

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return self.differences.size

    @property
    def mean(self) -> float | None:
        """The mean difference; ``None`` without pairs."""
        return float(self.differences.mean()) if self.n else None

    @property
    def identical(self) -> bool:
        """Whether no pair differs."""
        return not self.differences.any()

    @property
    def constant(self) -> bool:
        """Whether all pairs differ by the same amount."""
        return self.n > 0 and float(np.ptp(self.differences)) <= self.tolerance


def read_pairs(a: ArrayLike, b: ArrayLike) -> Pairs:
    """Pair two runs' values of the same queries in the same order."""
    first, second = number_vector(a, "a"), number_vector(b, "b")
    if first.size != second.size:
        raise InputError(
            f"{first.size} values of a do not pair with {second.size} of b",
            hint="pass both runs' values for the same queries, in the same order",
        )
    scale = np.maximum(np.abs(first), np.abs(second))
    return Pairs(subtract(first, second), SAME * float(scale.max(initial=0.0)))


def subtract(a: FloatArray, b: FloatArray) -> FloatArray:
    """B - a, with differences that are only rounding set to zero."""
    difference = b - a
    difference[np.abs(difference) <= SAME * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return difference
