"""May this run replace the baseline, and what does the comment on the change say?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Request
from starlette.responses import Response

from assay.app import cost
from assay.app.gate import GateRequest, gate, usual_baseline
from assay.app.held_out import hidden_in, masked_gate
from assay.evaluation.defaults import GATE_LIMIT
from assay.evaluation.gate import GateReport
from assay.http.edge.auth import Caller
from assay.http.pages.held_out import MASK, Masking, masking
from assay.http.pages.page import Reader, ServiceOf, cli, curl_post, page
from assay.http.pages.page import router as new_router
from assay.http.pages.page_cache import cached, run_version
from assay.http.pages.run_pair import RECENT, run_named
from assay.http.service import Service
from assay.model.run_store import BASELINE
from assay.render.gate import gate_markdown, gate_tables

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
    """The outcome, and the comment for the pull request."""
    by_interval = mode == "non-inferiority"
    chosen = {"baseline": baseline, "current": current, "limits": limits, "mode": mode}
    values: dict[str, Any] = {"report": None, "tables": (), "comment": "", "masking": None}
    recent = await service.work(lambda: service.workspace.runs.runs(limit=RECENT))
    if baseline and current:
        asked = GateRequest(
            baseline=baseline,
            current=current,
            limits=tuple(limits.split()),
            non_inferiority=by_interval,
        )
        report, mask = await service.work(lambda: _masked_report(request, service, caller, asked))
        values = {
            "report": report,
            "tables": gate_tables(report),
            "comment": gate_markdown(report),
            "masking": mask,
        }

    def sides() -> tuple[str, str]:
        before = baseline or usual_baseline(service.workspace, current)
        return run_named(service, before), run_named(service, current or "latest")

    shown_baseline, shown_current = await service.work(sides)
    listed = limits.split()
    words = ["eval", "gate", "--baseline", baseline or BASELINE, "--current", current or "latest"]
    words += [word for one in listed for word in ("--limit", one)]
    body = {"baseline": baseline, "current": current, "limits": listed}
    return page(
        request,
        "ui/gate.html",
        chosen={**chosen, "baseline": shown_baseline, "current": shown_current},
        recent=recent.runs,
        names={info.run_id: info.name for info in recent.runs},
        **values,
        commands=[
            cli(*words, *(["--non-inferiority"] if by_interval else [])),
            curl_post(request, "/v1/gate", {**body, "non_inferiority": by_interval}),
        ],
    )


def _masked_report(
    request: Request, service: Service, caller: Caller, asked: GateRequest
) -> tuple[GateReport, Masking]:
    """The outcome; held-out queries are masked until somebody asks to see them."""
    report, held = _report(service, asked)
    info = service.workspace.runs.run(report.current)
    mask = masking(request, service, caller, held, info)
    return masked_gate(report, mask.hidden, MASK), mask


def _report(service: Service, asked: GateRequest) -> tuple[GateReport, frozenset[str]]:
    """The outcome, and which of the queries that it names are held out."""
    store = service.workspace.runs
    before, now = store.run(str(asked.baseline)), store.run(str(asked.current))
    by_interval = str(asked.non_inferiority)
    key = (
        "gate",
        run_version(service, before),
        run_version(service, now),
        *asked.limits,
        by_interval,
    )

    def make() -> tuple[GateReport, frozenset[str]]:
        exact = replace(asked, baseline=before.run_id, current=now.run_id)
        report = service.compute(cost.gated(service.workspace, exact), gate, exact)
        named = {one.query_id for one in report.failing}
        return report, hidden_in(store.test_set(now.run_id)) & named

    return cached(service, key, make)
