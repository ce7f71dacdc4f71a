"""Which runs are there, what did they score, and how did a measure change over time?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app import runs
from assay.evaluation.history import Series
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import Evaluator, Reader, ServiceOf, cli, curl, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.service import Service
from assay.model.runs import RunInfo, RunStatus
from assay.render.svg import TrendPoint, trend

router = new_router()

NAMES = {measure.key: str(measure) for measure in runs.headline_measures()}
HEADLINES = tuple(NAMES)
TREND = 100
SMALL_N = 25
"""With fewer queries a mean says little; such runs get a badge."""


@dataclass(frozen=True, slots=True)
class Headline:
    """One measure of a run: its value and its interval, where they are known."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One run of the list."""

    info: RunInfo
    headlines: Sequence[Headline]
    failed: int
    degraded: int

    @property
    def underpowered(self) -> bool:
        """Whether it has too few queries to tell much."""
        return 0 < self.info.queries < SMALL_N


@dataclass(frozen=True, slots=True)
class RunFilters:
    """The filters of the list."""

    suite: str
    status: str
    tag: str
    measure: str
    threshold: str

    def params(self) -> list[tuple[str, str]]:
        """The parameters of an address."""
        usual = "" if self.measure == HEADLINES[0] else self.measure
        return [
            ("suite", self.suite),
            ("status", self.status),
            ("tag", self.tag),
            ("measure", usual),
            ("threshold", self.threshold),
        ]


@router.get("/runs")
async def runs_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The list with its trend."""
    del caller
    params = request.query_params
    chosen = RunFilters(
        suite=params.get("suite", ""),
        status=params.get("status", ""),
        tag=params.get("tag", ""),
        measure=params.get("measure") or HEADLINES[0],
        threshold=params.get("threshold", ""),
    )
    number = page_number(params.get("page"))
    return page(
        request,
        "ui/runs.html",
        chosen=chosen,
        **await service.work(lambda: _listed(service, chosen, number)),
        statuses=[status.value for status in RunStatus],
        names=NAMES,
        commands=[
            cli("eval", "list", *(["--suite", chosen.suite] if chosen.suite else [])),
            curl(request, "/v1/runs", chosen.params()[:3]),
        ],
    )


@router.post("/ui/tag")
async def tag(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Add a tag to a run, such as baseline, or remove one."""
    del caller
    fields = await form_of(request)
    ref, name = fields.get("run", ""), fields.get("tag", "").strip()

    def change() -> None:
        if fields.get("remove"):
            runs.untag(service.workspace, name)
        else:
            runs.tag(service.workspace, ref, name)

    await service.work(change)
    return RedirectResponse(f"/runs/{ref}" if fields.get("to") == "run" else "/runs", 303)


def _listed(service: Service, chosen: RunFilters, number: int) -> dict[str, Any]:
    store = service.workspace.runs
    wanted = runs.run_filter(chosen.suite, chosen.status, chosen.tag)
    found = runs.list_runs(service.workspace, wanted, limit=PAGE, offset=(number - 1) * PAGE)
    suites = store.suites()
    suite = chosen.suite or (found.runs[0].suite if found.runs else "")
    past = runs.history(service.workspace, suite, limit=TREND) if suite else None
    series = past.series[0] if past is not None and past.series else None
    return {
        "rows": [row(info) for info in found.runs],
        "total": found.total,
        "notes": found.notes,
        "suites": suites,
        "suite": suite,
        "listing": listing("/runs", chosen.params(), number, found.total),
        "trend": _trend(series, chosen) if series is not None and len(series.runs) > 1 else None,
        "series": series,
        "other_runs": 0 if past is None or series is None else len(past.runs) - len(series.runs),
    }


def row(info: RunInfo) -> Row:
    """What the list shows of a run."""
    aggregate: Mapping[str, Any] = info.aggregate
    details = aggregate.get("aggregates", {})
    return Row(
        info,
        [_headline(aggregate.get("metrics", {}), details, name) for name in HEADLINES],
        failed=int(aggregate.get("failed_queries") or 0),
        degraded=int(aggregate.get("degraded_queries") or 0),
    )


def _headline(metrics: Mapping[str, Any], details: Mapping[str, Any], name: str) -> Headline:
    ci = (details.get(name) or {}).get("ci") or (None, None)
    return Headline(metrics.get(name), ci[0], ci[1])


def _trend(series: Series, chosen: RunFilters) -> Any:
    """Values over time; the line breaks where the configuration or the chunker changed."""
    points: list[TrendPoint] = []
    before: RunInfo | None = None
    for info in series.runs:
        value = info.aggregate.get("metrics", {}).get(chosen.measure)
        points.append(
            TrendPoint(
                label=info.name or info.run_id,
                when=info.created_at[:10],
                value=value,
                broken=_break(before, info),
                link=f"/runs/{info.run_id}",
            )
        )
        before = info
    return trend(points, name=NAMES.get(chosen.measure, chosen.measure),
                 threshold=_threshold(chosen.threshold))  # fmt: skip


def _break(before: RunInfo | None, now: RunInfo) -> str:
    if before is None:
        return ""
    if before.chunker_versions != now.chunker_versions:
        return f"chunker {', '.join(now.chunker_versions)}"
    return ""


def _threshold(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None
