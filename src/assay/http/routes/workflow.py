"""The evaluation workflow, step by step: how does a dataset become a saved result?"""

from __future__ import annotations

from typing import Any

from fastapi import Response
from fastapi.responses import JSONResponse

from assay.app import testsets as datasets
from assay.app import workflow
from assay.evaluation.parts import part_of
from assay.http.routes.testsets import HeldOut, revealed
from assay.http.routing import Evaluator, Reader, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.wire.base import Id
from assay.http.wire.workflow import (
    AggregateAnswer,
    BatchRequest,
    BreakdownAnswer,
    DatasetAnswer,
    MetricsAnswer,
    MetricsRequest,
    PerQuery,
    ReportRequest,
    RetrievalResult,
    SaveAnswer,
    SaveRequest,
)
from assay.model.codec import decode, encode
from assay.model.testset import GoldenQuery, TestSet

router = new_router("workflow", prefix="/api")

MARKDOWN: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}
}


@router.get(
    "/evaluation/dataset/{dataset_id}", response_model=DatasetAnswer, responses=refusals(404)
)
async def dataset(
    dataset_id: Id, service: ServiceOf, caller: Reader, held_out: HeldOut = False
) -> JSONResponse:
    """Step 1: the queries of a dataset and what answers them, but for a held-out part."""
    found = await service.work(lambda: datasets.load(service.workspace.layout, dataset_id))
    shown = await revealed(service, caller, found) if held_out else part_of(found).test_set
    interviews = found.provenance.get("interview_ids", ())
    return JSONResponse(
        {
            "dataset_id": dataset_id,
            "version": found.version,
            "interview_ids": [str(one) for one in interviews] or _groups(found),
            "test_queries": [_query(query) for query in shown.queries],
            "total_queries": len(shown.queries),
        }
    )


@router.post("/retrieval/batch", response_model=list[RetrievalResult], responses=refusals())
async def batch(asked: BatchRequest, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Step 2: search for several queries; none of this reaches the query log."""
    del caller
    await service.searcher()  # refused at once where nothing can be searched
    request = decode(workflow.BatchRequest, asked.model_dump())
    return JSONResponse(await workflow.retrieve(service.workspace, request))


@router.post("/evaluation/compute_metrics", response_model=MetricsAnswer, responses=refusals())
async def compute_metrics(
    asked: MetricsRequest, service: ServiceOf, caller: Reader
) -> JSONResponse:
    """Step 3: the metrics of one query."""
    del caller
    request = decode(workflow.MetricsRequest, asked.model_dump())
    return JSONResponse(encode(await service.work(lambda: workflow.query_metrics(request))))


@router.post("/evaluation/aggregate", response_model=AggregateAnswer, responses=refusals())
async def aggregate_metrics(asked: PerQuery, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Step 4: means over all queries."""
    del caller
    return JSONResponse(await service.work(lambda: workflow.aggregate(_rows(asked))))


@router.post("/evaluation/speaker_breakdown", response_model=BreakdownAnswer, responses=refusals())
async def breakdown(asked: PerQuery, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Step 5: means for each speaker filter."""
    del caller
    return JSONResponse(await service.work(lambda: workflow.speaker_breakdown(_rows(asked))))


@router.post(
    "/evaluation/report",
    response_class=Response,
    responses={**refusals(), **MARKDOWN},
)
async def report(asked: ReportRequest, service: ServiceOf, caller: Reader) -> Response:
    """Step 6: a report in Markdown, with insights that follow from the numbers."""
    del service, caller
    text = workflow.workflow_report(decode(workflow.ReportRequest, asked.model_dump()))
    return Response(text, media_type="text/markdown; charset=utf-8")


@router.post("/evaluation/save", response_model=SaveAnswer, responses=refusals(409))
async def save(asked: SaveRequest, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Step 7: keep the result; the same one again changes nothing."""
    del caller
    request = decode(workflow.SaveRequest, asked.model_dump())
    runs = service.workspace.runs
    return JSONResponse(await service.work(lambda: workflow.save_evaluation(runs, request)))


def _rows(asked: PerQuery) -> list[workflow.QueryMetrics]:
    return [decode(workflow.QueryMetrics, row.model_dump()) for row in asked]


def _groups(found: TestSet) -> list[str]:
    """Where the set names no interviews, the groups of its queries are those."""
    return sorted({query.group for query in found.queries if query.group})


def _query(query: GoldenQuery) -> dict[str, object]:
    return {
        "query_id": query.query_id,
        "query_text": query.query_text,
        "relevant_segment_ids": [one.id for one in query.relevant_docs if one.grade > 0],
        "speaker_filter": query.speaker_filter.value,
        "query_type": query.query_type.value if query.query_type else None,
        "expect": query.expect.value,
        "grades": {one.id: one.grade for one in query.relevant_docs},
    }
