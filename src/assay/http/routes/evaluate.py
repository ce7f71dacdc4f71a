"""How good is the search on this test set?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from assay.app.evaluation import request_of
from assay.app.search import options_of_caller
from assay.http.job_answers import answered, idempotency_key, new_job_id, wants_waiting
from assay.http.routes.testsets import EXAMPLE
from assay.http.routing import Evaluator, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.wire.evaluate import EvaluateAnswer, EvaluateParameters
from assay.http.wire.jobs import JobBody
from assay.store.jobs import Job

router = new_router("evaluation", prefix="/v1")

BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": ["object", "array"]},
                "examples": {
                    "an uploaded test set": {"value": EXAMPLE},
                    "a dataset of the service": {
                        "value": {
                            "evaluation_id": "eval_run_001",
                            "dataset_id": "test_set_v1",
                            "retrieval_config": {
                                "top_k": [1, 3, 5, 10],
                                "rerank": False,
                                "search_mode": "hybrid",
                            },
                            "speaker_modes": ["ALL", "PATIENT", "CLINICIAN"],
                        }
                    },
                },
            }
        },
    }
}


@router.post(
    "/evaluate",
    response_model=EvaluateAnswer,
    responses={
        **refusals(404, 409),
        202: {"description": "It goes on: follow the job", "model": JobBody},
    },
    openapi_extra=BODY,
)
async def evaluate(
    request: Request,
    asked: Annotated[EvaluateParameters, Query()],
    service: ServiceOf,
    caller: Evaluator,
) -> JSONResponse:
    """Evaluate an uploaded test set, or a dataset of the service, against the present search.

    What ends within a few seconds is answered at once; the rest is a job (``202`` and
    ``Location``). ``Prefer: respond-async`` asks for the job at once. The same ``Idempotency-Key``
    or ``evaluation_id`` with the same body finds the same evaluation again.
    """
    options_of_caller(service.workspace.settings, asked.changes())
    body = await request.body()
    given, content = await service.work(lambda: request_of(service.config.home, body, asked))
    key = idempotency_key(request.headers)
    await service.searcher()  # refused at once where nothing can be searched
    job = await service.work(
        lambda: service.jobs.submit(
            given or new_job_id("evaluation"),
            "evaluation",
            content,
            owner=caller.name,
            idempotency_key=key,
            total=len(content["test_set"]["queries"]),
        )
    )
    return await answered(service, job, wait=wants_waiting(request.headers), body=_result)


def _result(job: Job) -> dict[str, Any]:
    assert job.result is not None
    return dict(job.result)
