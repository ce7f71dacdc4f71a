"""Which runs are there, what did they score, and how did a measure change over time?

The store filters, sorts and pages, so that ten thousand runs are as quick as ten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app import runs
from assay.errors import AssayError
from assay.evaluation.history import History
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import (
    Administrator,
    Evaluator,
    Reader,
    ServiceOf,
    address,
    cli,
    curl,
    form_of,
    page,
)
from assay.http.pages.page import router as new_router
from assay.http.service import Service
from assay.model.run_store import BASELINE, NEWEST_FIRST, RunOrder
from assay.model.runs import RunInfo, RunStatus
from assay.plural import counted
from assay.render.svg import TrendPoint, trend

router = new_router()

NAMES = {measure.key: str(measure) for measure in runs.headline_measures()}
HEADLINES = tuple(NAMES)
TREND = 100
TREND_WIDTHS = 960, 400
"""Of the chart on a large screen and on a phone."""
SMALL_N = 25
"""With fewer queries a mean says little; such runs get a badge."""
MOST_DIFFERENCES = 5
"""Columns of configuration that a table has room for."""
SLOW, FAST = 2.0, 0.5
"""A latency so many times the median of the page is coloured."""
NO_SETTING = frozenset({"assay", "lexicon", "synonyms", "own_components", "answerer", "judge"})
"""Parts of a configuration that people do not choose."""


@dataclass(frozen=True, slots=True)
class Headline:
    """One measure of a run: its value and its interval, where they are known."""

    value: float | None
    low: float | None = None
    high: float | None = None
    best: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One run of the list; ``settings`` are those in which the runs of the page differ."""

    info: RunInfo
    headlines: Sequence[Headline]
    failed: int
    degraded: int
    settings: Sequence[str] = ()

    @property
    def underpowered(self) -> bool:
        """Whether it has too few queries to tell much."""
        return 0 < self.info.queries < SMALL_N

    @property
    def latency(self) -> float | None:
        """The 95th percentile, in milliseconds."""
        found = self.info.aggregate.get("latency_ms", {}).get("p95")
        return found if isinstance(found, (int, float)) else None


@dataclass(frozen=True, slots=True)
class RunFilters:
    """What the address asks for: which runs, in which order, with which columns."""

    suite: str = ""
    status: str = ""
    tag: str = ""
    text: str = ""
    config: str = ""
    each: str = ""
    sort: str = ""
    columns: tuple[str, ...] = HEADLINES
    measure: str = HEADLINES[0]
    threshold: str = ""

    @property
    def order(self) -> RunOrder:
        """How the list is sorted."""
        return runs.run_order(self.sort)

    def params(self, **other: str) -> list[tuple[str, str]]:
        """The parameters of an address, some of them changed."""
        values = {
            "suite": self.suite,
            "status": self.status,
            "tag": self.tag,
            "text": self.text,
            "config": self.config,
            "each": self.each,
            "sort": self.sort,
            "columns": "" if self.columns == HEADLINES else ",".join(self.columns),
            "measure": "" if self.measure == HEADLINES[0] else self.measure,
            "threshold": self.threshold,
        }
        return list({**values, **other}.items())

    def link(self, **other: str) -> str:
        """The same list, changed in something."""
        return address("/runs", self.params(**other))

    def sorted_by(self, name: str) -> str:
        """The same list sorted by a column: largest first, and the other way at the next click."""
        order = self.order
        turned = order.by == name and order.descending
        wanted = RunOrder(name, descending=not turned)
        return self.link(sort="" if wanted == NEWEST_FIRST else str(wanted))

    def direction(self, name: str) -> str:
        """How a column is sorted, as assistive technology says it; empty where it is not."""
        order = self.order
        return "" if order.by != name else "descending" if order.descending else "ascending"


@router.get("/runs")
async def runs_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The list with its trend."""
    params = request.query_params
    columns = [name for one in params.getlist("columns") for name in one.split(",") if name.strip()]
    chosen = RunFilters(
        suite=params.get("suite", ""),
        status=params.get("status", ""),
        tag=params.get("tag", ""),
        text=params.get("text", "").strip(),
        config=params.get("config", ""),
        each="on" if params.get("each") else "",
        sort=params.get("sort", ""),
        columns=tuple(dict.fromkeys(columns)) or HEADLINES,
        measure=params.get("measure") or HEADLINES[0],
        threshold=params.get("threshold", ""),
    )
    number = page_number(params.get("page"))
    return page(
        request,
        "ui/runs.html",
        chosen=chosen,
        **await service.work(lambda: _listed(service, chosen, number, admin=caller.may("admin"))),
        just_deleted=params.get("deleted", ""),
        statuses=[status.value for status in RunStatus],
        commands=[
            cli(
                "eval",
                "list",
                *(["--suite", chosen.suite] if chosen.suite else []),
                *(["--text", chosen.text] if chosen.text else []),
                *([f"--sort={chosen.sort}"] if chosen.sort else []),
            ),
            curl(
                request,
                "/v1/runs",
                [
                    ("suite", chosen.suite),
                    ("status", chosen.status),
                    ("tag", chosen.tag),
                    ("text", chosen.text),
                    ("sort", chosen.sort),
                ],
            ),
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


@router.post("/ui/runs/delete")
async def delete(request: Request, service: ServiceOf, caller: Administrator) -> Response:
    """Delete a run; the list then offers to bring it back."""
    del caller
    ref = (await form_of(request)).get("run", "")
    info = await service.work(lambda: runs.delete(service.workspace, ref))
    return RedirectResponse(address("/runs", {"deleted": info.run_id}), 303)


@router.post("/ui/runs/restore")
async def restore(request: Request, service: ServiceOf, caller: Administrator) -> Response:
    """Bring back a deleted run."""
    del caller
    run_id = (await form_of(request)).get("run", "")
    info = await service.work(lambda: runs.restore(service.workspace, run_id))
    return RedirectResponse(f"/runs/{info.run_id}", 303)


def _listed(service: Service, chosen: RunFilters, number: int, *, admin: bool) -> dict[str, Any]:
    workspace = service.workspace
    wanted = runs.run_filter(
        chosen.suite,
        chosen.status,
        chosen.tag,
        chosen.config,
        chosen.text,
        newest_only=bool(chosen.each),
    )
    start = (number - 1) * PAGE
    found = runs.list_runs(workspace, wanted, limit=PAGE, offset=start, order=chosen.order)
    suites = workspace.runs.suites()
    suite = chosen.suite or (found.runs[0].suite if found.runs else "")
    past = runs.history(workspace, suite, limit=TREND) if suite else None
    every = differing_settings(found.runs)
    differing = every[:MOST_DIFFERENCES]
    known = {**NAMES, **_measures(found.runs)}
    return {
        "rows": _rows(found.runs, chosen.columns, differing),
        "differing": differing,
        "undrawn": every[MOST_DIFFERENCES:],
        "known": known,
        "names": {key: known.get(key, key) for key in chosen.columns},
        "total": found.total,
        "notes": found.notes,
        "suites": suites,
        "suite": suite,
        "middle": _middle(found.runs),
        "listing": listing("/runs", chosen.params(), number, found.total),
        "baseline": baseline_run(service),
        "deleted": runs.deleted(workspace) if admin else (),
        **_trend(past, suite, chosen, known.get(chosen.measure, chosen.measure)),
    }


def baseline_run(service: Service) -> RunInfo | None:
    """The run with the tag baseline."""
    try:
        found = service.workspace.runs.run(BASELINE)
    except AssayError:
        return None
    return found if BASELINE in found.tags else None


def row(info: RunInfo) -> Row:
    """What a page shows of one run."""
    return _rows([info], HEADLINES, ())[0]


def _rows(infos: Sequence[RunInfo], columns: Sequence[str], differing: Sequence[str]) -> list[Row]:
    """The rows of the list; of several runs of one test set, the best of each column is marked."""
    one_set = len(infos) > 1 and len({(info.suite, info.part) for info in infos}) == 1
    best: dict[str, float] = {}
    for name in columns:
        values = [value for info in infos if (value := _metrics(info).get(name)) is not None]
        if one_set and len(values) > 1:
            best[name] = max(values)
    return [
        Row(
            info,
            [_headline(info, name, best.get(name)) for name in columns],
            failed=int(info.aggregate.get("failed_queries") or 0),
            degraded=int(info.aggregate.get("degraded_queries") or 0),
            settings=[setting(info, name) for name in differing],
        )
        for info in infos
    ]


def _metrics(info: RunInfo) -> Mapping[str, Any]:
    found: Mapping[str, Any] = info.aggregate.get("metrics", {})
    return found


def _headline(info: RunInfo, name: str, best: float | None) -> Headline:
    low, high = _interval(info, name)
    value = _metrics(info).get(name)
    return Headline(value, low, high, best=value is not None and value == best)


def _interval(info: RunInfo, name: str) -> tuple[float | None, float | None]:
    details = info.aggregate.get("aggregates", {}).get(name) or {}
    low, high = details.get("ci") or (None, None)
    return low, high


def _measures(infos: Sequence[RunInfo]) -> dict[str, str]:
    """Every measure that these runs have, by key, as people write it."""
    return {
        key: str(entry.get("measure", key))
        for info in infos
        for key, entry in info.aggregate.get("aggregates", {}).items()
        if isinstance(entry, Mapping)
    }


def differing_settings(infos: Sequence[RunInfo]) -> list[str]:
    """The parts of the configuration that are not the same in all of our own runs among these."""
    ours = [info for info in infos if info.ours]
    if len(ours) < 2:
        return []
    names = dict.fromkeys(name for info in ours for name in info.config if name not in NO_SETTING)
    seen = {name: {setting(info, name) for info in ours} for name in names}
    return [name for name, texts in seen.items() if len(texts) > 1]


def setting(info: RunInfo, name: str) -> str:
    """One part of a run's configuration, in a few characters."""
    if name not in info.config:
        return "—"
    value = info.config[name]
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, Mapping):
        return " ".join(f"{key} {one}" for key, one in value.items()) or "none"
    return str(value) if isinstance(value, str | int | float) else json.dumps(value)


def side_by_side(infos: Sequence[RunInfo]) -> dict[str, Any]:
    """Several runs as columns: settings that differ, and measures that two of them have."""
    measures = {
        key: name
        for key, name in {**NAMES, **_measures(infos)}.items()
        if sum(_metrics(info).get(key) is not None for info in infos) > 1
    }
    return {
        "rows": _rows(infos, tuple(measures), differing := differing_settings(infos)),
        "differing": differing,
        "measures": list(measures.values()),
        "same_set": len({info.test_set_checksum for info in infos}) == 1,
        "middle": _middle(infos),
    }


def _middle(infos: Sequence[RunInfo]) -> float | None:
    """The median latency of the page, against which slow and fast runs are coloured."""
    found = sorted(one.latency for one in map(row, infos) if one.latency is not None)
    return found[len(found) // 2] if len(found) > 2 else None


def _trend(past: History | None, suite: str, chosen: RunFilters, name: str) -> dict[str, Any]:
    """The chart of the newest series that has two runs, and what it leaves out, in words."""
    everything = past.series if past is not None else ()
    series = next((one for one in everything if len(one.runs) > 1), None)
    if past is None or series is None:
        said = f"A trend needs two complete runs of {suite} that can be compared." if suite else ""
        return {"trend": None, "no_trend": said, "series": None, "left_out": ()}
    beside = [
        info
        for info in past.runs
        if info.run_id in past.unsound
        and (info.part, info.engine, info.test_set_version)
        == (series.part, series.engine, series.version)
    ]
    shown = sorted([*series.runs, *beside], key=lambda info: (info.created_at, info.run_id))
    points = _points(shown, past, chosen.measure)
    if all(point.value is None for point in points):
        said = f"No trend of {name}: it is undefined in every run of {suite}."
        return {"trend": None, "no_trend": said, "series": None, "left_out": ()}
    others = len(past.runs) - len(shown)
    left_out = list(past.left_out)
    if others:
        left_out.append(f"{counted(others, 'run', 'is')} of other queries, parts or engines")
    wide, narrow = (
        trend(points, name=name, threshold=_threshold(chosen.threshold), width=width)
        for width in TREND_WIDTHS
    )
    return {
        "trend": wide,
        "trend_narrow": narrow,
        "no_trend": "",
        "series": series,
        "left_out": left_out,
    }


def _points(shown: Sequence[RunInfo], past: History, measure: str) -> list[TrendPoint]:
    points: list[TrendPoint] = []
    before: RunInfo | None = None
    for info in shown:
        degraded = info.run_id in past.unsound
        low, high = _interval(info, measure)
        points.append(
            TrendPoint(
                label=info.name or info.run_id,
                when=info.created_at,
                value=_metrics(info).get(measure),
                broken=_break(before, info),
                link=f"/runs/{info.run_id}",
                low=low,
                high=high,
                changed=_change(before, info),
                kind="degraded" if degraded else BASELINE if BASELINE in info.tags else "",
            )
        )
        if not degraded:
            before = info
    return points


def _break(before: RunInfo | None, now: RunInfo) -> str:
    if before is None or before.chunker_versions == now.chunker_versions:
        return ""
    return f"chunker {', '.join(now.chunker_versions)}"


def _change(before: RunInfo | None, now: RunInfo) -> str:
    """What of the configuration is new."""
    if before is None or before.config_hash == now.config_hash:
        return ""
    names = dict.fromkeys((*before.config, *now.config))
    changed = [name for name in names if setting(before, name) != setting(now, name)]
    return "configuration: " + (
        ", ".join(f"{name} {setting(now, name)}" for name in changed[:3]) or "changed"
    )


def _threshold(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None
