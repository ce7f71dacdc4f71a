"""What do scoring and classification take, and what does the list of measures say?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from assay import limits
from assay.http.wire.statistics import Measures, SamplingRequest, StatisticsRequest

MAX_ROWS = 50_000

Name = Annotated[str, Field(min_length=1, max_length=limits.MAX_ID_BYTES)]
Grades = Annotated[
    dict[Name, Annotated[int, Field(ge=-1, le=limits.MAX_GRADE)]],
    Field(min_length=1, max_length=limits.MAX_UPLOAD_JUDGMENTS),
]
Scored = Annotated[dict[Name, float], Field(max_length=limits.MAX_BATCH_IDS)]
Listed = Annotated[list[Name], Field(max_length=limits.MAX_BATCH_IDS)]
Run = Annotated[dict[Name, Scored | Listed], Field(max_length=limits.MAX_UPLOAD_QUERIES)]
RunName = Annotated[str, Field(pattern=r"^[\w .:+-]{1,80}$")]
Groups = Annotated[dict[Name, Name], Field(max_length=limits.MAX_UPLOAD_QUERIES)]


class ScoreRequest(StatisticsRequest):
    """Judgments, and the runs to score: documents with scores, or documents best first."""

    qrels: Annotated[
        dict[Name, Grades],
        Field(
            min_length=1,
            max_length=limits.MAX_UPLOAD_QUERIES,
            examples=[{"q1": {"PMC1:chunk_0": 3, "PMC2:chunk_4": 1}}],
        ),
    ]
    runs: Annotated[
        dict[RunName, Run],
        Field(
            min_length=1,
            max_length=limits.MAX_SCORED_RUNS,
            examples=[{"bm25": {"q1": {"PMC1:chunk_0": 12.5}}, "dense": {"q1": ["PMC2:chunk_4"]}}],
        ),
    ]
    measures: Measures | None = None
    match: Literal["exact", "chunk", "doc"] = "exact"
    protocol: Literal["positives_only", "all_queries"] | None = None
    undefined: Literal["skip", "zero"] = "skip"
    score_dtype: Literal["float64", "float32"] = "float64"
    depth: Annotated[int, Field(ge=1, le=limits.MAX_BATCH_IDS)] | None = None
    chunk_separator: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    by: Groups | None = Field(None, description="Break down by these groups of queries.")
    clusters: Groups | None = Field(None, description="Resample queries of one group together.")
    ci: bool = False
    per_query: bool = False
    compare: bool = Field(
        True, description="Test each run against the first; if not, a bad run fails alone."
    )


class ClassifyRequest(SamplingRequest):
    """Labels (1 is yes) and scores of decisions, row by row."""

    labels: Annotated[
        list[Annotated[int, Field(ge=0, le=1)]],
        Field(min_length=1, max_length=MAX_ROWS, examples=[[1, 0, 1, 0]]),
    ]
    scores: Annotated[
        list[float], Field(min_length=1, max_length=MAX_ROWS, examples=[[0.9, 0.2, 0.6, 0.7]])
    ]
    clusters: Annotated[list[Name], Field(max_length=MAX_ROWS)] | None = Field(
        None, description="Rows of one cluster (a post, an interview) are resampled together."
    )
    measures: Measures | None = Field(None, examples=[["AUROC", "Sensitivity(t=0.5)"]])


@dataclass(frozen=True, slots=True)
class MeasureParameter:
    """One parameter of a measure."""

    default: str | int | float | bool | None
    help: str
    choices: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One measure and what it is."""

    name: str
    form: str
    key: str
    family: str
    cutoff: str
    aliases: tuple[str, ...]
    parameters: Mapping[str, MeasureParameter]
    help: str
