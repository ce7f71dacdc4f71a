"""Between which two values does the true one lie, and how do we know?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval with its origin; ``low`` and ``high`` are both set or both ``None``.

    ``n`` counts the values behind the estimate and ``clusters`` the groups that were resampled.
    ``resamples`` and ``seed`` are ``None`` for intervals that come from a formula. ``reason`` says
    why an interval is undefined, or what to mind about one that is defined.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    resamples: int | None = None
    seed: int | None = None
    clusters: int | None = None
    reason: str | None = None

    @property
    def defined(self) -> bool:
        """Whether the interval has ends."""
        return self.low is not None and self.high is not None

    def lies_within(self, margin: float) -> bool:
        """Whether the whole interval lies strictly between ``-margin`` and ``margin``."""
        if self.low is None or self.high is None:
            return False
        return -margin < self.low and self.high < margin
