"""What is computed once for a page, and then cached?

Complete runs do not change, so a comparison of two of them is cached: its filters, pages and
queries are answered without reading the runs again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar, cast

from assay.app import comparison, cost
from assay.app.comparison import AbRequest, AbSummary
from assay.app.workspace import Workspace
from assay.http.service import Service
from assay.model.runs import RunInfo, RunStatus

T = TypeVar("T")


def cached(service: Service, key: tuple[str, ...], make: Callable[[], T]) -> T:
    """The cached value of this key; made if there is none."""
    known = service.page_cache.get(key)
    if known is None:
        known = make()
        service.page_cache.put(key, known)
    return cast("T", known)


def run_version(service: Service, info: RunInfo) -> str:
    """What changes whenever a run does; one that did not end may get more outcomes."""
    version = f"{info.run_id} {info.status} {info.finished_at} {info.queries}"
    if info.status is RunStatus.COMPLETE:
        return version
    return f"{version} {len(service.workspace.runs.answered(info.run_id))}"


def _summary(workspace: Workspace, request: AbRequest) -> AbSummary:
    return comparison.summary(comparison.ab(workspace, request))


def ab_summary(service: Service, a: str, b: str) -> AbSummary:
    """The A/B test of two runs by their references, under the settings of the service."""
    store = service.workspace.runs
    one, other = store.run(a), store.run(b)
    key = ("compare", run_version(service, one), run_version(service, other))

    def make() -> AbSummary:
        request = AbRequest(one.run_id, other.run_id)
        seconds = cost.tested(service.workspace, request)
        return service.compute(seconds, _summary, request)

    # tags can move without changing a run
    return replace(cached(service, key, make), a=one, b=other)
