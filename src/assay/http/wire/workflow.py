"""What do the seven steps of the evaluation workflow take?"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from assay import limits
from assay.app.workflow import DEFAULT_CUTOFFS, Speaker
from assay.http.wire.base import DocumentId, Id, Json, QueryText, Text, Wire

SegmentIds = Annotated[list[DocumentId], Field(max_length=limits.MAX_BATCH_IDS)]
Cutoff = Annotated[int, Field(ge=1, le=limits.MAX_RESULTS)]
MetricName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$", examples=["precision_at_5"])]
Value = Annotated[float, Field(ge=0, le=1)]
Metrics = Annotated[dict[MetricName, Value | None], Field(max_length=200)]
Count = Annotated[int, Field(ge=0, le=10_000_000)]


class BatchQuery(Wire):
    """One query of a batch."""

    query_id: Id
    query_text: QueryText
    speaker_filter: Speaker = "ALL"
    ingestion_mode: Literal["OFFLINE", "LIVE"] | None = None
    top_k: Cutoff = 10


class SearchConfig(Wire):
    """How queries are searched; ``search_mode`` names one component, or ``hybrid`` for all."""

    search_mode: Literal["hybrid", "bm25", "splade", "dense"] = "hybrid"
    fusion_method: Literal["rrf", "weighted"] | None = None


class BatchConfig(SearchConfig):
    """How a batch is searched."""

    rerank: bool = False


class BatchRequest(Wire):
    """Step 2: queries to search for."""

    queries: Annotated[list[BatchQuery], Field(min_length=1, max_length=limits.MAX_BATCH_QUERIES)]
    config: BatchConfig = BatchConfig()


class MetricsRequest(Wire):
    """Step 3: one query's results and its ground truth."""

    query_id: Id
    retrieved_segment_ids: SegmentIds
    relevant_segment_ids: SegmentIds
    k_values: Annotated[list[Cutoff], Field(min_length=1, max_length=50)] = Field(
        default=list(DEFAULT_CUTOFFS)
    )
    speaker_filter: Speaker | None = None


class QueryMetrics(Wire):
    """The metrics of one query: what step 3 answers and steps 4, 5 and 7 take."""

    query_id: Id
    metrics: Metrics
    retrieved_relevant: Count = 0
    total_relevant: Count = 0
    speaker_filter: Speaker | None = None
    skipped: bool = False
    reason: Text | None = None
    retrieved_segment_ids: SegmentIds | None = None
    relevant_segment_ids: SegmentIds | None = None


PerQuery = Annotated[list[QueryMetrics], Field(min_length=1, max_length=limits.MAX_UPLOAD_QUERIES)]


BySpeaker = Annotated[
    dict[Speaker, dict[MetricName, Annotated[float, Field(ge=0)] | None]],
    Field(max_length=3),
]


def _written(targets: dict[str, float | None] | list[str]) -> list[str]:
    """Targets as they are written; a number by itself is one to reach."""
    if isinstance(targets, list):
        return targets
    return [f"{name}={value!r}" for name, value in targets.items() if value is not None]


Targets = Annotated[
    Metrics | Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=50)],
    AfterValidator(_written),
]


class ReportRequest(Wire):
    """Step 6: what steps 4 and 5 answered."""

    evaluation_id: Id
    dataset_id: Id
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", examples=["2024-03-15"])] | None = (
        None
    )
    overall_metrics: Metrics
    total_queries: Count
    skipped_queries: Count = 0
    speaker_specific_metrics: BySpeaker = Field(default_factory=dict)
    targets: Targets = Field(
        default=["P@5>0.65"],
        description="What to reach: P@5>0.65 (above), P@5>=65%, or numbers by metric.",
    )


class SaveRequest(Wire):
    """Step 7: a whole evaluation."""

    evaluation_id: Id
    dataset_id: Id
    timestamp: Annotated[str, Field(max_length=40, examples=["2024-03-15T16:00:00Z"])] | None = None
    retrieval_config: Annotated[Json, Field(max_length=50)] = Field(default_factory=dict)
    overall_metrics: Metrics
    total_queries: Count
    skipped_queries: Count = 0
    speaker_specific_metrics: BySpeaker = Field(default_factory=dict)
    per_query: Annotated[list[QueryMetrics], Field(max_length=limits.MAX_UPLOAD_QUERIES)] = Field(
        default_factory=list
    )
