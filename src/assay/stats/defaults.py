"""Which choices hold when the caller makes none?"""

from __future__ import annotations

from typing import Final

DEFAULT_ALPHA: Final = 0.05
DEFAULT_POWER: Final = 0.8

MAX_MAGNITUDE: Final = 1e90
"""Values larger than this are refused: the sums of their third powers would overflow."""

SAME: Final = 1e-12
"""Two numbers closer than this share of their scale differ by rounding only."""
