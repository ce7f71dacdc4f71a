"""What do the seven steps of the evaluation workflow take and answer?"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay import limits
from assay.app.workflow import DEFAULT_CUTOFFS, Speaker
from assay.http.wire.base import Answer, Id, Json, QueryText, Text, Wire

SegmentIds = Annotated[list[Id], Field(max_length=limits.MAX_BATCH_IDS)]
Cutoff = Annotated[int, Field(ge=1, le=limits.MAX_RESULTS)]
MetricName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$", examples=["precision_at_5"])]
Value = Annotated[float, Field(ge=0, le=1)]
Metrics = Annotated[dict[MetricName, Value | None], Field(max_length=200)]
Count = Annotated[int, Field(ge=0, le=10_000_000)]


class DatasetQuery(Answer):
    """One query of a dataset and what answers it."""

    query_id: str = Field(examples=["test_q1"])
    query_text: str = Field(examples=["What headache symptoms were reported?"])
    relevant_segment_ids: list[str] = Field(examples=[["uuid-1", "uuid-5", "uuid-12"]])
    speaker_filter: Speaker
    query_type: str | None = None
    expect: Literal["evidence", "refusal", "nothing"] = "evidence"
    grades: dict[str, int] = Field(description="The grade of every judged segment.")


class DatasetAnswer(Answer):
    """Step 1: test queries and what is known about them."""

    dataset_id: str = Field(examples=["test_set_v1"])
    version: str
    interview_ids: list[str]
    test_queries: list[DatasetQuery]
    total_queries: int


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


class SegmentHit(Answer):
    """One segment that was found."""

    segment_id: str
    doc_id: str
    rank: int
    score: float
    text: str
    speaker_role: str
    component_scores: dict[str, float | None]


class RetrievalResult(Answer):
    """What came back for one query; ``error`` where it failed, and then nothing came back."""

    query_id: str
    retrieved_segment_ids: list[str]
    results: list[SegmentHit]
    components_used: list[str]
    component_errors: list[str]
    degraded: bool
    reranked: bool
    latency_ms: float
    error: str | None


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
    """The metrics of one query: what step 3 answers and steps 4 and 5 take."""

    query_id: Id
    metrics: Metrics
    retrieved_relevant: Count = 0
    total_relevant: Count = 0
    speaker_filter: Speaker | None = None
    skipped: bool = False
    reason: Text | None = None


class MetricsAnswer(Answer):
    """Step 3: the metrics of one query; without ground truth each is null, with the reason."""

    query_id: str
    metrics: dict[str, float | None]
    retrieved_relevant: int
    total_relevant: int
    speaker_filter: Speaker | None
    skipped: bool
    reason: str | None


PerQuery = Annotated[list[QueryMetrics], Field(min_length=1, max_length=limits.MAX_UPLOAD_QUERIES)]


class AggregateAnswer(Answer):
    """Step 4: means over all queries that have ground truth."""

    overall_metrics: dict[str, float | None]
    total_queries: int
    skipped_queries: int


class BreakdownAnswer(Answer):
    """Step 5: the same means for the queries of each speaker filter."""

    speaker_specific_metrics: dict[str, dict[str, float | int | None]]


BySpeaker = Annotated[
    dict[Speaker, dict[MetricName, Annotated[float, Field(ge=0)] | None]],
    Field(max_length=3),
]


def _targets() -> dict[str, float | None]:
    return {"precision_at_5": 0.65}


class ReportRequest(Wire):
    """Step 6: everything that steps 4 and 5 answered."""

    evaluation_id: Id
    dataset_id: Id
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", examples=["2024-03-15"])] | None = (
        None
    )
    overall_metrics: Metrics
    total_queries: Count
    skipped_queries: Count = 0
    speaker_specific_metrics: BySpeaker = Field(default_factory=dict)
    targets: Metrics = Field(default_factory=_targets)


class SaveRequest(Wire):
    """Step 7: a whole evaluation."""

    evaluation_id: Id
    dataset_id: Id
    timestamp: Annotated[str, Field(max_length=40)] | None = None
    retrieval_config: Annotated[Json, Field(max_length=50)] = Field(default_factory=dict)
    overall_metrics: Metrics
    total_queries: Count
    skipped_queries: Count = 0
    speaker_specific_metrics: BySpeaker = Field(default_factory=dict)
    per_query: Annotated[list[QueryMetrics], Field(max_length=limits.MAX_UPLOAD_QUERIES)] = Field(
        default_factory=list
    )


class SaveAnswer(Answer):
    """Step 7: it is on the disk."""

    evaluation_id: str
    status: Literal["saved"]
    timestamp: str
