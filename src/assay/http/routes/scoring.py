"""Which measures are there, and how good are these runs or decisions by them?

Everything is in the request; the workspace is neither read nor written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi.responses import JSONResponse

from assay.app import scoring
from assay.app.statistics import Measures, Statistics
from assay.app.workspace import Workspace
from assay.http.routing import Reader, ServiceOf, answer_with, computed, refusals
from assay.http.routing import router as new_router
from assay.http.wire.base import Json
from assay.http.wire.scoring import (
    ClassifyRequest,
    MeasureRow,
    ScoreRequest,
)
from assay.http.wire.statistics import SamplingRequest
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
    del caller
    request = _request(body)
    shown = {"ci": body.ci, "per_query": body.per_query}
    return await computed(
        service, lambda here: request.seconds(here.settings), _scored, request, shown
    )


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
    del caller
    rows, statistics = len(body.labels), _statistics(body)
    given = (body.labels, body.scores, body.measures, body.clusters, statistics)
    return await computed(
        service,
        lambda here: scoring.classify_seconds(here.settings, rows, body.measures, statistics),
        _classified,
        *given,
    )


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


def _scored(
    workspace: Workspace, request: scoring.ScoreRequest, shown: dict[str, bool]
) -> JSONResponse:
    scored = scoring.score_runs(workspace.settings, request)
    answer = scores_json(
        scored.runs,
        scored.comparison,
        groups=scored.groups,
        failed=None if request.compare else scored.failed,
        **shown,
    )
    if request.compare and scored.comparison is None:
        answer = {"runs": [answer]}
    return JSONResponse({"comparison": None, "failed": [], **answer})


def _classified(
    workspace: Workspace,
    labels: Sequence[Any],
    scores: Sequence[float],
    measures: Measures | None,
    clusters: Sequence[str] | None,
    statistics: Statistics,
) -> JSONResponse:
    return JSONResponse(
        scoring.classify_rows(
            workspace.settings, labels, scores, measures, clusters=clusters, statistics=statistics
        ).to_dict()
    )


def _statistics(body: SamplingRequest, **tests: Any) -> Statistics:
    """How intervals are drawn."""
    drawn = body.model_dump(include={"confidence", "resamples", "seed", "ci_method"})
    return Statistics(**drawn, **tests)
