"""How are several queries searched at once, for an evaluation?"""

from __future__ import annotations

from typing import Any

from assay.errors import AssayError
from assay.http.service import Service
from assay.http.wire.workflow import BatchQuery, BatchRequest
from assay.model.document import IngestionMode, SpeakerRole
from assay.model.query import Filters
from assay.search.request import COMPONENTS
from assay.search.response import SearchHit, SearchResponse


async def retrieve(service: Service, asked: BatchRequest) -> list[dict[str, Any]]:
    """One result per query, in their order; a query that fails says so and the rest goes on."""
    searcher = await service.searcher()
    common = _options(asked)
    answers = []
    for query in asked.queries:
        try:
            response = await searcher.asearch(
                query.query_text, k=query.top_k, filters=_filters(query), **common
            )
        except AssayError as error:
            answers.append(_failed(query, error))
        else:
            answers.append(_found(query, response))
    return answers


def _options(asked: BatchRequest) -> dict[str, Any]:
    config = asked.config
    given: dict[str, Any] = {"rerank": config.rerank}
    if config.search_mode in COMPONENTS:
        given["components"] = (config.search_mode,)
    if config.fusion_method is not None:
        given["fusion_method"] = config.fusion_method
    return given


def _filters(query: BatchQuery) -> Filters:
    speaker, mode = query.speaker_filter, query.ingestion_mode
    return Filters(
        speaker_role=() if speaker == "ALL" else (SpeakerRole(speaker),),
        ingestion_mode=() if mode is None else (IngestionMode(mode),),
    )


def _found(query: BatchQuery, response: SearchResponse) -> dict[str, Any]:
    return {
        "query_id": query.query_id,
        "retrieved_segment_ids": [hit.chunk.chunk_id for hit in response.results],
        "results": [_hit(hit) for hit in response.results],
        "components_used": list(response.components_used),
        "component_errors": list(response.component_errors),
        "degraded": response.degraded,
        "reranked": response.reranked,
        "latency_ms": response.timings_ms.get("total", 0.0),
        "error": None,
    }


def _hit(hit: SearchHit) -> dict[str, Any]:
    return {
        "segment_id": hit.chunk.chunk_id,
        "doc_id": hit.chunk.doc_id,
        "rank": hit.rank,
        "score": hit.score,
        "text": hit.chunk.text,
        "speaker_role": str(hit.chunk.speaker_role),
        "component_scores": dict(hit.component_scores),
    }


def _failed(query: BatchQuery, error: AssayError) -> dict[str, Any]:
    return {
        "query_id": query.query_id,
        "retrieved_segment_ids": [],
        "results": [],
        "components_used": [],
        "component_errors": [],
        "degraded": True,
        "reranked": False,
        "latency_ms": 0.0,
        "error": error.message,
    }
