"""Which measures are there, and how good are these runs or decisions by them?

Everything is in the request; the workspace is neither read nor written.
"""

from __future__ import annotations

from typing import Any

from fastapi.responses import JSONResponse

from assay.app import scoring
from assay.app.statistics import Statistics
from assay.http.routing import Reader, ServiceOf, answer_with, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Json
from assay.http.wire.scoring import (
    ClassifyRequest,
    MeasureRow,
    ScoreRequest,
)
from assay.http.wire.statistics import SamplingRequest, check_cost
from assay.render.measures import Elsewhere, elsewhere_json, measures_json
from assay.render.scores import scores_json

router = new_router("measures", prefix="/v1")


@router.get(
    "/measures",
    responses={
        **answer_with(
            "Every known measure, and which figure of other tools equals which",
            measures=list[MeasureRow],
            elsewhere=list[Elsewhere],
        ),
        **refusals(),
    },
)
async def measures(service: ServiceOf, caller: Reader) -> JSONResponse:
    """Every measure, its parameters and what it means, and what other tools call it."""
    del service, caller
    return JSONResponse({"measures": measures_json(), "elsewhere": elsewhere_json()})


@router.post(
    "/score",
    responses={
        **answer_with(
            "The scores, in the order sent; what failed, where runs are not compared",
            runs=list[Json],
            comparison=Json | None,
            failed=list[Json],
        ),
        **refusals(),
    },
)
async def score_runs(body: ScoreRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Score runs that come with the request; with several, each is tested against the first.

    Without `compare` they are only scored.
    """
    request = _request(body)
    cost = check_cost(request.seconds(service.settings))
    service.spend(caller.name, cost)
    return JSONResponse(await service.work(lambda: _scored(service, body, request), paid=cost))


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
    body: ClassifyRequest, service: ServiceOf, caller: Reader
) -> JSONResponse:
    """Measure yes/no decisions from labels and scores."""
    statistics = _statistics(body)
    cost = scoring.classify_seconds(service.settings, len(body.labels), body.measures, statistics)
    service.spend(caller.name, check_cost(cost))
    decisions = await service.work(
        lambda: scoring.classify_rows(
            service.settings,
            body.labels,
            body.scores,
            body.measures,
            clusters=body.clusters,
            statistics=statistics,
        ),
        paid=cost,
    )
    return JSONResponse(decisions.to_dict())


def _request(body: ScoreRequest) -> scoring.ScoreRequest:
    return scoring.ScoreRequest(
        qrels=body.qrels,
        runs=body.runs,
        measures=body.measures,
        match=body.match,
        protocol=body.protocol,
        undefined=body.undefined,
        depth=body.depth,
        score_dtype=body.score_dtype,
        chunk_separator=body.chunk_separator,
        by=body.by,
        clusters=body.clusters,
        compare=body.compare,
        statistics=_statistics(body, alpha=body.alpha, margin=body.margin),
    )


def _scored(service: Service, body: ScoreRequest, request: scoring.ScoreRequest) -> Json:
    scored = scoring.score_runs(service.settings, request)
    answer = scores_json(
        scored.runs,
        scored.comparison,
        ci=body.ci,
        per_query=body.per_query,
        groups=scored.groups,
        failed=None if body.compare else scored.failed,
    )
    if body.compare and scored.comparison is None:
        answer = {"runs": [answer]}
    return {"comparison": None, "failed": [], **answer}


def _statistics(body: SamplingRequest, **tests: Any) -> Statistics:
    """How intervals are drawn."""
    drawn = body.model_dump(include={"confidence", "resamples", "seed", "ci_method"})
    return Statistics(**drawn, **tests)
