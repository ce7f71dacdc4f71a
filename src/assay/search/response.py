"""What did a search find, and where does every score come from?

These values are the library's answer; ``to_dict`` of each is the JSON that the command line and the
HTTP service print.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.model.document import Chunk

_SHOWN = (
    "title",
    "section_label",
    "intent_hint",
    "is_table",
    "text",
    "table_html",
    "speaker_role",
    "ingestion_mode",
    "interview_id",
    "start_time",
    "end_time",
    "source",
    "chunker_version",
)


@dataclass(frozen=True, slots=True)
class Boost:
    """One rule that matched a result; only the largest factor of a result is ``applied``."""

    rule: str
    intent: str
    confidence: float
    factor: float
    matched: str
    applied: bool

    def to_dict(self) -> dict[str, Any]:
        """Flat JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result with the whole account of its score.

    Every mapping has an entry for each component that was asked; None where the component did not
    find the chunk. ``contributions`` sum to ``fused``; ``fused`` times the applied boost is
    ``boosted``; ``score`` is what the list is ordered by. ``reranker_score`` is between 0 and 1.
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
    rank_boosted: int = 0
    reranker_score: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON of one result: the fields of the API first, then the account of the score."""
        scores: dict[str, float | None] = dict(self.component_scores)
        if self.reranker_score is not None:
            scores["reranker"] = self.reranker_score
        chunk = self.chunk
        return {
            "doc_id": chunk.doc_id,
            "chunk_id": chunk.chunk_id,
            "score": self.score,
            "component_scores": scores,
            "rank": self.rank,
            "ranks": dict(self.ranks),
            "normalized": dict(self.normalized),
            "contributions": dict(self.contributions),
            "fused": self.fused,
            "rank_fused": self.rank_fused,
            "boosts": [boost.to_dict() for boost in self.boosts],
            "boosted": self.boosted,
            "rank_boosted": self.rank_boosted,
            **{name: getattr(chunk, name) for name in _SHOWN},
            "spans": [list(span) for span in chunk.spans],
            "metadata": dict(chunk.metadata),
        }


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
    offset: int = 0
    reranked: bool = False
    reranker_model: str | None = None
    reranker_error: str | None = None
    synonyms: tuple[str, ...] = ()
    cached: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The JSON that the command line and the HTTP service answer with."""
        rerank = {
            "reranked": self.reranked,
            "reranker_model": self.reranker_model,
            "reranker_error": self.reranker_error,
        }
        return {
            "query": self.query,
            "results": [hit.to_dict() for hit in self.results],
            "fusion_metadata": {**self.fusion_metadata, **rerank},
            "components_used": list(self.components_used),
            "component_errors": list(self.component_errors),
            "degraded": self.degraded,
            **rerank,
            "query_type": self.query_type,
            "intents": [dict(intent) for intent in self.intents],
            "synonyms": list(self.synonyms),
            "offset": self.offset,
            "total_candidates": self.total_candidates,
            "generation": self.generation,
            "cached": self.cached,
            "timings_ms": dict(self.timings_ms),
            "warnings": list(self.warnings),
        }
