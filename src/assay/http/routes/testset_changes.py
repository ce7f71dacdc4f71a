"""How is a test set split, compared with another, and written for other tools?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Query
from fastapi.responses import JSONResponse

from assay.app import testsets as datasets
from assay.app.held_out import masked_diff, noted
from assay.app.splits import split_groups, split_held_out
from assay.http.routing import Evaluator, Reader, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.wire.base import Id, Json
from assay.http.wire.testsets import DiffAnswer, ExportAnswer, SplitAnswer, SplitRequest
from assay.testsets.export import files, lost
from assay.testsets.schema import schema

router = new_router("test sets", prefix="/v1")

Form = Literal["yaml", "json", "trec", "beir", "golden-list", "workflow"]


@router.get("/testset-schema", response_model=Json, responses=refusals())
async def testset_schema(service: ServiceOf, caller: Reader) -> JSONResponse:
    """The JSON schema of test sets, for editors."""
    del service, caller
    return JSONResponse(schema())


@router.post("/testsets/{name}/split", response_model=SplitAnswer, responses=refusals(404, 409))
async def split(
    name: Id, asked: SplitRequest, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Hold out a part of the queries, or write three sets that share no group of queries.

    A set that has a held-out part keeps it: another draw would let what was held out be seen. A set
    that ships with assay is not split: a changed copy would hide it.
    """
    del caller
    home = service.config.home

    def work() -> dict[str, Any]:
        datasets.load(home, name)
        folder, seed = home / "testsets", asked.seed
        if asked.by_group:
            written, parts = split_groups(name, folder, seed=seed, output=None)
        else:
            written, parts = split_held_out(name, folder, share=asked.share, seed=seed, output=None)
        return {
            "test_sets": [path.stem for path in written],
            "seed": asked.seed,
            "parts": {part: list(ids) for part, ids in parts.items()},
        }

    return JSONResponse(await service.work(work))


@router.get("/testsets/{name}/diff/{other}", response_model=DiffAnswer, responses=refusals(404))
async def difference(name: Id, other: Id, service: ServiceOf, caller: Reader) -> JSONResponse:
    """What changed from one test set to another.

    Of a query that either of them holds out it says what kind of thing changed: its words are
    masked, and one entry stands for all its judgments.
    """
    del caller
    home = service.config.home

    def work() -> dict[str, Any]:
        before, after = (datasets.load(home, one) for one in (name, other))
        found = masked_diff(before, after)
        return {"same": found.same, **asdict(found)}

    return JSONResponse(await service.work(work))


@router.get("/testsets/{name}/export", response_model=ExportAnswer, responses=refusals(404))
async def export(
    name: Id,
    service: ServiceOf,
    caller: Evaluator,
    form: Annotated[Form, Query(description="Which tool it is for.")] = "yaml",
) -> JSONResponse:
    """A test set in the form of another tool, and what that form has no place for.

    All of it, so a look at a held-out part is logged.
    """
    del caller

    def work() -> dict[str, Any]:
        found = datasets.load(service.config.home, name)
        noted(service.workspace, found)
        return {"form": form, "files": files(found, form), "lost": lost(found, form)}

    return JSONResponse(await service.work(work))
