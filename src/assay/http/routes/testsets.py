"""Which test sets are there, is this one sound, how is it split, compared and exported?

A name is looked up among the known names and never becomes a path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from assay.app import cost, drafts, suggestions, testsets
from assay.app.drafts import Forked, Graded
from assay.http.edge.auth import Caller
from assay.http.edge.problems import Fault, ProblemError, faults_of
from assay.http.routing import (
    Evaluator,
    Reader,
    ServiceOf,
    answer_with,
    answers,
    computed,
    json_value,
    refusals,
)
from assay.http.routing import router as new_router
from assay.http.wire.base import Id, Json, Switch
from assay.http.wire.testsets import ForkRequest, GradeRequest, SplitRequest, SuggestRequest
from assay.model.codec import encode
from assay.model.testset import GRADES
from assay.model.testset_json import to_plain

if TYPE_CHECKING:
    from assay.app.workspace import Workspace

router = new_router("test sets", prefix="/v1")

HeldOut = Annotated[Switch, Query(description="Include held-out queries; the look is logged.")]
Form = Literal["yaml", "json", "trec", "beir", "golden-list", "workflow"]

EXAMPLE = {
    "name": "headaches",
    "version": "v1",
    "queries": [
        {
            "query_id": "q001",
            "query_text": "pembrolizumab adverse events",
            "query_type": "exact_term",
            "relevant_docs": [{"doc_id": "PMC123:chunk_5", "grade": 3}],
        }
    ],
}
UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"type": ["object", "array"]}, "example": EXAMPLE}
        },
    }
}


@router.get("/testset-schema", response_model=Json, responses=refusals())
async def testset_schema(service: ServiceOf, caller: Reader) -> JSONResponse:
    """The JSON schema of test sets, for editors."""
    del service, caller
    return JSONResponse(testsets.schema())


@router.get(
    "/testsets",
    responses={
        **answer_with("Every test set", test_sets=list[testsets.TestSetEntry]),
        **refusals(),
    },
)
async def list_sets(service: ServiceOf, caller: Reader) -> JSONResponse:
    """Every test set that loads by name."""
    del caller
    entries = await service.work(service.workspace.test_sets)
    return JSONResponse({"test_sets": encode(entries)})


@router.post(
    "/testsets",
    status_code=201,
    responses={**answers(testsets.StoredSet, 201), **refusals(409)},
    openapi_extra=UPLOAD,
)
async def store_set(
    request: Request,
    service: ServiceOf,
    caller: Evaluator,
    name: Annotated[Id | None, Query(description="Its name; by default its own.")] = None,
    version: Annotated[Id | None, Query(description="Its version; by default its own.")] = None,
    grades: Annotated[str | None, Query(max_length=200, description=GRADES)] = None,
) -> JSONResponse:
    """Store a test set: YAML, JSON, JSON lines, CSV, TSV or parquet, in any form that assay reads.

    A table of queries and judgments (Quepid, ragas, your own) has no name: give one.
    """
    del caller
    body = await request.body()
    layout = service.workspace.layout
    stored = await service.work(
        lambda: testsets.upload(layout, body, name=name, version=version, grades=grades)
    )
    return JSONResponse(encode(stored), 201, {"location": f"/v1/testsets/{stored.name}"})


@router.post(
    "/testsets/validate",
    responses={
        **answer_with(
            "Everything that is wrong with it",
            sound=bool,
            form=str,
            queries=int | None,
            problems=list[Fault],
            warnings=list[Fault],
        ),
        **refusals(),
    },
    openapi_extra=UPLOAD,
)
async def validate(request: Request, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Check a test set without storing it; every problem is listed."""
    del caller
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = kind == "application/json" or kind.endswith("+json")
    return await computed(service, lambda _: cost.read(len(body)), _validated, body, is_json)


def _validated(workspace: Workspace, body: bytes, is_json: bool) -> JSONResponse:
    del workspace
    if is_json and not isinstance(json_value(body), (dict, list)):
        raise ProblemError(422, "invalid", "a test set is an object or a list")
    reading = testsets.read_upload(body)
    test_set = reading.test_set
    return JSONResponse(
        {
            "sound": test_set is not None,
            "form": reading.form,
            "queries": len(test_set.queries) if test_set else None,
            "problems": encode(faults_of(reading.problems)),
            "warnings": encode(faults_of(reading.warnings)),
        }
    )


@router.post(
    "/testsets/suggest",
    responses={
        **answer_with(
            "Questions with the passages they were made from",
            questions=list[Json],
            tried=int,
            left_out=dict[str, int],
            seed=int,
        ),
        **refusals(),
    },
)
async def suggest(body: SuggestRequest, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Generate questions from the corpus if there are no real ones; they stay marked synthetic."""
    del caller
    found = await service.work(
        lambda: suggestions.suggest(
            service.workspace,
            count=body.count,
            kinds=body.kinds,
            seed=body.seed,
            by_model=body.model,
        )
    )
    return JSONResponse(found.to_dict())


@router.get(
    "/testsets/{name}",
    responses={
        **answer_with(
            "The test set with its queries",
            name=str,
            version=str,
            description=str,
            checksum=str,
            held_out=Json | None,
            provenance=Json,
            skipped=list[str],
            queries=list[Json],
        ),
        **refusals(404),
    },
)
async def show_set(
    name: Id, service: ServiceOf, caller: Reader, held_out: HeldOut = False
) -> JSONResponse:
    """One test set with its queries and judgments; held-out ones are mbody."""
    if held_out:
        check_may_reveal(caller)
    shown = await service.work(lambda: testsets.show(service.workspace, name, held_out=held_out))
    return JSONResponse({**to_plain(shown.test_set), "checksum": shown.whole.checksum})


@router.post(
    "/testsets/{name}/split",
    responses={
        **answer_with(
            "What was written, and which queries are where",
            test_sets=list[str],
            seed=int,
            parts=dict[str, list[str]],
            notes=list[str],
        ),
        **refusals(404, 409),
    },
)
async def split(
    name: Id, body: SplitRequest, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Hold out a part of the queries, or write three sets that share no group of queries.

    Queries of one group stay on one side; ``notes`` says what the sides have in common.
    A set with a held-out part keeps it: another draw would reveal what was held out. A set that
    ships with assay is not split: a changed copy would hide it.
    """
    del caller
    done = await service.work(
        lambda: testsets.split(
            service.workspace.layout,
            name,
            share=body.share,
            seed=body.seed,
            by_group=body.by_group,
        )
    )
    return JSONResponse(
        {
            "test_sets": [path.stem for path in done.written],
            "seed": done.seed,
            "parts": encode(done.parts),
            "notes": list(done.notes),
        }
    )


@router.put("/testsets/{name}/grades", responses={**answers(Graded), **refusals(409)})
async def grade(
    name: Id, body: GradeRequest, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Grade results of a question in a draft; the draft and the question are made where needed.

    A set that says how it was judged, or that ships with assay, is refused: fork it.
    """
    del caller
    graded = await service.work(
        lambda: drafts.grade(
            service.workspace, name, body.query_text, body.grades, query_type=body.query_type
        )
    )
    return JSONResponse(encode(graded))


@router.post(
    "/testsets/{name}/fork",
    status_code=201,
    responses={**answers(Forked, 201), **refusals(404, 409)},
)
async def fork(name: Id, body: ForkRequest, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Copy a test set to a draft, in which questions can be graded."""
    del caller
    forked = await service.work(lambda: drafts.fork(service.workspace.layout, name, body.name))
    return JSONResponse(encode(forked), 201, {"location": f"/v1/testsets/{forked.name}"})


@router.get(
    "/testsets/{name}/diff/{other}",
    responses={
        **answer_with(
            "What it takes to get from one set to the other",
            same=bool,
            added=list[str],
            removed=list[str],
            changed=list[Json],
            judgments=list[Json],
            held_out_in=list[str],
            held_out_out=list[str],
            reordered=bool,
        ),
        **refusals(404),
    },
)
async def difference(name: Id, other: Id, service: ServiceOf, caller: Reader) -> JSONResponse:
    """What changed from one test set to another.

    For a query that either holds out, only the kind of change is shown: its text is masked, and one
    entry stands for all its judgments.
    """
    del caller
    found = await service.work(lambda: testsets.diff(service.workspace, name, other))
    return JSONResponse(found.to_dict())


@router.get("/testsets/{name}/export", responses={**answers(testsets.Exported), **refusals(404)})
async def export(
    name: Id,
    service: ServiceOf,
    caller: Evaluator,
    form: Annotated[Form, Query(description="The form to export.")] = "yaml",
) -> JSONResponse:
    """A test set in the form of another tool, and what that form cannot express.

    It is exported as a whole, so the look at a held-out part is logged.
    """
    del caller
    exported = await service.work(lambda: testsets.export(service.workspace, name, form))
    return JSONResponse(encode(exported))


def check_may_reveal(caller: Caller) -> None:
    """Refuse to show held-out queries to a key without the scope evaluate."""
    if not caller.may("evaluate"):
        raise ProblemError(403, "forbidden", "held-out queries need a key with the scope evaluate")
