"""What do routes about runs take and answer?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from assay import limits
from assay.http.wire.base import Answer, Json, Wire
from assay.model.ranking import MatchName

Ref = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:#~-]{0,127}$",
        description="A run: its id or the beginning of it, a tag, a name, latest, latest~1.",
        examples=["latest"],
    ),
]
MeasureText = Annotated[str, Field(min_length=1, max_length=200, examples=["nDCG@10"])]
Measures = Annotated[list[MeasureText], Field(min_length=1, max_length=limits.MAX_MEASURES)]

Alpha = Annotated[float, Field(gt=0, lt=1, description="Level of the tests.", examples=[0.05])]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1, description="Decides every random choice.")]


class RunBody(Answer):
    """Everything that is known of a run, but for its outcomes."""

    run_id: str
    name: str
    suite: str
    test_set_version: str
    test_set_checksum: str
    part: str
    status: Literal["running", "interrupted", "complete", "failed"]
    created_at: str
    finished_at: str | None
    queries: int
    tags: list[str]
    engine: str
    generation: str
    config: Json
    config_hash: str
    cache_key: str
    commit_hash: str
    models: dict[str, str]
    chunker_versions: list[str]
    seed: int
    aggregate: Json


class RunsAnswer(Answer):
    """Some runs, newest first, and how many there are in all."""

    total: int
    runs: list[RunBody]


class OutcomesAnswer(Answer):
    """What happened to some queries of a run."""

    run_id: str
    total: int
    outcomes: list[Json]


class TagAnswer(Answer):
    """The tags of a run."""

    run_id: str
    tags: list[str]


class DeletedAnswer(Answer):
    """What was deleted."""

    deleted: str


class CompareRequest(Wire):
    """Two runs of one test set."""

    a: Ref
    b: Ref
    measures: Measures | None = None
    strict_chunker_version: bool = False


class AbRequest(CompareRequest):
    """Two runs, and how sure one wants to be."""

    alpha: Alpha | None = None
    margin: Annotated[float, Field(ge=0, le=1)] | None = None


class GateRequest(Wire):
    """A run held against a baseline."""

    baseline: Ref
    current: Ref
    limits: (
        Annotated[
            list[Annotated[str, Field(min_length=1, max_length=100, examples=["Recall@10=5%"])]],
            Field(min_length=1, max_length=50),
        ]
        | None
    ) = None
    non_inferiority: bool = False
    alpha: Alpha | None = None
    seed: Seed | None = None


class PushedRun(Wire):
    """A whole run, as ``GET /v1/runs/{ref}/export`` answers it."""

    format: Literal["assay-run-1"]
    info: Annotated[Json, Field(max_length=64)]
    test_set: Annotated[Json, Field(max_length=64)]
    outcomes: Annotated[list[dict[str, Any]], Field(max_length=limits.MAX_UPLOAD_QUERIES)]


class PushAnswer(Answer):
    """The run is on the disk; ``new`` is false where it was there before."""

    run_id: str
    new: bool


class RescoreRequest(Wire):
    """Which measures are added to those that the run has."""

    measures: Measures | None = None
    match: MatchName = "exact"


class HistoryRow(Answer):
    """One run of a suite."""

    run_id: str
    name: str
    created_at: str
    test_set_version: str
    part: str
    tags: list[str]
    metrics: dict[str, float | None]


class HistoryAnswer(Answer):
    """Complete runs of a suite, the oldest first, and the trend of each measure."""

    suite: str
    runs: list[HistoryRow]
    trend: dict[str, Json | None]


class QueryOutcomeAnswer(Answer):
    """One query with its judgments and everything that is kept of its answer."""

    model_config = ConfigDict(extra="allow")

    query_id: str
    query_text: str
    query_type: str | None
    relevant_docs: list[Json]
    results: list[Json]
