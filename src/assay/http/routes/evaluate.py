"""How good is the search on this test set?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from assay.app.search import options_of_caller
from assay import limits
from assay.app import testsets
from assay.app.evaluation import EvaluationRequest, request_fields
from assay.app.workflow import SPEAKERS, BatchConfig
from assay.errors import LimitError
from assay.evaluation.defaults import workflow_measures
from assay.hits import strict_json
from assay.http.edge.problems import Fault, ProblemError
from assay.http.job_answers import answered, idempotency_key, new_job_id, wants_waiting
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
from assay.http.wire.jobs import JobBody
from assay.model.codec import decode
from assay.model.testset import SpeakerFilter, TestSet

if TYPE_CHECKING:
    from assay.app.jobs import Job
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
    wanted = await service.work(lambda: evaluation_request(service.workspace, body, asked))
    key = idempotency_key(request.headers)
    await service.searcher()  # refused at once where nothing can be searched
    job = await service.work(
        lambda: service.jobs.submit_evaluation(
            wanted.run_id or new_job_id("evaluation"),
            wanted,
            owner=caller.name,
            idempotency_key=key,
        )
    )
    return await answered(service, job, wait=wants_waiting(request.headers), body=_result)


def evaluation_request(
    workspace: Workspace, body: bytes, asked: EvaluateParameters
) -> EvaluationRequest:
    """What a body and the parameters beside it ask for; parameters win."""
    trigger = _trigger(body)
    values: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if trigger is None:
        test_set = testsets.read_upload(body, lenient=True).sound()
    else:
        test_set = testsets.load(workspace.home, trigger.dataset_id, lenient=True)
        test_set, values = _of_speakers(test_set, trigger)
        values |= _measures(trigger)
        options = decode(BatchConfig, trigger.retrieval_config.model_dump()).options()
    if len(test_set.queries) > limits.MAX_UPLOAD_QUERIES:
        raise LimitError(
            f"{len(test_set.queries):,} queries, and {limits.MAX_UPLOAD_QUERIES:,} are allowed",
            hint="evaluate parts of the test set, or use the command line",
        )
    return EvaluationRequest(
        test_set=test_set,
        options=options | asked.changes(),
        run_id=asked.evaluation_id or (None if trigger is None else trigger.evaluation_id),
        **(values | request_fields(request_options(asked))),
    )


def _trigger(body: bytes) -> Trigger | None:
    """The request, where it names a dataset; None where it is a test set itself."""
    if body.lstrip()[:1] != b"{":
        return None  # YAML, or a list: the reader of test sets has its say
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


def _of_speakers(test_set: TestSet, trigger: Trigger) -> tuple[TestSet, dict[str, Any]]:
    """The queries that the speaker modes choose; ALL alone asks everything without filters."""
    wanted = {SpeakerFilter(name) for name in trigger.speaker_modes or SPEAKERS}
    if wanted == {SpeakerFilter.ALL}:
        return test_set, {"mode": "overall"}
    chosen = tuple(query for query in test_set.queries if query.speaker_filter in wanted)
    if not chosen:
        raise ProblemError(422, "invalid", "the dataset has no query for these speaker_modes")
    held = test_set.held_out
    if held is not None:
        names = {query.query_id for query in chosen}
        held = replace(held, query_ids=tuple(name for name in held.query_ids if name in names))
    return replace(test_set, queries=chosen, held_out=held), {}


def _measures(trigger: Trigger) -> dict[str, Any]:
    cutoffs = trigger.retrieval_config.top_k
    return {} if cutoffs is None else {"measures": workflow_measures(cutoffs)}


def _result(job: Job) -> dict[str, Any]:
    assert job.result is not None
    return dict(job.result)
