"""What do routes about runs take and answer?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from assay import limits
from assay.serve.wire.base import Answer, Json, Text, Wire

Ref = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:#~-]{0,127}$",
        description="A run: its id or the beginning of it, a tag, latest, latest~1.",
        examples=["latest"],
    ),
]
MeasureText = Annotated[str, Field(min_length=1, max_length=200, examples=["nDCG@10"])]
Measures = Annotated[list[MeasureText], Field(min_length=1, max_length=limits.MAX_MEASURES)]


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

    alpha: Annotated[float, Field(gt=0, lt=1)] | None = None
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


class ReportText(Answer):
    """A report in Markdown."""

    report: Text
