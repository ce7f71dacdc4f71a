"""How are confidence intervals drawn?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

DEFAULT_SEED: Final = 42
DEFAULT_RESAMPLES: Final = 10_000
DEFAULT_LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Sampling:
    """The bootstrap's settings; every result that used them records them."""

    method: Literal["percentile", "bca"] = "bca"
    level: float = DEFAULT_LEVEL
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Sampling:
        """The settings that ``to_dict`` wrote."""
        return cls(
            entry["method"], float(entry["level"]), int(entry["resamples"]), int(entry["seed"])
        )
