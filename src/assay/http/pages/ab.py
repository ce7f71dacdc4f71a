"""Is B better than A, by how much, for which kind of query, and at what cost?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from assay.http.pages.page import Reader, ServiceOf, cli, curl_post, page
from assay.http.pages.page import router as new_router
from assay.http.pages.page_cache import ab_summary
from assay.http.pages.run_pair import run_pair_form
from assay.render.svg import ForestRow, forest_plot

router = new_router()

TONES = {"better": "good", "worse": "bad"}


@router.get("/ab")
async def ab_page(
    request: Request, service: ServiceOf, caller: Reader, a: str = "", b: str = ""
) -> Response:
    """The statistics of two runs."""
    del caller
    if not a or not b:
        return await run_pair_form(request, service, "/ab", "A/B test", (a, b))

    def work() -> dict[str, Any]:
        found = ab_summary(service, a, b)
        result = found.result
        kinds = {"all queries": result.contrasts, **result.by_type}
        rows = {
            kind: [
                ForestRow(
                    str(one.measure),
                    one.difference,
                    one.interval.low,
                    one.interval.high,
                    TONES.get(one.ruling.verdict.value, ""),
                )
                for one in contrasts
            ]
            for kind, contrasts in kinds.items()
        }
        return {
            "found": found,
            "ab": result,
            "report": result.compared,
            "kinds": kinds,
            "charts": _charts(rows, result.margin, narrow=False),
            "narrow": _charts(rows, result.margin, narrow=True),
            "level": f"{result.a.sampling.level:.0%}",
        }

    values = await service.work(work)
    return page(
        request,
        "ui/ab.html",
        **values,
        chosen={"a": a, "b": b},
        commands=[
            cli("eval", "ab", a, b),
            curl_post(request, "/v1/ab", {"a": a, "b": b}),
        ],
    )


def _charts(
    rows: Mapping[str, Sequence[ForestRow]], margin: float, *, narrow: bool
) -> dict[str, Markup]:
    return {kind: forest_plot(own, margin=margin, narrow=narrow) for kind, own in rows.items()}
