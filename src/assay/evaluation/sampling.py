"""How are confidence intervals drawn?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.config import Configuration
from assay.stats.defaults import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED


@dataclass(frozen=True, slots=True)
class Sampling:
    """The bootstrap's settings; every result that used them records them."""

    method: Literal["percentile", "bca"] = "bca"
    level: float = DEFAULT_LEVEL
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED


def sampling_of(config: Configuration) -> Sampling:
    """The bootstrap that the settings ask for."""
    return Sampling(
        "percentile" if config.ci_method == "percentile" else "bca",
        config.confidence,
        config.resamples,
        config.seed,
    )
