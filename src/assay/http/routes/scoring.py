"""Which measures are there, and how good are these runs or decisions by them?

Everything is in the request: nothing of the workspace is read or written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi.responses import JSONResponse

from assay.evaluation.decisions import classify
from assay.evaluation.defaults import DECISION_MEASURES
from assay.evaluation.sampling import Sampling
from assay.evaluation.score import score
from assay.evaluation.significance import compare
from assay.hits.groups import load_groups
from assay.hits.qrels import load_qrels
from assay.http.routing import Reader, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
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
    found = await service.work(
        lambda: classify(
            asked.labels,
            asked.scores,
            asked.measures or DECISION_MEASURES,
            sampling=_sampling(service, asked),
            clusters=asked.clusters,
        )
    )
    return JSONResponse(found.to_dict())


def _scored(service: Service, asked: ScoreRequest) -> dict[str, Any]:
    qrels = load_qrels(asked.qrels)
    runs = [
        score(
            qrels,
            run,
            asked.measures or service.config.measures,
            name=name,
            protocol=asked.protocol,
            undefined=asked.undefined,
            match=asked.match,
            depth=asked.depth,
            score_dtype=asked.score_dtype,
            sampling=_sampling(service, asked),
            clusters=asked.clusters,
        )
        for name, run in asked.runs.items()
    ]
    labels = None if asked.by is None else load_groups(asked.by, qrels)
    groups = {} if labels is None else {scores.name: scores.by(labels) for scores in runs}
    comparison = None
    if len(runs) > 1:
        alpha = service.config.alpha if asked.alpha is None else asked.alpha
        margin = service.config.margin if asked.margin is None else asked.margin
        comparison = compare(*runs, alpha=alpha, margin=margin)
    plain = scores_json(runs, comparison, ci=asked.ci, per_query=asked.per_query, groups=groups)
    return plain if comparison is not None else {"runs": [plain], "comparison": None}


def _sampling(service: Service, asked: SamplingRequest) -> Sampling:
    usual = service.config.sampling
    return replace(
        usual,
        level=usual.level if asked.confidence is None else asked.confidence,
        resamples=usual.resamples if asked.resamples is None else asked.resamples,
        seed=usual.seed if asked.seed is None else asked.seed,
    )
