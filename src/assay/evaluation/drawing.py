"""Were two runs resampled in the same way, and what does a reader need to know if not?"""

from __future__ import annotations

from dataclasses import dataclass

from assay.model.sampling import Sampling


@dataclass(frozen=True, slots=True)
class Drawing:
    """How the intervals of one run are drawn; None where nobody knows."""

    name: str
    sampling: Sampling | None = None
    by_group: bool | None = None


def drawn_otherwise(one: Drawing, other: Drawing) -> list[str]:
    """What differs, and what is done about it: as the second says, but clustered if either is."""
    said = []
    known = one.sampling is not None and other.sampling is not None
    if known and one.sampling != other.sampling:
        said.append(f"the runs draw intervals differently: here as {other.name} does")
    if None not in (one.by_group, other.by_group) and one.by_group != other.by_group:
        clustered = one if one.by_group else other
        said.append(f"queries of one group are drawn together, since {clustered.name} was made so")
    return said
