"""Which two runs should be compared, if the address does not say?"""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from assay.http.pages.page import page
from assay.http.service import Service

RECENT = 100


async def run_pair_form(
    request: Request, service: Service, target: str, title: str, chosen: tuple[str, str]
) -> Response:
    """A form that asks for two runs; the newest two are suggested."""
    recent = (await service.work(lambda: service.workspace.runs.runs(limit=RECENT))).runs
    a, b = chosen
    ids = [info.run_id for info in recent]
    after = b or next((one for one in ids if one != a), "")
    before = a or next((one for one in ids if one != after), "")
    return page(
        request,
        "ui/run_pair.html",
        recent=recent,
        target=target,
        title=title,
        fields=(("a", "A, the one before", before), ("b", "B, the one after", after)),
    )
