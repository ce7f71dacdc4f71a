"""Which chunks answer a question best, and why is another one not among them?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic_core import to_json

from assay.http.edge.problems import ProblemError
from assay.http.routing import Reader, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.search_body import search_body, server_timing
from assay.http.wire.search import SearchAnswer, SearchParameters, WhyAnswer, WhyParameters
from assay.search.response import SearchResponse

router = new_router("search", prefix="/v1")


@router.get("/search", response_model=SearchAnswer, responses=refusals(404, 409))
async def search(
    asked: Annotated[SearchParameters, Query()],
    request: Request,
    service: ServiceOf,
    caller: Reader,
) -> Response:
    """Search documents, with every score explained."""
    del caller
    response = await service.search(asked.q, **asked.changes())
    _same_generation(asked, response)
    service.log_query(response)
    exchange = request.scope["assay.exchange"]
    body = search_body(response) | {"request_id": exchange.request_id}
    return (
        Response(  # ten results with their texts: the encoder of pydantic takes a fifth of the time
            to_json(body),
            media_type="application/json",
            headers={"server-timing": server_timing(response)},
        )
    )


@router.get("/search/why", response_model=WhyAnswer, responses=refusals(404))
async def why(
    asked: Annotated[WhyParameters, Query()], service: ServiceOf, caller: Reader
) -> JSONResponse:
    """Why a document or chunk is not among the results, or where it is."""
    del caller
    searcher = await service.searcher()
    found: Any = await service.work(
        lambda: searcher.why(asked.q, asked.document, **asked.changes())
    )
    return JSONResponse(found.to_dict())


def _same_generation(asked: SearchParameters, response: SearchResponse) -> None:
    """Pages of one list must come from one index."""
    if asked.generation is not None and asked.generation != response.generation:
        raise ProblemError(
            409,
            "index_moved_on",
            f"the index is at generation {response.generation} now",
            hint="begin with the first page again",
        )
