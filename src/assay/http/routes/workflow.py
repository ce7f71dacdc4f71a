"""How does a dataset become a saved result, step by step?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Response
from fastapi.responses import JSONResponse

from assay.app import saved, workflow
from assay.http.routes.testsets import HeldOut, check_may_reveal
from assay.http.routing import Evaluator, Reader, ServiceOf, answer_with, answers, refusals
from assay.http.routing import router as new_router
from assay.http.wire.base import Id
from assay.http.wire.workflow import (
    BatchRequest,
    MetricsRequest,
    PerQuery,
    ReportRequest,
    SaveRequest,
)
from assay.model.codec import decode, encode

router = new_router("workflow", prefix="/api")

MEANS = Mapping[str, float | None]
MARKDOWN: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}
}


@router.get(
    "/evaluation/dataset/{dataset_id}", responses={**answers(workflow.Dataset), **refusals(404)}
)
async def dataset(
    dataset_id: Id, service: ServiceOf, caller: Reader, held_out: HeldOut = False
) -> JSONResponse:
    """Step 1: the queries of a dataset and what answers them, without a held-out part."""
    if held_out:
        check_may_reveal(caller)
    found = await service.work(
        lambda: workflow.dataset(service.workspace, dataset_id, held_out=held_out)
    )
    return JSONResponse(encode(found))


@router.post("/retrieval/batch", responses={**answers(list[workflow.RetrievedQuery]), **refusals()})
async def batch(body: BatchRequest, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Step 2: search for several queries, which are not added to the query log."""
    del caller
    await service.searcher()  # refused at once if nothing can be searched
    request = decode(workflow.BatchRequest, body.model_dump())
    return JSONResponse(encode(await workflow.retrieve(service.workspace, request)))


@router.post(
    "/evaluation/compute_metrics", responses={**answers(workflow.QueryMetrics), **refusals()}
)
async def compute_metrics(body: MetricsRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Step 3: the metrics of one query."""
    del caller
    request = decode(workflow.MetricsRequest, body.model_dump())
    return JSONResponse(encode(await service.work(lambda: workflow.query_metrics(request))))


@router.post(
    "/evaluation/aggregate",
    responses={
        **answer_with(
            "Means over the queries that have ground truth",
            overall_metrics=MEANS,
            total_queries=int,
            skipped_queries=int,
        ),
        **refusals(),
    },
)
async def aggregate_metrics(body: PerQuery, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Step 4: means over all queries."""
    del caller
    return JSONResponse(await service.work(lambda: workflow.aggregate(_rows(body))))


@router.post(
    "/evaluation/speaker_breakdown",
    responses={
        **answer_with("Means by speaker filter", speaker_specific_metrics=Mapping[str, MEANS]),
        **refusals(),
    },
)
async def breakdown(body: PerQuery, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Step 5: means for each speaker filter."""
    del caller
    return JSONResponse(await service.work(lambda: workflow.speaker_breakdown(_rows(body))))


@router.post(
    "/evaluation/report",
    response_class=Response,
    responses={**refusals(), **MARKDOWN},
)
async def report(body: ReportRequest, service: ServiceOf, caller: Reader) -> Response:
    """Step 6: a report in Markdown, with insights that follow from the numbers."""
    del service, caller
    text = workflow.workflow_report(decode(workflow.ReportRequest, body.model_dump()))
    return Response(text, media_type="text/markdown; charset=utf-8")


@router.post(
    "/evaluation/save",
    responses={**answers(saved.Saved), **refusals(409)},
)
async def save(body: SaveRequest, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Step 7: store the result; storing the same one again changes nothing.

    With the `retrieved_segment_ids` of every query it is a run like any other, whose figures are
    computed again. Without, the figures alone are kept: they can be shown and followed over time,
    and are refused where runs are compared, gated or bundled.
    """
    del caller
    request = decode(saved.SaveRequest, body.model_dump())
    kept = await service.work(lambda: saved.save_evaluation(service.workspace, request))
    return JSONResponse(encode(kept))


def _rows(body: PerQuery) -> list[workflow.QueryMetrics]:
    return [decode(workflow.QueryMetrics, row.model_dump()) for row in body]
