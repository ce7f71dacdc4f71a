"""What did one run come to, for which queries, and where did it lose what it should have found?

The page itself shows what was stored with the run; what has to be computed (queries, components,
stages) is fetched by the page and kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from assay.app.held_out import hidden_in, masked_fates, masked_outcomes
from assay.app.run_views import query_of_run
from assay.errors import UsageError
from assay.evaluation.components import HYBRID, ComponentReport, component_names, component_report
from assay.evaluation.defaults import HISTORY_MEASURES, PAGE_MEASURES
from assay.evaluation.match import graded_ranks
from assay.evaluation.outcomes import query_field, score_run
from assay.evaluation.result import ScoringOptions, result_of
from assay.evaluation.sampling import Sampling
from assay.evaluation.scores import Scores
from assay.evaluation.stored_run import StoredRun
from assay.evaluation.waterfall import Stage, Waterfall, waterfall
from assay.http.edge.problems import ProblemError
from assay.http.pages.compared import kept, mark_of
from assay.http.pages.held_out import WORDS, veil
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.pages import Reader, ServiceOf, cli, curl, page
from assay.http.pages.pages import router as new_router
from assay.http.pages.runs import SMALL_N, row
from assay.http.pages.slopes import lines
from assay.http.service import Service
from assay.measures.base import Measure
from assay.model.ranking import Match
from assay.model.runs import RunInfo
from assay.model.testset import GoldenQuery
from assay.plural import counted
from assay.render.report_page import origin
from assay.render.svg import Bar, HistogramBar, heat_bars, histogram
from assay.search.fuse_again import fuser_of

router = new_router()

BINS = 10
MISSES = 30


@dataclass(frozen=True, eq=False)
class Scored:
    """The queries of a run with their values."""

    scores: Scores
    queries: Mapping[str, GoldenQuery]
    by_type: Mapping[str, Scores]
    values: Mapping[str, float | None]
    unjudged: float | None
    held_out: frozenset[str]
    sets: tuple[str, ...]

    @property
    def primary(self) -> Measure:
        """The measure by which queries are ordered."""
        return self.scores.measures[0]


@dataclass(frozen=True, slots=True)
class Stages:
    """What each component brought, and where relevant documents were lost."""

    components: ComponentReport
    measures: tuple[Measure, ...]
    fates: Waterfall
    steps: tuple[tuple[str, int], ...]
    held_out: frozenset[str]


@router.get("/runs/{ref}")
async def run_page(ref: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """One run, as it was stored."""
    del caller
    info = await service.work(lambda: service.workspace.runs.run(ref))
    aggregates = list(info.aggregate.get("aggregates", {}).values())
    return page(
        request,
        "ui/run.html",
        info=info,
        row=row(info),
        aggregates=aggregates,
        level=info.aggregate.get("sampling", {}).get("level"),
        latency=info.aggregate.get("latency_ms", {}),
        warnings=[*info.aggregate.get("warnings", ()), *_small(info)],
        facts=[*origin(info), ("seed", str(info.seed))],
        commands=[
            cli("eval", "show", info.run_id, "--per-component", "--waterfall"),
            cli("eval", "report", info.run_id),
            curl(request, f"/v1/runs/{info.run_id}"),
        ],
    )


@router.get("/runs/{ref}/queries")
async def queries_part(ref: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The queries, worst first, with what they look like on the whole."""
    number = page_number(request.query_params.get("page"))
    text = request.query_params.get("text", "").strip()

    def work() -> dict[str, Any]:
        info = service.workspace.runs.run(ref)
        found = _scored(service, info)
        over = veil(request, service, caller, found.held_out, info)
        queries = over.over(found.queries)
        rows = [
            (name, value)
            for name, value in found.values.items()
            if text.lower() in f"{name} {queries[name].query_text}".lower()
        ]
        rows.sort(key=lambda pair: (2.0 if pair[1] is None else pair[1], pair[0]))
        start = (number - 1) * PAGE
        address = f"/runs/{info.run_id}/queries"
        chosen = [("text", text), ("reveal", over.reveal)]
        return {
            "info": info,
            "found": found,
            "queries": queries,
            "veil": over,
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
    """One query: what came back, and what should have."""

    def work() -> dict[str, Any]:
        info = service.workspace.runs.run(ref)
        try:
            _, outcome = query_of_run(service.workspace, info.run_id, query)
        except UsageError as error:
            hint = "the page of the run lists them"
            raise ProblemError(404, "not_found", error.message, hint=hint) from None
        test_set = service.workspace.runs.test_set(info.run_id)
        over = veil(request, service, caller, hidden_in(test_set) & {query}, info)
        golden = over.over(test_set.by_id)[query]
        (outcome,) = masked_outcomes([outcome], over.hidden, WORDS)
        grades = graded_ranks(golden, outcome, Match.EXACT, {})
        ranks = {one.chunk_id: rank for rank, one in enumerate(outcome.results, 1)}
        missed = [one for one in golden.relevant_docs if one.grade > 0]
        return {
            "info": info,
            "veil": over,
            "query": golden,
            "outcome": outcome,
            "lines": lines(outcome, grades, outcome),
            "expected": [(one, ranks.get(one.id)) for one in missed],
        }

    return page(request, "ui/run_query.html", block="part", **await service.work(work))


@router.get("/runs/{ref}/stages")
async def stages_part(ref: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Components side by side, and the stages at which relevant documents were lost."""

    def work() -> dict[str, Any]:
        info = service.workspace.runs.run(ref)
        found = kept(service, ("stages", mark_of(info)), lambda: _stages(service, info))
        held = found.held_out if found else frozenset()
        over = veil(request, service, caller, held, info)
        fates = masked_fates(found.fates, over.hidden, WORDS).fates if found else ()
        misses = [one for one in fates if one.stage is not Stage.TOP]
        return {"info": info, "found": found, "hybrid": HYBRID, "misses": misses[:MISSES],
                "missed": len(misses), "veil": over}  # fmt: skip

    return page(request, "ui/run_stages.html", block="part", **await service.work(work))


def _scored(service: Service, info: RunInfo) -> Scored:
    return kept(service, ("scored", mark_of(info)), lambda: _score(service, info))


def _score(service: Service, info: RunInfo) -> Scored:
    run = service.workspace.stored_run(info.run_id)
    scores = score_run(run, PAGE_MEASURES)
    return Scored(
        scores=scores,
        queries=run.test_set.by_id,
        by_type=scores.by(query_field(run.queries, "query_type")),
        values=scores.per_query(scores.measures[0]),
        unjudged=scores.summary.unjudged(10),
        held_out=hidden_in(run.test_set),
        sets=_sets(run),
    )


def _sets(run: StoredRun) -> tuple[str, ...]:
    """The test sets that can be named in a command: of one that was joined, its parts."""
    joined = run.test_set.provenance.get("joined")
    parts = joined if isinstance(joined, (list, tuple)) else ()
    names = tuple(str(one[0]) for one in parts if isinstance(one, (list, tuple)) and one)
    return names or (run.info.suite,)


def _stages(service: Service, info: RunInfo) -> Stages | None:
    """None where the run keeps no lists of components."""
    workspace = service.workspace
    run: StoredRun = workspace.stored_run(info.run_id, stages=True)
    if not component_names(run.outcomes):
        return None
    options = ScoringOptions(HISTORY_MEASURES, sampling=Sampling(resamples=1_000))
    whole = result_of(run.test_set, run.outcomes, options, name=HYBRID)
    report = component_report(
        run.test_set,
        run.outcomes,
        options,
        fuse_again=fuser_of(info.config) if info.ours else None,
        hybrid=whole,
        look_up=workspace.places_of(info),
    )
    fates = waterfall(
        run.test_set,
        run.outcomes,
        present=workspace.present,
        look_up=workspace.places_of(info),
    )
    return Stages(
        report,
        whole.scores.measures,
        fates,
        tuple(fates.passed().items()),
        hidden_in(run.test_set),
    )


def _charts(found: Scored) -> list[tuple[str, Markup]]:
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


def _distribution(found: Scored) -> Markup:
    """How many queries have which value of the first measure."""
    counts = [0] * BINS
    for value in found.values.values():
        if value is not None:
            counts[min(BINS - 1, int(value * BINS))] += 1
    return histogram(
        [HistogramBar(f"{at / BINS:.1f}", count) for at, count in enumerate(counts)],
        name=f"queries by {found.primary}",
    )


def _small(info: RunInfo) -> list[str]:
    if 0 < info.queries < SMALL_N:
        return [
            f"UNDERPOWERED: {counted(info.queries, 'query')} can tell little; see the intervals"
        ]
    return []
