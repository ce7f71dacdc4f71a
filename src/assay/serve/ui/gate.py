"""May this run replace the baseline, and what would the comment on the change say?"""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from assay.evaluation.gate import GateReport
from assay.evaluation.gate_limits import DEFAULT_LIMIT
from assay.report.gate import gate_markdown, gate_tables
from assay.serve.service import Service
from assay.serve.ui.compared import kept, mark_of
from assay.serve.ui.pages import Reader, ServiceOf, cli, curl_post, page
from assay.serve.ui.pages import router as new_router
from assay.tasks.gating import gate_runs

router = new_router()


@router.get("/gate")
async def gate_page(
    request: Request,
    service: ServiceOf,
    caller: Reader,
    baseline: str = "",
    current: str = "",
    limits: str = DEFAULT_LIMIT,
    mode: str = "",
) -> Response:
    """The ruling, and the comment that a pull request would get."""
    del caller
    by_interval = mode == "non-inferiority"
    chosen = {"baseline": baseline, "current": current, "limits": limits, "mode": mode}
    values: dict[str, Any] = {"report": None, "tables": (), "comment": ""}
    recent = await service.work(lambda: service.workspace.runs.runs(limit=100))
    if baseline and current:
        report = await service.work(
            lambda: _ruling(service, baseline, current, limits, by_interval)
        )
        values = {
            "report": report,
            "tables": gate_tables(report),
            "comment": gate_markdown(report),
        }
    listed = limits.split()
    words = ["eval", "gate", "--baseline", baseline or "baseline", "--current", current or "latest"]
    words += [word for one in listed for word in ("--limit", one)]
    body = {"baseline": baseline, "current": current, "limits": listed}
    return page(
        request,
        "ui/gate.html",
        chosen=chosen,
        recent=recent.runs,
        **values,
        commands=[
            cli(*words, *(["--non-inferiority"] if by_interval else [])),
            curl_post(request, "/v1/gate", {**body, "non_inferiority": by_interval}),
        ],
    )


def _ruling(
    service: Service, baseline: str, current: str, limits: str, by_interval: bool
) -> GateReport:
    store = service.workspace.runs
    before, now = store.run(baseline), store.run(current)
    key = ("gate", mark_of(before), mark_of(now), limits, str(by_interval))
    return kept(
        service,
        key,
        lambda: gate_runs(
            service.workspace,
            before.run_id,
            now.run_id,
            limits.split(),
            non_inferiority=by_interval,
        ),
    )
