"""What does the corpus say to a question, and on which chunks does that rest?

The answerer is a setting of the service: a caller who could name one could make the service call
any address, or run any code.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from assay.app.answers import Answered, answer_from, with_verdicts
from assay.app.search import options_of_caller
from assay.http.edge.problems import ProblemError
from assay.http.routing import Reader, ServiceOf, answer_with, answers, refusals
from assay.http.routing import router as new_router
from assay.http.wire.base import Json, QueryText
from assay.http.wire.search import AnswerParameters
from assay.model.codec import encode

router = new_router("search", prefix="/v1")


@router.get("/answer", responses={**answers(Answered, request_id=True), **refusals(404, 502)})
async def answer_question(
    parameters: Annotated[AnswerParameters, Query()],
    request: Request,
    service: ServiceOf,
    caller: Reader,
) -> JSONResponse:
    """Answer a question from the corpus with sources, or refuse to."""
    if parameters.judged and not caller.may("evaluate"):
        raise ProblemError(403, "forbidden", "asking the judge needs a key with the scope evaluate")
    changes = options_of_caller(service.workspace.settings, parameters.changes())
    response = await service.search(parameters.q, **changes)
    service.log_query(response)
    answer = await service.work(lambda: answer_from(service.workspace, parameters.q, response))
    if parameters.judged:
        answer = await service.work(lambda: with_verdicts(service.workspace, answer))
    return JSONResponse(encode(answer) | {"request_id": request.scope["assay.exchange"].request_id})


@router.get(
    "/search/classify",
    responses={
        **answer_with("How it is read", query=str, query_type=str, intents=list[Json]),
        **refusals(),
    },
)
async def classify_query(
    q: Annotated[QueryText, Query(description="A query, in plain words.")],
    service: ServiceOf,
    caller: Reader,
) -> JSONResponse:
    """How a query is worded (its type) and what it asks for (tables, clinical intents)."""
    del caller
    searcher = await service.searcher()
    kind, detected = searcher.reading(q)
    intents = [intent.to_dict() for intent in detected]
    return JSONResponse({"query": q, "query_type": kind.value, "intents": intents})
