"""What does an evaluation take and answer?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field, create_model

from assay.app.evaluation_request import COMMIT_FORM, REQUEST_OPTIONS
from assay.app.workflow import Speaker
from assay.http.wire.base import Answer, Id, Json, Whole, Wire
from assay.http.wire.search import RetrievalParameters, parameters
from assay.http.wire.statistics import MOST_RESAMPLES, MeasureList
from assay.http.wire.workflow import Cutoff, SearchConfig

if TYPE_CHECKING:

    class EvaluationOptions(RetrievalParameters):
        """How a test set is run and scored: the options of ``assay eval run``."""

        measure: list[str]
        measures: list[str]

    class EvaluateParameters(EvaluationOptions):
        """The parameters of ``POST /v1/evaluate``."""

        evaluation_id: str | None
        commit: str | None

else:
    _OPTIONS = {
        **parameters(REQUEST_OPTIONS.values()),
        "resamples": (
            Annotated[int | None, Whole],
            Field(None, ge=1, le=MOST_RESAMPLES, description=REQUEST_OPTIONS["resamples"].help),
        ),
        "measure": (MeasureList, Field([], description=REQUEST_OPTIONS["measures"].help)),
        "measures": (MeasureList, Field([], description="As measure.")),
    }
    EvaluationOptions = create_model("EvaluationOptions", __base__=RetrievalParameters, **_OPTIONS)
    EvaluateParameters = create_model(
        "EvaluateParameters",
        __base__=EvaluationOptions,
        evaluation_id=(
            Id | None,
            Field(
                None, description="Names the evaluation; the same id with another body is an error."
            ),
        ),
        commit=(
            str | None,
            Field(
                None,
                pattern=f"^{COMMIT_FORM.pattern}$",
                description="Commit of the code that is evaluated, kept with the run.",
            ),
        ),
    )


def request_options(given: EvaluationOptions) -> Json:
    """The options of the evaluation that were given, beside those of the search."""
    values = {name: getattr(given, name) for name in REQUEST_OPTIONS}
    values["measures"] = " ".join((*given.measure, *given.measures)) or None
    return {name: value for name, value in values.items() if value not in (None, [])}


class RunConfig(SearchConfig):
    """How the queries of a dataset are searched and scored; by default reranked as configured."""

    rerank: bool | None = None
    top_k: Annotated[list[Cutoff], Field(min_length=1, max_length=50)] | None = None


class Trigger(Wire):
    """An evaluation of a dataset that the service has."""

    evaluation_id: Id | None = None
    dataset_id: Id
    retrieval_config: RunConfig = RunConfig()
    speaker_modes: Annotated[list[Speaker], Field(min_length=1, max_length=3)] | None = None


class ScheduleBody(Wire):
    """When the clock starts an evaluation, and of which test set."""

    when: Annotated[
        str,
        Field(
            max_length=100,
            description="Minute, hour, day, month, weekday, as cron has them; times are UTC.",
            examples=["0 3 * * 1"],
        ),
    ]
    test_set: Id


class EvaluateAnswer(Answer):
    """The metrics of an evaluation, and what they rest on."""

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
    per_origin: Annotated[
        dict[str, dict[str, float | int | None]],
        Field(description="By people and synthetic, where queries were made from the corpus."),
    ] = Field(default_factory=dict)
    test_set: dict[str, str]
    cached: bool
    total_queries: int
    scored_queries: int
    skipped_queries: int
    failed_queries: int
    failed_answers: int
    degraded: bool
    warnings: list[str]
    aggregates: Json
    latency_ms: dict[str, Any]


class CrossModeAnswer(Answer):
    """The same queries on recorded and on live documents: ``mode=cross-mode``."""

    evaluation_id: str
    modes: dict[str, Json] = Field(description="OFFLINE and LIVE, each as a single evaluation.")
    difference: Json = Field(
        description="LIVE minus OFFLINE, over the queries of both; the others are named."
    )
    warnings: list[str]
