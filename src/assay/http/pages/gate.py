"""May this run replace the baseline, and what would the comment on the change say?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Request
from starlette.responses import Response

from assay.app.gate import gate_runs
from assay.app.held_out import hidden_in, masked_gate
from assay.errors import UnknownRunError
from assay.evaluation.defaults import GATE_LIMIT
from assay.evaluation.gate import GateReport
from assay.http.edge.auth import Caller
from assay.http.pages.compared import kept, mark_of
from assay.http.pages.held_out import WORDS, Veil, veil
from assay.http.pages.pages import Reader, ServiceOf, cli, curl_post, page
from assay.http.pages.pages import router as new_router
from assay.http.service import Service
from assay.model.run_store import RunFilter, RunStore
from assay.model.runs import RunStatus
from assay.render.gate import gate_markdown, gate_tables
from assay.store.refs import BASELINE

router = new_router()


@router.get("/gate")
async def gate_page(
    request: Request,
    service: ServiceOf,
    caller: Reader,
    baseline: str = "",
    current: str = "",
    limits: str = GATE_LIMIT,
    mode: str = "",
) -> Response:
    """The ruling, and the comment that a pull request would get."""
    by_interval = mode == "non-inferiority"
    chosen = {"baseline": baseline, "current": current, "limits": limits, "mode": mode}
    values: dict[str, Any] = {"report": None, "tables": (), "comment": "", "veil": None}
    recent = await service.work(lambda: service.workspace.runs.runs(limit=100))
    if baseline and current:
        asked = (baseline, current, limits, by_interval)
        report, over = await service.work(lambda: _shown(request, service, caller, asked))
        values = {
            "report": report,
            "tables": gate_tables(report),
            "comment": gate_markdown(report),
            "veil": over,
        }
    usual = baseline or await service.work(lambda: _usual(service.workspace.runs, current))
    listed = limits.split()
    words = ["eval", "gate", "--baseline", baseline or BASELINE, "--current", current or "latest"]
    words += [word for one in listed for word in ("--limit", one)]
    body = {"baseline": baseline, "current": current, "limits": listed}
    return page(
        request,
        "ui/gate.html",
        chosen={**chosen, "baseline": usual},
        recent=recent.runs,
        **values,
        commands=[
            cli(*words, *(["--non-inferiority"] if by_interval else [])),
            curl_post(request, "/v1/gate", {**body, "non_inferiority": by_interval}),
        ],
    )


def _usual(runs: RunStore, current: str) -> str:
    """What a run is held against where nobody says: the tag baseline, else the newest other run.

    Only a complete run of the same test set will do; empty where there is none.
    """
    try:
        now = runs.run(current or "latest")
    except UnknownRunError:
        return ""
    fitting = RunFilter(suite=now.suite, status=RunStatus.COMPLETE)
    tagged = runs.runs(replace(fitting, tag=BASELINE), limit=1).runs
    if any(info.run_id != now.run_id for info in tagged):
        return BASELINE
    others = (info.run_id for info in runs.runs(fitting, limit=2).runs)
    return next((run_id for run_id in others if run_id != now.run_id), "")


def _shown(
    request: Request, service: Service, caller: Caller, asked: tuple[str, str, str, bool]
) -> tuple[GateReport, Veil]:
    """The ruling, without the words of held-out queries until somebody asks for them."""
    report, held = _ruling(service, *asked)
    over = veil(request, service, caller, held, service.workspace.runs.run(report.current))
    return masked_gate(report, over.hidden, WORDS), over


def _ruling(
    service: Service, baseline: str, current: str, limits: str, by_interval: bool
) -> tuple[GateReport, frozenset[str]]:
    """The ruling, and which of the queries that it names are held out."""
    store = service.workspace.runs
    before, now = store.run(baseline), store.run(current)
    key = ("gate", mark_of(before), mark_of(now), limits, str(by_interval))

    def make() -> tuple[GateReport, frozenset[str]]:
        report = gate_runs(
            service.workspace,
            before.run_id,
            now.run_id,
            limits.split(),
            non_inferiority=by_interval,
        )
        named = {one.query_id for one in report.failing}
        return report, hidden_in(store.test_set(now.run_id)) & named

    return kept(service, key, make)
