"""Which measures are there, and how good are these runs or decisions by them?

Everything is in the request: nothing of the workspace is read or written.
"""

from __future__ import annotations

from fastapi.responses import JSONResponse

from assay.app import scoring
from assay.app.statistics import Statistics
from assay.errors import InputError
from assay.http.routing import Reader, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Json
from assay.http.wire.scoring import (
    ClassifyAnswer,
    ClassifyRequest,
    MeasuresAnswer,
    SamplingRequest,
    ScoreAnswer,
    ScoreRequest,
)
from assay.render.measures import measures_json
from assay.render.scores import scores_json

MOST_DRAWN = 300_000_000
"""Rows times resamples: what a few seconds of a core draw."""

router = new_router("measures", prefix="/v1")


@router.get("/measures", response_model=MeasuresAnswer, responses=refusals())
async def measures(service: ServiceOf, caller: Reader) -> JSONResponse:
    """Every measure, its parameters and what it means."""
    del service, caller
    return JSONResponse({"measures": measures_json()})


@router.post("/score", response_model=ScoreAnswer, responses=refusals())
async def score_runs(asked: ScoreRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Score runs that come with the request; with several, each is tested against the first."""
    del caller
    return JSONResponse(await service.work(lambda: _scored(service, asked)))


@router.post("/classify", response_model=ClassifyAnswer, responses=refusals())
async def classify_decisions(
    asked: ClassifyRequest, service: ServiceOf, caller: Reader
) -> JSONResponse:
    """Measure yes/no decisions from labels and scores."""
    del caller
    statistics = _statistics(service, asked, len(asked.labels))
    found = await service.work(
        lambda: scoring.classify_rows(
            service.config,
            asked.labels,
            asked.scores,
            asked.measures,
            clusters=asked.clusters,
            statistics=statistics,
        )
    )
    return JSONResponse(found.to_dict())


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
        statistics=_statistics(
            service,
            asked,
            len(asked.qrels) * len(asked.runs),
            alpha=asked.alpha,
            margin=asked.margin,
        ),
    )
    scored = scoring.score_runs(service.config, request)
    body = scores_json(
        scored.runs,
        scored.comparison,
        ci=asked.ci,
        per_query=asked.per_query,
        groups=scored.groups,
    )
    return body if scored.comparison is not None else {"runs": [body], "comparison": None}


def _statistics(
    service: Service, asked: SamplingRequest, rows: int, **tests: float | None
) -> Statistics:
    """How intervals are drawn; refused where that would take minutes."""
    statistics = Statistics(
        confidence=asked.confidence,
        resamples=asked.resamples,
        seed=asked.seed,
        ci_method=asked.ci_method,
        **tests,
    )
    if rows * statistics.applied_to(service.config).resamples > MOST_DRAWN:
        raise InputError(f"{rows} rows with so many resamples take too long: lower resamples")
    return statistics
