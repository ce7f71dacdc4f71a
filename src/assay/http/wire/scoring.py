"""What do scoring, the measures of decisions and the list of measures take and answer?"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay import limits
from assay.http.wire.base import Answer, Json, Wire
from assay.http.wire.statistics import Alpha, Measures, Seed

MAX_ROWS = 50_000
MOST_RESAMPLES = 20_000

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
Level = Annotated[float, Field(gt=0, lt=1, description="Level of the intervals.")]
Resamples = Annotated[int, Field(ge=1, le=MOST_RESAMPLES, description="Of the bootstrap.")]


class SamplingRequest(Wire):
    """How intervals are drawn; what is not given is configured."""

    confidence: Level | None = None
    resamples: Resamples | None = None
    seed: Seed | None = None
    ci_method: Literal["bca", "percentile"] | None = None


class ScoreRequest(SamplingRequest):
    """Judgments, and the runs to hold against them: documents with scores, or best first."""

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
            max_length=limits.MAX_RUNS,
            examples=[{"bm25": {"q1": {"PMC1:chunk_0": 12.5}}, "dense": {"q1": ["PMC2:chunk_4"]}}],
        ),
    ]
    measures: Measures | None = None
    match: Literal["exact", "chunk", "doc"] = "exact"
    protocol: Literal["positives_only", "all_queries"] | None = None
    undefined: Literal["skip", "zero"] = "skip"
    score_dtype: Literal["float64", "float32"] = "float64"
    depth: Annotated[int, Field(ge=1, le=limits.MAX_BATCH_IDS)] | None = None
    chunk_separator: Annotated[str, Field(min_length=1, max_length=40)] = ":chunk_"
    by: Groups | None = Field(None, description="Break down by these groups of queries.")
    clusters: Groups | None = Field(None, description="Resample queries of one group together.")
    ci: bool = False
    per_query: bool = False
    alpha: Alpha | None = None
    margin: Annotated[float, Field(ge=0, le=1)] | None = None


class ScoreAnswer(Answer):
    """Each run's scores in the order sent; with several, each against the first."""

    runs: list[Json]
    comparison: Json | None


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


class ClassifyAnswer(Answer):
    """The measures of decisions with their intervals."""

    n: int
    positives: int
    negatives: int
    metrics: dict[str, float | None]
    aggregates: Json
    delong: Json
    sampling: Json


class MeasureParameter(Answer):
    """One parameter of a measure."""

    default: str | int | float | bool | None
    help: str
    choices: list[str] | None


class MeasureRow(Answer):
    """One measure and what it is."""

    name: str = Field(examples=["nDCG"])
    form: str = Field(examples=["nDCG@k, nDCG"])
    key: str = Field(examples=["ndcg"])
    family: str
    cutoff: str
    aliases: list[str]
    parameters: dict[str, MeasureParameter]
    help: str


class MeasuresAnswer(Answer):
    """Every measure that is known."""

    measures: list[MeasureRow]
