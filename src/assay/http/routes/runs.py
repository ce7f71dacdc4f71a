"""Which evaluations are there, what came out of them, and which is better?"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from fastapi.responses import JSONResponse

from assay.app.gate import gate_runs
from assay.app.held_out import masked_comparison, masked_outcome, masked_outcomes
from assay.app.run_exchange import outcome_json, pack, push, stored_run, unpack
from assay.evaluation.ab import ab
from assay.evaluation.compare import compare_runs
from assay.evaluation.stored_run import StoredRun
from assay.http.held_out import hidden_from, kept_from, run_shown_to, shown_to
from assay.http.routing import Admin, Evaluator, Reader, ServiceOf, refusals, rendered
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Id, Json, Switch
from assay.http.wire.paging import Limit, Offset
from assay.http.wire.runs import (
    AbRequest,
    CompareRequest,
    DeletedAnswer,
    GateRequest,
    OutcomesAnswer,
    PushAnswer,
    PushedRun,
    Ref,
    RunBody,
    RunsAnswer,
    TagAnswer,
)
from assay.model.run_store import RunFilter
from assay.model.runs import RunStatus
from assay.model.testset_json import to_plain
from assay.render.runs import run_json

router = new_router("runs", prefix="/v1")

Run = Annotated[Ref, Path()]


@router.get("/runs", response_model=RunsAnswer, responses=refusals())
async def list_runs(
    service: ServiceOf,
    caller: Reader,
    suite: Annotated[Id | None, Query(description="Runs of this test set.")] = None,
    status: Annotated[
        Literal["running", "interrupted", "complete", "failed"] | None, Query()
    ] = None,
    tag: Annotated[Id | None, Query(description="The run with this tag.")] = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> JSONResponse:
    """Runs, newest first."""
    del caller
    chosen = RunFilter(suite=suite, status=RunStatus(status) if status else None, tag=tag)

    def work() -> dict[str, Any]:
        page = service.workspace.runs.runs(chosen, limit=limit, offset=offset)
        return {"total": page.total, "runs": [run_json(info) for info in page.runs]}

    return await rendered(service, work)


@router.post("/runs", response_model=PushAnswer, status_code=201, responses=refusals(409))
async def push_run(pushed: PushedRun, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Store a run that was made elsewhere; the same one again changes nothing."""
    del caller

    def work() -> dict[str, Any]:
        run = unpack(pushed.model_dump())
        return {"run_id": run.info.run_id, "new": push(service.workspace.runs, run)}

    answer = await service.work(work)
    return JSONResponse(answer, 201, {"location": f"/v1/runs/{answer['run_id']}"})


@router.get("/runs/{ref}", response_model=RunBody, responses=refusals(404))
async def show_run(ref: Run, service: ServiceOf, caller: Reader) -> JSONResponse:
    """One run and its aggregate."""
    del caller
    return await rendered(service, lambda: run_json(service.workspace.runs.run(ref)))


@router.get("/runs/{ref}/queries", response_model=OutcomesAnswer, responses=refusals(404))
async def run_queries(
    ref: Run,
    service: ServiceOf,
    caller: Reader,
    limit: Limit = 100,
    offset: Offset = 0,
    stages: Annotated[Switch, Query(description="What each component found, too.")] = True,
) -> JSONResponse:
    """What happened to each query of a run.

    Answers, errors and warnings of held-out queries are masked unless the key has the scope
    evaluate; then the look is logged.
    """

    def work() -> dict[str, Any]:
        run = service.workspace.stored_run(ref, stages=stages)
        page = run.outcomes[offset : offset + limit]
        telling = [one.query_id for one in page if masked_outcome(one) != one]
        hidden = hidden_from(caller, service, run.test_set, telling)
        rows = [outcome_json(one) for one in masked_outcomes(page, hidden)]
        return {"run_id": run.name, "total": len(run.outcomes), "outcomes": rows}

    return await rendered(service, work)


@router.get("/runs/{ref}/testset", response_model=Json, responses=refusals(404))
async def run_test_set(ref: Run, service: ServiceOf, caller: Reader) -> JSONResponse:
    """The queries and judgments that a run was made with.

    Held-out queries are masked unless the key has the scope evaluate; then the look is logged.
    """

    def work() -> dict[str, Any]:
        runs = service.workspace.runs
        return to_plain(shown_to(caller, service, runs.test_set(runs.run(ref).run_id)))

    return await rendered(service, work)


@router.get("/runs/{ref}/export", response_model=PushedRun, responses=refusals(404))
async def export_run(ref: Run, service: ServiceOf, caller: Reader) -> JSONResponse:
    """A whole run, in the form that another service takes.

    A run with held-out queries needs a key with the scope evaluate, and the look is logged; with
    another key they are masked, and no service takes that.
    """

    def work() -> dict[str, Any]:
        return pack(run_shown_to(caller, service, stored_run(service.workspace.runs, ref)))

    return await rendered(service, work)


@router.delete("/runs/{ref}", response_model=DeletedAnswer, responses=refusals(404))
async def delete_run(ref: Run, service: ServiceOf, caller: Admin) -> JSONResponse:
    """Delete a run and everything that is stored of it."""
    del caller
    info = await service.work(lambda: service.workspace.runs.delete(ref))
    return JSONResponse({"deleted": info.run_id})


@router.put("/runs/{ref}/tags/{tag}", response_model=TagAnswer, responses=refusals(404))
async def tag_run(ref: Run, tag: Id, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Give a run a name of its own, such as baseline."""
    del caller
    info = await service.work(lambda: service.workspace.runs.tag(ref, tag))
    return JSONResponse({"run_id": info.run_id, "tags": list(info.tags)})


@router.delete("/tags/{tag}", response_model=DeletedAnswer, responses=refusals(404))
async def untag(tag: Id, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Forget a tag; the run stays."""
    del caller

    def forget() -> None:
        service.workspace.runs.run(tag)
        service.workspace.runs.untag(tag)

    await service.work(forget)
    return JSONResponse({"deleted": tag})


@router.post("/compare", response_model=Json, responses=refusals(404, 409))
async def compare(asked: CompareRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Set two runs of one test set side by side: deltas, and wins and losses per query.

    Held-out queries have no ranks and no note unless the key has the scope evaluate.
    """

    def work() -> dict[str, Any]:
        a, b = _pair(service, asked.a, asked.b)
        found = compare_runs(
            a,
            b,
            measures=asked.measures or (),
            archive=service.workspace.archived,
            strict_chunker_version=asked.strict_chunker_version,
        )
        return masked_comparison(found, kept_from(caller, a.test_set, b.test_set)).to_dict()

    return await rendered(service, work)


@router.post("/ab", response_model=Json, responses=refusals(404, 409))
async def ab_test(asked: AbRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Test run b against run a: differences, p-values, intervals, latency, a verdict.

    Held-out queries have no ranks and no note unless the key has the scope evaluate.
    """

    def work() -> dict[str, Any]:
        a, b = _pair(service, asked.a, asked.b)
        given: dict[str, Any] = {
            name: value
            for name in ("measures", "alpha", "margin")
            if (value := getattr(asked, name)) is not None
        }
        found = ab(
            a,
            b,
            archive=service.workspace.archived,
            strict_chunker_version=asked.strict_chunker_version,
            **given,
        )
        hidden = kept_from(caller, a.test_set, b.test_set)
        return replace(found, compared=masked_comparison(found.compared, hidden)).to_dict()

    return await rendered(service, work)


@router.post("/gate", response_model=Json, responses=refusals(404, 409))
async def gate(asked: GateRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Hold a run against a baseline; ``outcome`` is passed, failed or inconclusive."""
    del caller
    return await rendered(
        service,
        lambda: gate_runs(
            service.workspace,
            asked.baseline,
            asked.current,
            asked.limits or (),
            non_inferiority=asked.non_inferiority,
            alpha=asked.alpha,
            seed=asked.seed,
        ).to_dict(),
    )


def _pair(service: Service, a: str, b: str) -> tuple[StoredRun, StoredRun]:
    return service.workspace.stored_run(a), service.workspace.stored_run(b)
