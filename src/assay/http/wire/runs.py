"""What do routes about runs take, and what do they say of one query?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from assay import limits
from assay.http.wire.base import Json, Wire
from assay.http.wire.statistics import Alpha, CiMethod, Measures, Resamples, Seed, StatisticsRequest
from assay.model.codec import json_schema
from assay.model.ranking import MatchName
from assay.model.runs import QueryOutcome

Ref = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:#~-]{0,127}$",
        description="A run: its id or the beginning of it, a tag, a name, latest or latest~1.",
        examples=["latest"],
    ),
]


Repeats = Annotated[
    int,
    Field(
        ge=0,
        le=limits.MAX_LATENCY_REPEATS,
        description="How often the configurations of both runs are timed in turn, as a job; this "
        "needs the scope evaluate.",
    ),
]


class CompareBody(Wire):
    """Two runs of one test set."""

    a: Ref
    b: Ref
    measures: Measures | None = None
    strict_chunker_version: bool = False


class AbBody(StatisticsRequest):
    """Two runs, and how the difference is tested."""

    a: Ref
    b: Ref
    measures: Measures | None = None
    strict_chunker_version: bool = False
    by_group: bool = Field(False, description="Resample queries of one group together.")
    latency_repeats: Repeats | None = None


class GateBody(Wire):
    """A run to check against a baseline."""

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
    latency_repeats: Repeats | None = None
    alpha: Alpha | None = None
    seed: Seed | None = None
    resamples: Resamples | None = None
    ci_method: CiMethod | None = None


class PushedRun(Wire):
    """A whole run, as ``GET /v1/runs/{ref}/export`` gives it."""

    format: Literal["assay-run-1"]
    info: Annotated[Json, Field(max_length=64)]
    test_set: Annotated[Json, Field(max_length=64)]
    outcomes: Annotated[list[dict[str, Any]], Field(max_length=limits.MAX_UPLOAD_QUERIES)]


class RescoreBody(Wire):
    """The measures to add to those that the run has."""

    measures: Measures | None = None
    match: MatchName | None = None


def query_schema() -> Json:
    """The schema of one query of a run: its outcome, and its judgments with ranks."""
    outcome = json_schema(QueryOutcome)
    own = {
        "query_text": {"type": "string"},
        "query_type": {"type": ["string", "null"]},
        "relevant_docs": {"type": "array", "items": {"type": "object"}},
    }
    return {
        "type": "object",
        "properties": {**outcome["properties"], **own},
        "required": [*outcome["required"], *own],
    }
