"""How are confidence intervals drawn?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.stats.defaults import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED


@dataclass(frozen=True, slots=True)
class Sampling:
    """The bootstrap's settings; every result that used them records them."""

    method: Literal["percentile", "bca"] = "bca"
    level: float = DEFAULT_LEVEL
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED
