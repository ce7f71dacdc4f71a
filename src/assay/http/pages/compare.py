"""Which queries did B win or lose against A, and why?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from fastapi import Request
from markupsafe import Markup
from starlette.responses import JSONResponse, RedirectResponse, Response

from assay.app.comparison import AbSummary, Direction, query_pair
from assay.app.held_out import masked_outcomes
from assay.app.runs import with_figures
from assay.errors import UsageError
from assay.evaluation.compare import ComparisonKind, QueryComparison
from assay.http.edge.auth import Caller
from assay.http.pages.held_out import MASK, Masking, masking, reveals
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import Reader, ServiceOf, address, cli, curl_post, page
from assay.http.pages.page import router as new_router
from assay.http.pages.page_cache import ab_summary
from assay.http.pages.pane import search_link
from assay.http.pages.query_pair import DEPTH, explanation, ranked_lines, slope_chart
from assay.http.pages.run_pair import run_pair_form
from assay.http.pages.runs import side_by_side
from assay.http.service import Service
from assay.plural import counted
from assay.render.compare_page import compare_page as comparison_file
from assay.render.compare_text import ANSWER_NAMES, ab_markdown, compare_csv
from assay.render.svg import Point, scatter

router = new_router()

SORTS = {
    "worst": "worst first",
    "best": "best first",
    "query": "by id",
}
MOST_POINTS = 800
MOST_SIDE_BY_SIDE = 12
KINDS = [kind.value for kind in ComparisonKind]
DIRECTIONS = get_args(Direction)
FORMS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class QueryFilters:
    """The filters of the list of queries."""

    a: str
    b: str
    kind: str
    query_type: str
    text: str
    sort: str
    reveal: str
    change: str = ""

    def params(self, **other: str) -> list[tuple[str, str]]:
        """The parameters of an address, some of them changed."""
        values = {
            "a": self.a,
            "b": self.b,
            "change": self.change,
            "kind": self.kind,
            "type": self.query_type,
            "text": self.text,
            "sort": "" if self.sort == "worst" else self.sort,
            "reveal": self.reveal,
        }
        return list({**values, **other}.items())

    def link(self, **other: str) -> str:
        """The same list with another filter."""
        return address("/compare", self.params(**other))


@router.get("/compare")
async def compare(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The comparison of two runs; without two, a form that asks for them."""
    params = request.query_params
    ticked = params.getlist("run")
    if ticked:
        return await service.work(lambda: _ticked(service, ticked))
    chosen = _chosen(params.get, "on" if reveals(request, caller) else "")
    if not chosen.a or not chosen.b:
        return await run_pair_form(request, service, "/compare", "Compare", (chosen.a, chosen.b))
    number = page_number(params.get("page"))

    def work() -> dict[str, Any]:
        found, mask = _masked(request, service, caller, (chosen.a, chosen.b))
        return {"masking": mask, **_values(found, chosen, number)}

    return page(
        request,
        "ui/compare.html",
        chosen=chosen,
        kinds=KINDS,
        directions=DIRECTIONS,
        sorts=SORTS,
        **await service.work(work),
        commands=[
            cli("eval", "compare", chosen.a, chosen.b),
            curl_post(request, "/v1/compare", {"a": chosen.a, "b": chosen.b}),
        ],
    )


@router.get("/compare/query")
async def one_query(
    request: Request, a: str, b: str, query: str, service: ServiceOf, caller: Reader
) -> Response:
    """One query: both rankings with lines between them."""

    def work() -> dict[str, Any]:
        found, mask = _masked(request, service, caller, (a, b), {query})
        pair = query_pair(service.workspace, found, query)
        a_side, b_side = masked_outcomes([pair.a, pair.b], mask.hidden, MASK)
        pair = replace(pair, a=a_side, b=b_side)
        ids = [one.chunk_id for side in (pair.a, pair.b) for one in side.results[:DEPTH]]
        labels = service.workspace.labels(ids)
        left = ranked_lines(pair.a, pair.grades_a, pair.b)
        right = ranked_lines(pair.b, pair.grades_b, pair.a)
        return {
            "found": found,
            "masking": mask,
            "pair": pair,
            "left": left,
            "right": right,
            "slopes": slope_chart(left, right),
            "searches": [
                search_link(info, service.workspace.settings.search, pair.query.query_text)
                for info in (found.a, found.b)
            ],
            "labels": labels,
            "why": explanation(pair, labels) if query not in mask.hidden else "",
        }

    return page(request, "ui/compare_query.html", block="detail", **await service.work(work))


@router.get("/compare/several")
async def several(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Several runs side by side: what differs, and what each scored."""
    del caller
    refs = request.query_params.getlist("run")[:MOST_SIDE_BY_SIDE]

    def work() -> dict[str, Any]:
        found = [with_figures(service.workspace, service.workspace.runs.run(ref)) for ref in refs]
        return side_by_side(found)

    if len(refs) < 2:
        raise UsageError("name two runs or more", hint="tick them in the list of runs")
    return page(
        request,
        "ui/compare_several.html",
        **await service.work(work),
        commands=[cli("eval", "list", "--json")],
    )


@router.get("/compare/export")
async def export(
    request: Request, a: str, b: str, form: str, service: ServiceOf, caller: Reader
) -> Response:
    """The comparison as a file; held-out queries are masked until somebody asks to see them."""
    if form not in FORMS:
        raise UsageError(f"form: {form!r:.20} is not known", hint=f"known: {', '.join(FORMS)}")
    found, mask = await service.work(lambda: _masked(request, service, caller, (a, b)))
    name = f"compare-{found.a.run_id}-{found.b.run_id}.{form}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    if form == "json":
        return JSONResponse(found.result.to_dict(), headers=headers)

    def text() -> str:
        if form == "csv":
            return compare_csv(found.result.compared)
        if form == "md":
            return ab_markdown(found.result)
        queries = tuple(found.queries.values())
        one, other = (
            replace(run, outcomes=masked_outcomes(run.outcomes, mask.hidden, MASK))
            for run in map(service.workspace.stored_run, (found.a.run_id, found.b.run_id))
        )
        other = replace(other, test_set=replace(other.test_set, queries=queries))
        return comparison_file(one, other, found.result.compared, found.result)

    return Response(await service.work(text), media_type=FORMS[form], headers=headers)


def _ticked(service: Service, runs: Sequence[str]) -> Response:
    """Go to the comparison of ticked runs; of two, the older is A."""
    if not 2 <= len(runs) <= MOST_SIDE_BY_SIDE:
        raise UsageError(
            f"{counted(len(runs), 'run', 'was')} ticked",
            hint=f"go back to the list of runs and tick two or more, at most {MOST_SIDE_BY_SIDE}",
        )
    found = map(service.workspace.runs.run, runs)
    ids = [info.run_id for info in sorted(found, key=lambda one: (one.created_at, one.run_id))]
    if len(ids) > 2:
        return RedirectResponse(address("/compare/several", [("run", one) for one in ids]), 303)
    return RedirectResponse(address("/compare", {"a": ids[0], "b": ids[1]}), 303)


def _chosen(given: Any, reveal: str) -> QueryFilters:
    chosen = QueryFilters(
        a=given("a", "").strip(),
        b=given("b", "").strip(),
        kind=given("kind", ""),
        query_type=given("type", ""),
        text=given("text", "").strip(),
        sort=given("sort") or "worst",
        reveal=reveal,
        change=given("change", ""),
    )
    if chosen.change and chosen.change not in DIRECTIONS:
        raise UsageError(
            f"change: {chosen.change!r:.40} is not known", hint=f"{', '.join(DIRECTIONS)}"
        )
    if chosen.kind and chosen.kind not in KINDS:
        raise UsageError(f"kind: {chosen.kind!r:.40} is not known", hint=f"{', '.join(KINDS)}")
    if chosen.sort not in SORTS:
        raise UsageError(f"sort: {chosen.sort!r:.40} is not known", hint=f"{', '.join(SORTS)}")
    return chosen


def _masked(
    request: Request,
    service: Service,
    caller: Caller,
    refs: tuple[str, str],
    only: Collection[str] | None = None,
) -> tuple[AbSummary, Masking]:
    """A comparison with held-out queries masked; ``only`` these queries are shown."""
    found = ab_summary(service, *refs)
    held = found.held_out if only is None else found.held_out.intersection(only)
    mask = masking(request, service, caller, held, found.b)
    return found.without(mask.hidden, MASK), mask


def _values(found: AbSummary, chosen: QueryFilters, number: int) -> dict[str, Any]:
    rows = _filtered(found, chosen)
    start = (number - 1) * PAGE
    of_type = [row for row in found.result.compared.per_query if _fits(found, chosen, row)]
    counts = Counter(row.kind.value for row in of_type)
    changes: Counter[str] = Counter(found.direction(row.query_id) for row in of_type)
    types = Counter(query_type_of(found, row.query_id) for row in found.result.compared.per_query)
    return {
        "found": found,
        "ab": found.result,
        "report": found.result.compared,
        "answer_names": ANSWER_NAMES,
        "rows": rows[start : start + PAGE],
        "counts": {kind: counts[kind] for kind in KINDS},
        "changes": {
            one: changes[one] for one in DIRECTIONS if changes[one] or one == chosen.change
        },
        "all_count": len(of_type),
        "types": sorted(types.items()),
        "listing": listing("/compare", chosen.params(), number, len(rows)),
        "points": _points(found, chosen),
        "forms": list(FORMS),
        "level": f"{found.result.a.sampling.level:.0%}",
    }


def _filtered(found: AbSummary, chosen: QueryFilters) -> list[QueryComparison]:
    rows = [
        row
        for row in found.result.compared.per_query
        if _fits(found, chosen, row)
        and chosen.kind in ("", row.kind.value)
        and chosen.change in ("", found.direction(row.query_id))
    ]
    if chosen.sort == "query":
        return sorted(rows, key=lambda row: row.query_id)
    sign = 1 if chosen.sort == "worst" else -1
    order = {"Regression": 0, "Loss": 1, "Draw": 2, "Win": 3}

    def order_of(row: QueryComparison) -> tuple[float, float, str]:
        change = found.change(row.query_id)
        return sign * (change or 0.0), sign * order[row.kind.value], row.query_id

    return sorted(rows, key=order_of)


def _fits(found: AbSummary, chosen: QueryFilters, row: QueryComparison) -> bool:
    if chosen.query_type and query_type_of(found, row.query_id) != chosen.query_type:
        return False
    words = f"{row.query_id} {found.queries[row.query_id].query_text}".lower()
    return chosen.text.lower() in words


def query_type_of(found: AbSummary, query_id: str) -> str:
    """The type of a query; empty if it has none."""
    kind = found.queries[query_id].query_type
    return "" if kind is None else kind.value


def _points(found: AbSummary, chosen: QueryFilters) -> Markup:
    """A point per query by the first measure; of very many, those that changed most."""
    rows = _filtered(found, chosen)
    if len(rows) > MOST_POINTS:
        rows = sorted(rows, key=lambda row: -abs(found.change(row.query_id) or 0.0))[:MOST_POINTS]
    points = _as_points(found, rows)
    measure = found.result.primary.measure
    return scatter(points, x_label=f"A: {measure}", y_label=f"B: {measure}")


def _as_points(found: AbSummary, rows: Sequence[QueryComparison]) -> list[Point]:
    points = []
    for row in rows:
        before, after = found.values_a[row.query_id], found.values_b[row.query_id]
        if before is None or after is None:
            continue
        text = found.queries[row.query_id].query_text
        label = f"{row.query_id}: {before:.4f} → {after:.4f}  {text}"[:160]
        shade = {"better": "good", "worse": "bad"}.get(found.direction(row.query_id), "")
        link = address(
            "/compare/query", {"a": found.a.run_id, "b": found.b.run_id, "query": row.query_id}
        )
        points.append(Point(before, after, label, shade, link))
    return points
