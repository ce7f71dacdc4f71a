"""What came out of a run: its scores, one query, a report, a run file, and the runs before it?"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import Query, Response
from fastapi.responses import JSONResponse

from assay.app.held_out import masked_fates, masked_outcome, masked_query
from assay.app.history import history
from assay.app.run_views import query_of_run, rescore_run, view_run
from assay.errors import UsageError
from assay.evaluation.defaults import REPORT_MEASURES, WORKFLOW_MEASURES, WORKFLOW_TARGETS
from assay.evaluation.report import parse_targets, run_report
from assay.evaluation.result import ScoringOptions
from assay.http.edge.problems import ProblemError
from assay.http.held_out import hidden_from, run_shown_to
from assay.http.routes.runs import Run
from assay.http.routing import Evaluator, Reader, ServiceOf, refusals, rendered
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Id, Json, Switch
from assay.http.wire.paging import Limit
from assay.http.wire.runs import HistoryAnswer, MeasureText, QueryOutcomeAnswer, RescoreRequest
from assay.model.ranking import MatchName
from assay.render.report_page import run_page
from assay.render.report_text import run_csv, run_markdown
from assay.render.run_file import trec_run
from assay.render.runs import history_json, query_json

router = new_router("runs", prefix="/v1")

Measure = Annotated[list[MeasureText], Query(max_length=50, description="May be repeated.")]
Match = Annotated[
    MatchName,
    Query(description="By the ids that were judged, by document, or by span."),
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
TREC: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/runs/{ref}/scores", response_model=Json, responses=refusals(404))
async def run_scores(
    ref: Run,
    service: ServiceOf,
    caller: Reader,
    measure: Measure = [],  # noqa: B006 - the framework copies it
    match: Match = "exact",
    per_component: Annotated[Switch, Query(description="Every component for itself.")] = False,
    waterfall: Annotated[Switch, Query(description="Where documents were lost.")] = False,
    per_query: Annotated[Switch, Query(description="The values of every query.")] = False,
) -> JSONResponse:
    """Score a stored run, also under other measures; nothing is searched.

    A waterfall names no documents of held-out queries unless the key has the scope evaluate; then
    the look is logged.
    """
    scoring = _scoring(service, measure, match)

    def work() -> dict[str, Any]:
        view = view_run(
            service.workspace, ref, scoring, per_component=per_component, waterfall=waterfall
        )
        if view.fates is not None:
            hidden = hidden_from(caller, service, view.result.test_set)
            view = replace(view, fates=masked_fates(view.fates, hidden))
        return view.to_dict(per_query=per_query)

    return await rendered(service, work)


@router.get(
    "/runs/{ref}/queries/{query_id}", response_model=QueryOutcomeAnswer, responses=refusals(404)
)
async def run_query(ref: Run, query_id: Id, service: ServiceOf, caller: Reader) -> JSONResponse:
    """One query of a run: what was judged, what came back, and what happened.

    A held-out one is masked unless the key has the scope evaluate; then the look is logged.
    """

    def work() -> dict[str, Any]:
        query, outcome = query_of_run(service.workspace, ref, query_id)
        test_set = service.workspace.runs.test_set(ref)
        if hidden_from(caller, service, test_set, {query_id}):
            query, outcome = masked_query(query), masked_outcome(outcome)
        return query_json(query, outcome)

    try:
        return await rendered(service, work)
    except UsageError as error:
        hint = "GET /v1/runs/{ref}/queries lists them"
        raise ProblemError(404, "not_found", error.message, hint=hint) from None


@router.post("/runs/{ref}/rescore", response_model=Json, responses=refusals(404))
async def rescore(
    ref: Run, asked: RescoreRequest, service: ServiceOf, caller: Evaluator
) -> JSONResponse:
    """Score a run again with newer formulas or more measures, and keep the result."""
    del caller
    scoring = _scoring(service, asked.measures or (), asked.match)

    def work() -> dict[str, Any]:
        info = service.workspace.runs.run(ref)
        result = rescore_run(service.workspace, info, scoring)
        before = info.aggregate.get("metrics")
        return {"run_id": info.run_id, "before": before, **result.to_dict()}

    return await rendered(service, work)


@router.get("/runs/{ref}/report", response_class=Response, responses={**refusals(404), **REPORTS})
async def report(
    ref: Run,
    service: ServiceOf,
    caller: Reader,
    form: Annotated[Form, Query(alias="format", description="How it is written.")] = "json",
    measure: Measure = [],  # noqa: B006 - the framework copies it
    workflow: Annotated[Switch, Query(description="P and R at 1, 3, 5, 10, MAP, nDCG@10.")] = False,
) -> Response:
    """A report on one run: tables, breakdowns, insights, worst queries.

    The page masks held-out queries unless the key has the scope evaluate; then the look is logged.
    """
    usual = WORKFLOW_MEASURES if workflow else REPORT_MEASURES

    def work() -> Response:
        found = run_report(
            service.workspace.stored_run(ref),
            " ".join(measure) or usual,
            targets=parse_targets(WORKFLOW_TARGETS),
            sampling=service.config.sampling,
        )
        if form == "json":
            return JSONResponse(found.to_dict())
        if form == "html":
            found = replace(found, run=run_shown_to(caller, service, found.run))
        write = {"md": run_markdown, "html": run_page, "csv": run_csv}[form]
        # the page has a style of its own, which the policy of this site would not let it use
        headers = {"content-disposition": f'attachment; filename="{found.run.name}.html"'}
        return Response(
            write(found), media_type=TYPES[form], headers=headers if form == "html" else None
        )

    return await service.work(work)


@router.get("/runs/{ref}/trec", response_class=Response, responses={**refusals(404), **TREC})
async def run_file(
    ref: Run,
    service: ServiceOf,
    caller: Reader,
    documents: Annotated[Switch, Query(description="Name documents, not chunks.")] = False,
) -> Response:
    """The rankings of a run as a TREC run file."""
    del caller

    def work() -> str:
        info = service.workspace.runs.run(ref)
        outcomes = service.workspace.runs.outcomes(info.run_id, stages=False)
        return trec_run(outcomes, info.name or info.run_id, documents=documents) + "\n"

    return Response(await service.work(work), media_type="text/plain; charset=utf-8")


@router.get("/history/{suite}", response_model=HistoryAnswer, responses=refusals())
async def suite_history(
    suite: Id,
    service: ServiceOf,
    caller: Reader,
    measure: Measure = [],  # noqa: B006 - the framework copies it
    part: Annotated[str, Query(max_length=80, description="Runs of this part only.")] = "",
    limit: Limit = 20,
) -> JSONResponse:
    """How the measures of one test set went from run to run, the oldest first."""
    del caller

    def work() -> dict[str, Any]:
        found = history(service.workspace.runs, suite, measure, part=part, limit=limit)
        return history_json(suite, found.runs, found.measures)

    return await rendered(service, work)


def _scoring(
    service: Service, measures: list[str] | tuple[str, ...], match: MatchName
) -> ScoringOptions:
    return ScoringOptions(
        measures=" ".join(measures) or None,
        match=match,
        sampling=service.config.sampling,
    )
