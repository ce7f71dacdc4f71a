"""Which two runs should be compared, if the address does not say?"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request
from starlette.responses import Response

from assay.app.gate import usual_baseline
from assay.errors import AssayError
from assay.http.pages.page import page
from assay.http.service import Service
from assay.model.runs import RunInfo

RECENT = 100
"""Runs to choose from; an address may name any other."""


def run_named(service: Service, ref: str) -> str:
    """The id of a run that is named by id, tag or ``latest``; what names none stays as it is."""
    try:
        return service.workspace.runs.run(ref).run_id if ref else ""
    except AssayError:
        return ref


async def run_pair_form(
    request: Request, service: Service, target: str, title: str, chosen: tuple[str, str]
) -> Response:
    """A form that asks for two runs: the newest, and what it is usually held against."""
    a, b = chosen

    def work() -> tuple[Sequence[RunInfo], str, str]:
        recent = service.workspace.runs.runs(limit=RECENT).runs
        ids = [info.run_id for info in recent]
        after = b or next((one for one in ids if one != a), "")
        return recent, a or run_named(service, usual_baseline(service.workspace, after)), after

    recent, before, after = await service.work(work)
    return page(
        request,
        "ui/run_pair.html",
        recent=recent,
        target=target,
        title=title,
        fields=(("a", "A, the one before", before), ("b", "B, the one after", after)),
    )
