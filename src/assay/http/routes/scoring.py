"""Which measures are there, and how good are these runs or decisions by them?

Everything is in the request: nothing of the workspace is read or written.
"""

from __future__ import annotations

from fastapi.responses import JSONResponse

from assay.app import scoring
from assay.app.statistics import Statistics
from assay.errors import InputError
from assay.evaluation.sampling import Sampling
from assay.http.routing import Reader, ServiceOf, answer_with, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Json
from assay.http.wire.scoring import (
    ClassifyRequest,
    MeasureRow,
    ScoreRequest,
)
from assay.http.wire.statistics import SamplingRequest
from assay.render.measures import measures_json
from assay.render.scores import scores_json

MOST_DRAWN = 300_000_000
"""Rows times resamples: what a few seconds of a core draw."""

router = new_router("measures", prefix="/v1")


@router.get(
    "/measures",
    responses={**answer_with("Every known measure", measures=list[MeasureRow]), **refusals()},
)
async def measures(service: ServiceOf, caller: Reader) -> JSONResponse:
    """Every measure, its parameters and what it means."""
    del service, caller
    return JSONResponse({"measures": measures_json()})


@router.post(
    "/score",
    responses={
        **answer_with("The scores, in the order sent", runs=list[Json], comparison=Json | None),
        **refusals(),
    },
)
async def score_runs(asked: ScoreRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Score runs that come with the request; with several, each is tested against the first."""
    del caller
    return JSONResponse(await service.work(lambda: _scored(service, asked)))


@router.post(
    "/classify",
    responses={
        **answer_with(
            "The measures of decisions with their intervals",
            n=int,
            positives=int,
            negatives=int,
            metrics=dict[str, float | None],
            aggregates=Json,
            delong=Json,
            sampling=Json,
        ),
        **refusals(),
    },
)
async def classify_decisions(
    asked: ClassifyRequest, service: ServiceOf, caller: Reader
) -> JSONResponse:
    """Measure yes/no decisions from labels and scores."""
    del caller
    sampling = _sampling(service, asked, len(asked.labels))
    decisions = await service.work(
        lambda: scoring.classify_rows(
            service.settings,
            asked.labels,
            asked.scores,
            asked.measures,
            clusters=asked.clusters,
            sampling=sampling,
        )
    )
    return JSONResponse(decisions.to_dict())


def _scored(service: Service, asked: ScoreRequest) -> Json:
    request = scoring.ScoreRequest(
        qrels=asked.qrels,
        runs=asked.runs,
        measures=asked.measures,
        match=asked.match,
        protocol=asked.protocol,
        undefined=asked.undefined,
        depth=asked.depth,
        score_dtype=asked.score_dtype,
        chunk_separator=asked.chunk_separator,
        by=asked.by,
        clusters=asked.clusters,
        sampling=_sampling(service, asked, len(asked.qrels) * len(asked.runs)),
        alpha=asked.alpha,
        margin=asked.margin,
    )
    scored = scoring.score_runs(service.settings, request)
    body = scores_json(
        scored.runs,
        scored.comparison,
        ci=asked.ci,
        per_query=asked.per_query,
        groups=scored.groups,
    )
    return body if scored.comparison is not None else {"runs": [body], "comparison": None}


def _sampling(service: Service, asked: SamplingRequest, rows: int) -> Sampling:
    """How intervals are drawn; refused where that would take minutes."""
    drawn = asked.model_dump(include={"confidence", "resamples", "seed", "ci_method"})
    sampling = Statistics(**drawn).applied_to(service.settings).sampling
    if rows * sampling.resamples > MOST_DRAWN:
        raise InputError(
            f"{rows:,} rows times {sampling.resamples:,} resamples take too long",
            hint="ask for fewer resamples",
        )
    return sampling
