"""Which runs are there, what did they score, and which is better?"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from fastapi.responses import JSONResponse

from assay.app import cost, reports, run_exchange, run_view, runs
from assay.app.held_out import Viewer
from assay.app.prometheus import publish_now
from assay.app.statistics import Measures
from assay.app.workspace import Workspace
from assay.evaluation.history import HistoryOptions
from assay.http.edge.auth import Caller
from assay.http.routing import (
    Admin,
    Evaluator,
    Reader,
    ServiceOf,
    answer_with,
    answers,
    computed,
    json_response,
    refusals,
)
from assay.http.routing import router as new_router
from assay.http.wire.base import Id, Json, Limit, Offset, Switch, Whole
from assay.http.wire.runs import (
    PushedRun,
    Ref,
    RescoreBody,
    query_schema,
)
from assay.http.wire.statistics import MeasureParameters, SamplingParameters
from assay.model.codec import encode
from assay.model.ranking import MatchName
from assay.model.run_store import DeletedRun, RunPage
from assay.model.runs import RunInfo
from assay.model.testset_json import to_plain
from assay.render.report_page import run_page
from assay.render.report_text import run_csv, run_markdown
from assay.render.run_file import trec_run

router = new_router("runs", prefix="/v1")

Run = Annotated[Ref, Path()]
Match = Annotated[
    MatchName,
    Query(description="Match by judged id, by document, or by span; as the run was made."),
]
Form = Literal["json", "md", "html", "csv"]
TYPES: dict[Form, str] = {
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
}
REPORTS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/markdown": {"schema": {"type": "string"}},
            "text/html": {"schema": {"type": "string"}},
            "text/csv": {"schema": {"type": "string"}},
        }
    }
}
DELETED = answer_with("It is deleted", deleted=str)
TREC: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/runs", responses={**refusals(), **answers(RunPage)})
async def list_runs(
    service: ServiceOf,
    caller: Reader,
    suite: Annotated[Id | None, Query(description="Runs of this test set.")] = None,
    status: Annotated[
        Literal["running", "interrupted", "complete", "failed"] | None, Query()
    ] = None,
    tag: Annotated[Id | None, Query(description="The run with this tag.")] = None,
    config_hash: Annotated[
        str | None,
        Query(pattern="^[0-9a-f]{1,64}$", description="Runs of this configuration."),
    ] = None,
    text: Annotated[
        str | None,
        Query(max_length=200, description="Part of an id, name, test set, tag or commit."),
    ] = None,
    newest_only: Annotated[
        Switch, Query(description="The newest run of each test set and configuration.")
    ] = False,
    sort: Annotated[
        str | None,
        Query(max_length=60, description="A measure or a column; - for the largest first."),
    ] = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> JSONResponse:
    """Runs, newest first unless ``sort`` says otherwise."""
    del caller
    chosen = runs.run_filter(suite, status, tag, config_hash, text, newest_only=newest_only)
    order = runs.run_order(sort)
    return await json_response(
        service,
        lambda: encode(
            runs.list_runs(service.workspace, chosen, limit=limit, offset=offset, order=order)
        ),
    )


@router.post(
    "/runs",
    status_code=201,
    responses={
        **answer_with("It is stored; new is false if it was before", 201, run_id=str, new=bool),
        **refusals(409),
    },
)
async def push_run(pushed: PushedRun, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Store a run that was made elsewhere; the same one again changes nothing."""
    del caller

    def work() -> dict[str, Any]:
        run = run_exchange.unpack(pushed.model_dump())
        return {"run_id": run.info.run_id, "new": run_exchange.push(service.workspace.runs, run)}

    answer = await service.work(work)
    return JSONResponse(answer, 201, {"location": f"/v1/runs/{answer['run_id']}"})


@router.get("/runs/{ref}", responses={**refusals(404), **answers(RunInfo)})
async def show_run(
    ref: Run,
    service: ServiceOf,
    caller: Reader,
    suite: Annotated[Id | None, Query(description="The test set that latest refers to.")] = None,
) -> JSONResponse:
    """One run and its aggregate."""
    del caller
    store = service.workspace.runs
    return await json_response(
        service,
        lambda: encode(runs.with_figures(service.workspace, store.run(ref, suite=suite))),
    )


@router.get(
    "/runs/{ref}/queries",
    responses={
        **answer_with("Some queries of it", run_id=str, total=int, outcomes=list[Json]),
        **refusals(404),
    },
)
async def run_queries(
    ref: Run,
    service: ServiceOf,
    caller: Reader,
    limit: Limit = 100,
    offset: Offset = 0,
    stages: Annotated[Switch, Query(description="Include what each component found.")] = True,
    depth: Annotated[
        int | None, Whole, Query(ge=1, le=100_000, description="The first results only.")
    ] = None,
    query: Annotated[list[Id], Query(max_length=1_000, description="These queries only.")] = [],  # noqa: B006 - the framework copies it
) -> JSONResponse:
    """What happened to each query of a run.

    Answers, errors and warnings of held-out queries are masked unless the key has the scope
    evaluate; then the look is logged.
    """
    viewer = viewer_of(caller, service.workspace)
    return await json_response(
        service,
        lambda: run_view.outcomes(
            service.workspace,
            ref,
            limit=limit,
            offset=offset,
            stages=stages,
            depth=depth,
            queries=query,
            viewer=viewer,
        ).to_dict(),
    )


@router.get(
    "/runs/{ref}/queries/{query_id}", responses={**refusals(404), **answers(query_schema())}
)
async def run_query(
    ref: Run, query_id: Id, service: ServiceOf, caller: Reader, match: Match | None = None
) -> JSONResponse:
    """One query of a run: its judgments, the rank at which each was found, and the results.

    A held-out one is masked unless the key has the scope evaluate; then the look is logged.
    """
    viewer = viewer_of(caller, service.workspace)
    return await json_response(
        service,
        lambda: run_view.query(
            service.workspace, ref, query_id, match=match, viewer=viewer
        ).to_dict(),
    )


@router.get("/runs/{ref}/testset", response_model=Json, responses=refusals(404))
async def run_test_set(ref: Run, service: ServiceOf, caller: Reader) -> JSONResponse:
    """The queries and judgments that a run was made with.

    Held-out queries are masked unless the key has the scope evaluate; then the look is logged.
    """
    viewer = viewer_of(caller, service.workspace)
    return await json_response(
        service, lambda: to_plain(run_view.queries_of(service.workspace, ref, viewer))
    )


@router.get("/runs/{ref}/export", response_model=PushedRun, responses=refusals(404))
async def export_run(ref: Run, service: ServiceOf, caller: Reader) -> JSONResponse:
    """A whole run, in the form that another service accepts.

    Held-out queries need the scope evaluate, and the look is logged; with another key they are
    masked, and no service accepts such a run.
    """
    viewer = viewer_of(caller, service.workspace)
    return await json_response(service, lambda: run_exchange.packed(service.workspace, ref, viewer))


@router.get("/runs/{ref}/trec", response_class=Response, responses={**refusals(404), **TREC})
async def run_file(
    ref: Run,
    service: ServiceOf,
    caller: Reader,
    documents: Annotated[Switch, Query(description="Name documents, not chunks.")] = False,
    component: Annotated[Id | None, Query(description="The list of this component.")] = None,
) -> Response:
    """The rankings of a run as a TREC run file."""
    del caller

    def work() -> str:
        found = run_view.export(service.workspace, ref, component=component)
        return trec_run(found.outcomes, found.tag, documents=documents) + "\n"

    return Response(await service.work(work), media_type="text/plain; charset=utf-8")


@router.get("/runs/{ref}/scores", response_model=Json, responses=refusals(404))
async def run_scores(
    ref: Run,
    service: ServiceOf,
    caller: Reader,
    measures: MeasureParameters,
    statistics: SamplingParameters,
    match: Match | None = None,
    per_component: Annotated[
        Switch, Query(description="Score each component by itself, too.")
    ] = False,
    waterfall: Annotated[
        Switch, Query(description="Say where relevant documents were lost.")
    ] = False,
    per_query: Annotated[Switch, Query(description="Include the values of every query.")] = False,
) -> JSONResponse:
    """Score a stored run, also under other measures; nothing is searched.

    A waterfall names no documents of held-out queries unless the key has the scope evaluate; then
    the look is logged.
    """
    stages = per_component or waterfall
    asked = {
        "measures": measures,
        "match": match,
        "per_component": per_component,
        "waterfall": waterfall,
        "statistics": statistics,
    }
    return await computed(
        service,
        lambda here: cost.scored(here, ref, measures, statistics, stages=stages),
        _scores,
        caller,
        ref,
        asked,
        per_query,
    )


@router.post("/runs/{ref}/rescore", response_model=Json, responses=refusals(404))
async def rescore(
    ref: Run, body: RescoreBody, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Score a run again with newer formulas or more measures, and store the result."""
    del caller
    measures = body.measures or ()
    return await computed(
        service,
        lambda here: cost.rescored(here, ref, measures),
        _rescored,
        ref,
        measures,
        body.match,
    )


@router.get("/runs/{ref}/report", response_class=Response, responses={**refusals(404), **REPORTS})
async def report(
    ref: Run,
    service: ServiceOf,
    caller: Reader,
    measures: MeasureParameters,
    statistics: SamplingParameters,
    form: Annotated[Form, Query(alias="format", description="The form of the report.")] = "json",
    workflow: Annotated[Switch, Query(description="P and R at 1, 3, 5, 10, MAP, nDCG@10.")] = False,
    target: Annotated[
        list[Annotated[str, Query(max_length=100)]],
        Query(max_length=50, description="What to reach: P@5>0.65 (above) or P@5>=0.65."),
    ] = [],  # noqa: B006 - the framework copies it
) -> Response:
    """A report on one run: tables, breakdowns, insights, worst queries.

    The page masks held-out queries unless the key has the scope evaluate; then the look is logged.
    """
    asked: dict[str, Any] = {
        "measures": measures,
        "workflow": workflow,
        "targets": target,
        "statistics": statistics,
    }
    return await computed(
        service,
        lambda here: cost.reported(here, ref, **asked),
        _reported,
        caller,
        ref,
        asked,
        form,
    )


@router.get(
    "/history/{suite}",
    responses={
        **answer_with(
            "Complete runs, the oldest first; series of those that can be compared, that of the "
            "newest first, and its trend; what is left out",
            suite=str,
            runs=list[Json],
            series=list[Json],
            trend=dict[str, Json | None],
            left_out=list[str],
        ),
        **refusals(),
    },
)
async def suite_history(
    suite: Id,
    service: ServiceOf,
    caller: Reader,
    measures: MeasureParameters,
    part: Annotated[str, Query(max_length=80, description="Runs of this part only.")] = "",
    engine: Annotated[str, Query(max_length=80, description="Runs of this engine only.")] = "",
    configuration: Annotated[
        str, Query(max_length=64, description="Runs whose config_hash begins like this.")
    ] = "",
    by_configuration: Annotated[
        Switch, Query(description="A series for each configuration.")
    ] = False,
    limit: Limit = 20,
) -> JSONResponse:
    """The measures of one test set from run to run, oldest first.

    A series has runs of the same queries, part, engine and match rule; runs in which queries failed
    or were degraded are in none.
    """
    del caller

    chosen = HistoryOptions(part, engine, configuration, by_configuration)
    return await json_response(
        service,
        lambda: runs.history(
            service.workspace, suite, measures=measures, options=chosen, limit=limit
        ).to_dict(),
    )


@router.delete("/runs/{ref}", responses={**DELETED, **refusals(404)})
async def delete_run(
    ref: Run,
    service: ServiceOf,
    caller: Admin,
    for_good: Annotated[Switch, Query(description="Keep no copy that could be restored.")] = False,
) -> JSONResponse:
    """Delete a run; it can be restored unless it goes for good."""
    del caller
    info = await service.work(lambda: runs.delete(service.workspace, ref, for_good=for_good))
    return JSONResponse({"deleted": info.run_id})


@router.get(
    "/deleted-runs",
    responses={**answer_with("Those to restore", deleted=list[DeletedRun]), **refusals()},
)
async def deleted_runs(service: ServiceOf, caller: Reader) -> JSONResponse:
    """The deleted runs that can be restored, the one deleted last first."""
    del caller
    found = await service.work(lambda: runs.deleted(service.workspace))
    return JSONResponse({"deleted": encode(found)})


@router.post("/deleted-runs/{run_id}/restore", responses={**answers(RunInfo), **refusals(404, 409)})
async def restore_run(run_id: Id, service: ServiceOf, caller: Admin) -> JSONResponse:
    """Bring back a deleted run, with the tags that no other run has got since."""
    del caller
    return JSONResponse(encode(await service.work(lambda: runs.restore(service.workspace, run_id))))


@router.put(
    "/runs/{ref}/tags/{tag}",
    responses={**answer_with("Its tags", run_id=str, tags=list[str]), **refusals(404, 409)},
)
async def tag_run(ref: Run, tag: Id, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Give a run a name of its own, such as baseline."""
    del caller
    info = await service.work(lambda: runs.tag(service.workspace, ref, tag))
    return JSONResponse({"run_id": info.run_id, "tags": list(info.tags)})


@router.post(
    "/publish",
    responses={
        **answer_with("Where the gauges went", published=dict[str, str]),
        **refusals(),
    },
)
async def publish(service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Hand the gauges to the text file and the push gateway that the settings name."""
    del caller
    return JSONResponse({"published": await service.work(lambda: publish_now(service.workspace))})


@router.delete("/tags/{tag}", responses={**DELETED, **refusals(404)})
async def untag(tag: Id, service: ServiceOf, caller: Evaluator) -> JSONResponse:
    """Remove a tag; the run stays."""
    del caller
    await service.work(lambda: runs.untag(service.workspace, tag))
    return JSONResponse({"deleted": tag})


def viewer_of(caller: Caller, workspace: Workspace) -> Viewer:
    """A key that may evaluate sees held-out queries, and the look is logged."""
    return Viewer(caller.may("evaluate"), log=workspace.runs.log_held_out)


# What may take long: functions of their own, which another process can be sent


def _scores(
    workspace: Workspace, caller: Caller, ref: str, asked: dict[str, Any], per_query: bool
) -> JSONResponse:
    found = run_view.show(workspace, ref, viewer=viewer_of(caller, workspace), **asked)
    return JSONResponse(found.to_dict(per_query=per_query))


def _rescored(
    workspace: Workspace, ref: str, measures: Measures, match: MatchName | None
) -> JSONResponse:
    (rescored,) = runs.rescore(workspace, ref, measures=measures, match=match)
    return JSONResponse(rescored.to_dict())


def _reported(
    workspace: Workspace, caller: Caller, ref: str, asked: dict[str, Any], form: Form
) -> Response:
    found = reports.report(workspace, ref, **asked)
    if form == "json":
        return JSONResponse(found.to_dict())
    if form == "html":
        found = replace(found, run=viewer_of(caller, workspace).seen_run(found.run))
    write = {"md": run_markdown, "html": run_page, "csv": run_csv}[form]
    # a download: our content security policy would block the inline style of the page
    headers = {"content-disposition": f'attachment; filename="{found.run.name}.html"'}
    return Response(
        write(found), media_type=TYPES[form], headers=headers if form == "html" else None
    )
