"""What did one run score, on which queries, and where did it lose relevant documents?

The page itself shows what was stored with the run; it then fetches what has to be computed
(queries, components, stages), which is cached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from assay.app import cost, run_view, runs
from assay.app.held_out import hidden_in, masked_fates
from assay.app.prometheus import Gauges, destinations, publish_now
from assay.app.run_view import QueryScores
from assay.evaluation.components import HYBRID
from assay.evaluation.scope import total_text
from assay.evaluation.waterfall import Fate, Stage
from assay.http.pages.held_out import MASK, masking, masking_of, viewer_of
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import (
    Command,
    Evaluator,
    Reader,
    ServiceOf,
    cli,
    curl,
    form_of,
    page,
)
from assay.http.pages.page import router as new_router
from assay.http.pages.page_cache import cached, run_version
from assay.http.pages.pane import search_link
from assay.http.pages.query_pair import DEPTH, ranked_lines
from assay.http.pages.runs import HEADLINES, SMALL_N, baseline_run, row
from assay.http.service import Service
from assay.model.runs import RunInfo, RunStatus
from assay.model.testset import TestSet
from assay.plural import counted
from assay.render.report_page import origin
from assay.render.svg import HistogramBar, histogram

router = new_router()

BINS = 10
MISSES = 30
NO_LISTS = "This run has no lists of its components, so the stages are not known."
NOTHING_RELEVANT = "No query of this run has a relevant document, so nothing can be lost."


@dataclass(frozen=True, slots=True)
class TypeRow:
    """What the queries of one type score, and the address that lists them."""

    kind: str
    link: str
    queries: int
    values: Sequence[float | None]


@router.get("/runs/{ref}")
async def run_page(ref: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """One run, as it was stored."""
    del caller
    workspace = service.workspace

    def read() -> tuple[RunInfo, RunInfo | None, str | None]:
        """The run, the baseline of its test set, and why it sets no gauges."""
        info = runs.with_figures(workspace, workspace.runs.run(ref))
        known = baseline_run(service)
        if info.status is not RunStatus.COMPLETE:
            return info, known, None
        return info, known, Gauges(workspace).objection(info) or ""

    info, baseline, gauge = await service.work(read)
    if baseline is not None and baseline.suite != info.suite:
        baseline = None
    aggregates = _headlines_first(info.aggregate.get("aggregates", {}))
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
        baseline=baseline,
        gauge=gauge,
        destinations=sorted(destinations(service.settings)),
        commands=[
            *_resuming(info),
            cli("eval", "show", info.run_id, "--per-component", "--waterfall"),
            cli("eval", "report", info.run_id),
            curl(request, f"/v1/runs/{info.run_id}"),
        ],
    )


def _headlines_first(aggregates: Mapping[str, Any]) -> list[Any]:
    """The figures of a run, with those first that lists of runs have."""
    order = {name: at for at, name in enumerate(HEADLINES)}
    return [
        aggregates[key] for key in sorted(aggregates, key=lambda key: order.get(key, len(order)))
    ]


@router.post("/ui/publish")
async def publish(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Hand the gauges to where the settings want them."""
    del caller
    ref = (await form_of(request)).get("run", "")
    await service.work(lambda: publish_now(service.workspace))
    return RedirectResponse(f"/runs/{ref}" if ref else "/runs", 303)


@router.get("/runs/{ref}/queries")
async def queries_part(ref: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The queries, worst first, with charts over all of them."""
    number = page_number(request.query_params.get("page"))
    params = request.query_params
    text, kind = params.get("text", "").strip(), params.get("type", "")
    low, high = _share(params.get("low"), 0.0), _share(params.get("high"), 1.0)
    least, most = params.get("low", ""), params.get("high", "")

    def work() -> dict[str, Any]:
        info = service.workspace.runs.run(ref)
        found = cached(
            service,
            ("scored", run_version(service, info)),
            lambda: service.compute(
                cost.scored(service.workspace, info.run_id), run_view.query_scores, info.run_id
            ),
        )
        mask = masking(request, service, caller, found.held_out, info)
        queries = mask.masked(found.queries)
        rows = [
            (name, value)
            for name, value in found.values.items()
            if text.lower() in f"{name} {queries[name].query_text}".lower()
            and kind in ("", queries[name].query_type or "")
            and (not (least or most) or (value is not None and low <= value <= high))
        ]
        rows.sort(key=lambda pair: (2.0 if pair[1] is None else pair[1], pair[0]))
        start = (number - 1) * PAGE
        address = f"/runs/{info.run_id}/queries"
        chosen = [
            ("text", text),
            ("type", kind),
            ("low", least),
            ("high", most),
            ("reveal", mask.reveal),
        ]
        return {
            "info": info,
            "found": found,
            "queries": queries,
            "masking": mask,
            "text": text,
            "kind": kind,
            "least": least,
            "most": most,
            "rows": rows[start : start + PAGE],
            "listing": listing(address, chosen, number, len(rows)),
            "measures": found.headlines,
            "by_type": _by_type(found, address),
            "distribution": _distribution(found, address),
        }

    return page(request, "ui/run_queries.html", block="part", **await service.work(work))


@router.get("/runs/{ref}/query/{query}")
async def one_query(
    ref: str, query: str, request: Request, service: ServiceOf, caller: Reader
) -> Response:
    """One query: what came back, and what was expected."""

    def work() -> dict[str, Any]:
        viewer = viewer_of(request, service, caller)
        found = run_view.query(service.workspace, ref, query, viewer=viewer)
        hidden = frozenset({query}) if found.hidden else frozenset()
        return {
            "info": found.info,
            "masking": masking_of(request, caller, hidden),
            "query": found.query,
            "outcome": found.outcome,
            "lines": ranked_lines(found.outcome, found.grades, found.outcome),
            "labels": service.workspace.labels(
                [
                    *(one.chunk_id for one in found.outcome.results[:DEPTH]),
                    *(one.id for one in found.relevant),
                ]
            ),
            "search": search_link(
                found.info, service.workspace.settings.search, found.query.query_text
            ),
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
            lambda: service.compute(
                cost.scored(service.workspace, info.run_id, stages=True),
                run_view.stages,
                info.run_id,
            ),
        )
        if view is None or view.result is None or view.fates is None:
            return {"info": info, "found": None, "why": NO_LISTS}
        if not view.result.scores.measures:
            return {"info": info, "found": None, "why": NOTHING_RELEVANT}
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
            "labels": service.workspace.labels([one.id for one in misses[:MISSES]]),
            "questions": {
                name: query.query_text
                for name, query in mask.masked(view.result.test_set.by_id).items()
                if name not in mask.hidden
            },
            "missed": len(misses),
            "explained": _explained(service, info, view.result.test_set, misses[:MISSES]),
            "masking": mask,
        }

    return page(request, "ui/run_stages.html", block="part", **await service.work(work))


def _explained(
    service: Service, info: RunInfo, test_set: TestSet, misses: Sequence[Fate]
) -> dict[tuple[str, str], str]:
    """The search that says why a document is missing, under the run's configuration."""
    usual = service.workspace.settings.search
    return {
        (one.query_id, one.id): search_link(
            info, usual, test_set.by_id[one.query_id].query_text, one.id
        )
        for one in misses
        if one.query_id in test_set.by_id
    }


def _by_type(found: QueryScores, target: str) -> list[TypeRow]:
    return [
        TypeRow(
            kind.replace("_", " "),
            f"{target}?{urlencode({'type': kind})}#queries",
            len(part.queries),
            [part[measure] for measure in found.headlines],
        )
        for kind, part in found.by_type.items()
    ]


def _distribution(found: QueryScores, target: str) -> Markup:
    """How many queries have which value of the first measure."""
    if found.primary is None:
        return Markup()
    counts = [0] * BINS
    for value in found.values.values():
        if value is not None:
            counts[min(BINS - 1, int(value * BINS))] += 1
    return histogram(
        [
            HistogramBar(
                f"{bin_ / BINS:.1f}",
                count,
                f"{target}?{urlencode(_bounds(bin_))}#queries" if count else "",
            )
            for bin_, count in enumerate(counts)
        ],
        x_label=f"{found.primary} of a query, from",
        y_label="queries",
    )


def _bounds(bin_: int) -> dict[str, str]:
    """The values of a bar; the last one has its upper end, too."""
    high = 1.0 if bin_ == BINS - 1 else (bin_ + 1) / BINS - 1e-6
    return {"low": f"{bin_ / BINS:g}", "high": f"{high:g}"}


def _share(text: str | None, otherwise: float) -> float:
    try:
        return float(text or otherwise)
    except ValueError:
        return otherwise


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
