"""What did one run score, on which queries, and where did it lose relevant documents?

The page itself shows what was stored with the run; it then fetches what has to be computed
(queries, components, stages), which is cached.
"""

from __future__ import annotations

from typing import Any

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from assay.app import runs
from assay.app.held_out import hidden_in, masked_fates
from assay.app.runs import QueryScores
from assay.evaluation.components import HYBRID
from assay.evaluation.scope import total_text
from assay.evaluation.waterfall import Stage
from assay.http.pages.held_out import MASK, masking, masking_of, viewer_of
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import Command, Reader, ServiceOf, cli, curl, page
from assay.http.pages.page import router as new_router
from assay.http.pages.page_cache import cached, run_version
from assay.http.pages.query_pair import ranked_lines
from assay.http.pages.runs import SMALL_N, row
from assay.model.runs import RunInfo, RunStatus
from assay.plural import counted
from assay.render.report_page import origin
from assay.render.svg import Bar, HistogramBar, heat_bars, histogram

router = new_router()

BINS = 10
MISSES = 30


@router.get("/runs/{ref}")
async def run_page(ref: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """One run, as it was stored."""
    del caller
    workspace = service.workspace
    info = await service.work(lambda: runs.with_figures(workspace, workspace.runs.run(ref)))
    aggregates = list(info.aggregate.get("aggregates", {}).values())
    if info.figures_only:
        unknown = dict.fromkeys(("median", "std", "ci", "ci_reason", "reason"))
        aggregates = [
            {**unknown, "measure": name, "mean": value, "n": info.queries}
            for name, value in info.aggregate.get("metrics", {}).items()
        ]
    return page(
        request,
        "ui/run.html",
        info=info,
        row=row(info),
        aggregates=aggregates,
        level=info.aggregate.get("sampling", {}).get("level"),
        latency=info.aggregate.get("latency_ms", {}),
        usage=info.aggregate.get("usage"),
        total=total_text(info.total, info.skipped, "query"),
        warnings=[*info.aggregate.get("warnings", ()), *_about(info)],
        facts=[*origin(info), ("seed", str(info.seed))],
        commands=[
            *_resuming(info),
            cli("eval", "show", info.run_id, "--per-component", "--waterfall"),
            cli("eval", "report", info.run_id),
            curl(request, f"/v1/runs/{info.run_id}"),
        ],
    )


@router.get("/runs/{ref}/queries")
async def queries_part(ref: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The queries, worst first, with charts over all of them."""
    number = page_number(request.query_params.get("page"))
    text = request.query_params.get("text", "").strip()

    def work() -> dict[str, Any]:
        info = service.workspace.runs.run(ref)
        found = cached(
            service,
            ("scored", run_version(service, info)),
            lambda: runs.query_scores(service.workspace, info.run_id),
        )
        mask = masking(request, service, caller, found.held_out, info)
        queries = mask.masked(found.queries)
        rows = [
            (name, value)
            for name, value in found.values.items()
            if text.lower() in f"{name} {queries[name].query_text}".lower()
        ]
        rows.sort(key=lambda pair: (2.0 if pair[1] is None else pair[1], pair[0]))
        start = (number - 1) * PAGE
        address = f"/runs/{info.run_id}/queries"
        chosen = [("text", text), ("reveal", mask.reveal)]
        return {
            "info": info,
            "found": found,
            "queries": queries,
            "masking": mask,
            "text": text,
            "rows": rows[start : start + PAGE],
            "listing": listing(address, chosen, number, len(rows)),
            "charts": _charts(found),
            "distribution": _distribution(found),
        }

    return page(request, "ui/run_queries.html", block="part", **await service.work(work))


@router.get("/runs/{ref}/query/{query}")
async def one_query(
    ref: str, query: str, request: Request, service: ServiceOf, caller: Reader
) -> Response:
    """One query: what came back, and what was expected."""

    def work() -> dict[str, Any]:
        viewer = viewer_of(request, service, caller)
        found = runs.query(service.workspace, ref, query, viewer=viewer)
        hidden = frozenset({query}) if found.hidden else frozenset()
        return {
            "info": found.info,
            "masking": masking_of(request, caller, hidden),
            "query": found.query,
            "outcome": found.outcome,
            "lines": ranked_lines(found.outcome, found.grades, found.outcome),
            "expected": found.relevant,
        }

    return page(request, "ui/run_query.html", block="part", **await service.work(work))


@router.get("/runs/{ref}/stages")
async def stages_part(ref: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Components side by side, and the stages at which relevant documents were lost."""

    def work() -> dict[str, Any]:
        info = service.workspace.runs.run(ref)
        view = cached(
            service,
            ("stages", run_version(service, info)),
            lambda: runs.stages(service.workspace, info.run_id),
        )
        if view is None or view.result is None or view.fates is None:
            return {"info": info, "found": None}
        held = hidden_in(view.result.test_set)
        mask = masking(request, service, caller, held, info)
        fates = masked_fates(view.fates, mask.hidden, MASK).fates
        misses = [one for one in fates if one.stage is not Stage.TOP]
        return {
            "info": info,
            "found": view,
            "measures": view.result.scores.measures,
            "steps": tuple(view.fates.passed().items()),
            "hybrid": HYBRID,
            "misses": misses[:MISSES],
            "missed": len(misses),
            "masking": mask,
        }

    return page(request, "ui/run_stages.html", block="part", **await service.work(work))


def _charts(found: QueryScores) -> list[tuple[str, Markup]]:
    return [
        (
            str(measure),
            heat_bars(
                [
                    Bar(kind.replace("_", " "), part[measure], f"n = {len(part.queries)}")
                    for kind, part in found.by_type.items()
                ]
            ),
        )
        for measure in found.scores.measures[:3]
    ]


def _distribution(found: QueryScores) -> Markup:
    """How many queries have which value of the first measure."""
    counts = [0] * BINS
    for value in found.values.values():
        if value is not None:
            counts[min(BINS - 1, int(value * BINS))] += 1
    return histogram(
        [HistogramBar(f"{bin_ / BINS:.1f}", count) for bin_, count in enumerate(counts)],
        name=f"queries by {found.primary}",
    )


def _resuming(info: RunInfo) -> list[Command]:
    """How to go on with a run that was cut short."""
    if info.status is not RunStatus.INTERRUPTED:
        return []
    return [cli("eval", "run", "--resume", info.run_id)]


def _about(info: RunInfo) -> list[str]:
    if info.figures_only:
        return ["FIGURES ONLY: they were saved without rankings; nothing is computed from them"]
    if 0 < info.queries < SMALL_N:
        return [
            f"UNDERPOWERED: {counted(info.queries, 'query')} cannot show much; see the intervals"
        ]
    return []
