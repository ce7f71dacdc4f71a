"""What does an evaluation take, and what does it answer?"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from assay.http.wire.base import Answer, Id, Json, Wire
from assay.http.wire.search import RetrievalParameters
from assay.http.wire.workflow import BatchConfig, Cutoff, Speaker


class EvaluateParameters(RetrievalParameters):
    """The parameters of ``POST /v1/evaluate``."""

    evaluation_id: Id | None = Field(
        None, description="Names the evaluation; the same id with another body is refused."
    )
    name: str | None = Field(
        None, pattern=r"^[\w .:+-]{1,80}$", description="What the run is called in listings."
    )
    measures: str | None = Field(
        None,
        max_length=500,
        description="Which measures.",
        examples=["Recall@{5,10,20} nDCG@10 MRR"],
    )
    per_query: bool = Field(False, description="Answer with the values of every query, too.")


class RunConfig(BatchConfig):
    """How the queries of a dataset are searched and scored."""

    top_k: Annotated[list[Cutoff], Field(min_length=1, max_length=50)] | None = None


class Trigger(Wire):
    """An evaluation of a dataset that the service has."""

    evaluation_id: Id | None = None
    dataset_id: Id
    retrieval_config: RunConfig = RunConfig()
    speaker_modes: Annotated[list[Speaker], Field(min_length=1, max_length=3)] | None = None


class EvaluateAnswer(Answer):
    """The metrics of an evaluation, and everything that is needed to believe them."""

    model_config = ConfigDict(extra="allow")

    evaluation_id: str
    run_id: str
    metrics: dict[str, float | None] = Field(
        examples=[{"recall_at_10": 0.82, "ndcg_at_10": 0.79, "mrr": 0.85}]
    )
    per_query_type: dict[str, dict[str, float | None]] = Field(
        examples=[{"exact_term": {"recall_at_10": 0.9}}]
    )
    per_speaker: dict[str, dict[str, float | int | None]]
    test_set: dict[str, str]
    cached: bool
    total_queries: int
    scored_queries: int
    skipped_queries: int
    failed_queries: int
    degraded: bool
    warnings: list[str]
    aggregates: Json
    latency_ms: dict[str, Any]
