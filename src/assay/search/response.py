"""What did a search find, and where does every score come from?

These values are the library's answer; ``to_dict`` of each is the JSON that the command line and the
HTTP service print.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.model.document import Chunk


@dataclass(frozen=True, slots=True)
class Boost:
    """One rule that matched a result; only the largest factor of a result is ``applied``."""

    rule: str
    intent: str
    confidence: float
    factor: float
    matched: str
    applied: bool


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result with the whole account of its score.

    Every mapping has an entry for each component that was asked; None where the component did not
    find the chunk. ``contributions`` sum to ``fused``; ``fused`` times the applied boost is
    ``boosted``; ``score`` is what the list is ordered by.
    """

    rank: int
    chunk: Chunk
    score: float
    component_scores: Mapping[str, float | None]
    ranks: Mapping[str, int | None]
    normalized: Mapping[str, float | None]
    contributions: Mapping[str, float | None]
    fused: float
    boosted: float
    boosts: tuple[Boost, ...] = ()
    rank_fused: int = 0


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The answer to one query; a degraded answer says so and names what is missing."""

    query: str
    results: tuple[SearchHit, ...]
    fusion_metadata: Mapping[str, Any]
    components_used: tuple[str, ...]
    component_errors: tuple[str, ...] = ()
    degraded: bool = False
    intents: tuple[Mapping[str, Any], ...] = ()
    query_type: str = ""
    total_candidates: int = 0
    generation: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
