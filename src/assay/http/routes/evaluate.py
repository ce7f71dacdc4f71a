"""How good is the search on this test set?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from assay import strict_json
from assay.app import testsets, workflow
from assay.app.evaluation_request import EvaluationRequest, request_fields
from assay.http.edge.problems import Fault, ProblemError
from assay.http.job_answers import ACCEPTED, enter_evaluation, idempotency_key, job_response
from assay.http.routes.testsets import EXAMPLE
from assay.http.routing import Evaluator, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.wire.evaluate import (
    CrossModeAnswer,
    EvaluateAnswer,
    EvaluateParameters,
    Trigger,
    request_options,
)
from assay.model.codec import decode

if TYPE_CHECKING:
    from assay.app.workspace import Workspace

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
    response_model=EvaluateAnswer | CrossModeAnswer,
    responses={**refusals(404, 409), **ACCEPTED},
    openapi_extra=BODY,
)
async def evaluate(
    request: Request,
    parameters: Annotated[EvaluateParameters, Query()],
    service: ServiceOf,
    caller: Evaluator,
) -> JSONResponse:
    """Evaluate the search on an uploaded test set, or on a dataset of the service.

    An evaluation that ends within a few seconds is answered at once; any other is a job (``202``
    and ``Location``), at once with ``Prefer: respond-async``. The same ``Idempotency-Key`` or
    ``evaluation_id`` with the same body returns the same evaluation.
    """
    body = await request.body()
    wanted = await service.work(lambda: evaluation_request(service.workspace, body, parameters))
    job = await enter_evaluation(service, wanted, caller, idempotency_key(request.headers))
    return await job_response(service, job, request.headers)


def evaluation_request(
    workspace: Workspace, body: bytes, parameters: EvaluateParameters
) -> EvaluationRequest:
    """The evaluation that a body and the parameters ask for; parameters take precedence."""
    trigger = _trigger(body)
    if trigger is None:
        sent = testsets.read_upload(body, lenient=True).sound()
        request = EvaluationRequest(test_set=sent, uploaded=True)
    else:
        request = workflow.triggered(workspace, decode(workflow.Trigger, trigger.model_dump()))
    return replace(
        request,
        options={**request.options, **parameters.changes()},
        run_id=parameters.evaluation_id or request.run_id,
        commit_hash=parameters.commit or "",
        **request_fields(request_options(parameters)),
    )


def _trigger(body: bytes) -> Trigger | None:
    """The request if it names a dataset; None if it is a test set itself."""
    if body.lstrip()[:1] != b"{":
        return None  # YAML, or a list: a test set
    content = strict_json.values(body, "body")[0][1]
    if "dataset_id" not in content or "test_queries" in content:
        return None
    try:
        return Trigger.model_validate(content)
    except ValidationError as error:
        faults = [
            Fault(".".join(["body", *map(str, one["loc"])]), one["msg"]) for one in error.errors()
        ]
        detail = f"{faults[0].where}: {faults[0].message}"
        raise ProblemError(422, "invalid", detail, errors=faults) from None
