"""How do commands ask a shared service (``assay --server ADDRESS ...``)?

The answers become the values that the commands show, so that they read the same wherever the work
was done.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from assay.client import Client
from assay.config import Configuration
from assay.model.document import Chunk, IngestionMode, SpeakerRole
from assay.search.response import Boost, SearchHit, SearchResponse

KEY_VARIABLE = "ASSAY_API_KEY"
RERANKER = "reranker"


def client(config: Configuration) -> Client:
    """The service of the setting ``server``; the key comes from the environment only."""
    return Client(config.server, key=os.environ.get(KEY_VARIABLE) or None)


def response_of(body: Mapping[str, Any]) -> SearchResponse:
    """The answer of a search, from its JSON."""
    return SearchResponse(
        query=body["query"],
        results=tuple(_hit(one) for one in body["results"]),
        fusion_metadata=body["fusion_metadata"],
        components_used=tuple(body["components_used"]),
        component_errors=tuple(body["component_errors"]),
        degraded=body["degraded"],
        intents=tuple(body["intents"]),
        query_type=body["query_type"],
        total_candidates=body["total_candidates"],
        generation=body["generation"],
        timings_ms=body["timings_ms"],
        warnings=tuple(body["warnings"]),
        offset=body["offset"],
        reranked=body["reranked"],
        reranker_model=body["reranker_model"],
        reranker_error=body["reranker_error"],
        synonyms=tuple(body["synonyms"]),
        cached=body["cached"],
    )


def _hit(body: Mapping[str, Any]) -> SearchHit:
    scores = dict(body["component_scores"])
    reranker = scores.pop(RERANKER, None)
    return SearchHit(
        chunk=_chunk(body),
        component_scores=scores,
        reranker_score=reranker,
        boosts=tuple(Boost(**one) for one in body["boosts"]),
        **{
            name: body[name]
            for name in (
                "rank",
                "score",
                "ranks",
                "normalized",
                "contributions",
                "fused",
                "boosted",
                "rank_fused",
                "rank_boosted",
            )
        },
    )


def _chunk(body: Mapping[str, Any]) -> Chunk:
    return Chunk(
        spans=tuple((start, end) for start, end in body["spans"]),
        speaker_role=SpeakerRole(body["speaker_role"]),
        ingestion_mode=IngestionMode(body["ingestion_mode"]),
        **{
            name: body[name]
            for name in (
                "chunk_id",
                "doc_id",
                "text",
                "title",
                "section_label",
                "intent_hint",
                "is_table",
                "table_html",
                "chunker_version",
                "interview_id",
                "start_time",
                "end_time",
                "source",
                "metadata",
            )
        },
    )
