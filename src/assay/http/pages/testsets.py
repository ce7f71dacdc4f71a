"""Which test sets are there, are they sound, and what changed between two of them?

Held-out queries are masked until somebody asks to see them; the look is logged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app import testsets
from assay.errors import UsageError
from assay.http.pages.held_out import MASK, note_look, reveals
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import (
    Evaluator,
    Reader,
    ServiceOf,
    address,
    cli,
    curl,
    form_of,
    is_htmx,
    page,
)
from assay.http.pages.page import router as new_router
from assay.http.service import Service
from assay.model.document import Label
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet
from assay.render.svg import HistogramBar, histogram

router = new_router()

TARGETS = {
    QueryType.EXACT_TERM.value: 0.4,
    QueryType.PARAPHRASE.value: 0.3,
    QueryType.COMPLEX_CLINICAL.value: 0.3,
}
"""The shares that a balanced set has: 20, 15 and 15 of 50."""
LARGE_DRIFT = 0.1
MOST_PROBLEMS = 200
MOST_SHOWN = 500
"""Changes of a kind that a page lists."""
FEW, MOST_LISTED = 3, 8
"""Queries that are shown with all judgments; relevant ones that are shown of each of many."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """One type of query beside the share that it should have."""

    name: str
    count: int
    share: float
    target: float | None

    @property
    def drifted(self) -> bool:
        """Whether the share is far from its target."""
        return self.target is not None and abs(self.share - self.target) > LARGE_DRIFT


@router.get("/testsets")
async def sets_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Every test set that loads by name."""
    del caller
    return page(
        request,
        "ui/testsets.html",
        sets=await service.work(service.workspace.test_sets),
        commands=[cli("testset", "list"), curl(request, "/v1/testsets")],
    )


@router.get("/testsets/{name}")
async def set_page(name: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """One test set: strata, judgments, and its queries page by page."""
    params = request.query_params
    reveal = reveals(request, caller)
    number = page_number(params.get("page"))
    chosen = {
        "type": params.get("type", ""),
        "text": params.get("text", "").strip(),
        "reveal": "on" if reveal else "",
    }
    values = await service.work(lambda: _values(service, name, chosen, number))
    found = values["found"]
    if reveal and found is not None and found.held_out_ids:
        suite = (found.name, found.version)
        await service.work(lambda: note_look(service, caller, suite))
    return page(
        request,
        "ui/testset.html",
        **values,
        chosen=chosen,
        types=[one.value for one in QueryType],
        reveal=reveal,
        reveal_link=address(f"/testsets/{name}", {**chosen, "reveal": "on"}),
        commands=[
            cli("testset", "show", name),
            cli("testset", "validate", name),
            *([] if found is None or found.held_out else [cli("testset", "split", name)]),
            curl(request, f"/v1/testsets/{name}"),
        ],
    )


@router.get("/testsets/{name}/diff/{other}")
async def diff_page(
    name: str, other: str, request: Request, service: ServiceOf, caller: Reader
) -> Response:
    """The changes from one set to the other; what either holds out is masked."""
    del caller

    found = await service.work(lambda: testsets.diff(service.workspace, name, other, words=MASK))
    return page(
        request,
        "ui/testset_diff.html",
        before=found.before,
        after=found.after,
        found=found.changes,
        labels=await service.work(
            lambda: _labels(service, [one.id for one in found.changes.judgments[:MOST_SHOWN]])
        ),
        texts=_texts(found.before, found.after),
        most=MOST_SHOWN,
        commands=[cli("testset", "diff", name, other)],
    )


@router.post("/ui/validate")
async def validate(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Check a test set without storing it; every problem is shown with its line."""
    del caller
    fields = await form_of(request)
    text, name = fields.get("text", ""), fields.get("name", "").strip() or None
    reading = await service.work(lambda: testsets.read_upload(text.encode(), name=name))
    return page(
        request,
        "ui/validated.html",
        block="answer",
        reading=reading,
        most=MOST_PROBLEMS,
    )


@router.post("/ui/testsets")
async def store(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Store a test set, and show it."""
    del caller
    fields = await form_of(request)
    text, name = fields.get("text", ""), fields.get("name", "").strip() or None
    layout = service.workspace.layout

    def work() -> testsets.StoredSet:
        if name is None and testsets.read_upload(text.encode()).form in testsets.NAMELESS:
            raise UsageError("a table of questions has no name", hint="fill in its name")
        return testsets.upload(layout, text.encode(), name=name)

    stored = await service.work(work)
    place = f"/testsets/{quote(stored.name)}"
    if is_htmx(request):
        return Response(status_code=204, headers={"hx-redirect": place})
    return RedirectResponse(place, 303)


def _values(service: Service, name: str, chosen: dict[str, str], number: int) -> dict[str, Any]:
    layout = service.workspace.layout
    reading = service.workspace.read_set(testsets.find(layout, name))
    found = reading.test_set
    if found is None:
        return {"reading": reading, "found": None, "name": name}
    held = found.held_out_ids
    rows = [
        query
        for query in found.queries
        if chosen["type"] in ("", query.query_type)
        and chosen["text"].lower() in f"{query.query_id} {query.query_text}".lower()
        and (not chosen["text"] or chosen["reveal"] or query.query_id not in held)
    ]
    start = (number - 1) * PAGE
    shown = rows[start : start + PAGE]
    judged = {
        query.query_id: _best(query, everything=len(shown) <= FEW)
        for query in shown
        if chosen["reveal"] or query.query_id not in held
    }
    grades = Counter(one.grade for query in found.queries for one in query.relevant_docs)
    return {
        "reading": reading,
        "found": found,
        "name": name,
        "held": held,
        "rows": shown,
        "judged": judged,
        "labels": _labels(service, [one.id for best in judged.values() for one in best]),
        "listing": listing(f"/testsets/{name}", list(chosen.items()), number, len(rows)),
        "strata": strata(found),
        "chart": histogram(
            [HistogramBar(str(grade), grades[grade]) for grade in sorted(grades)],
            x_label="grade",
            y_label="judgments",
        ),
        "judgments": sum(grades.values()),
        "expects": Counter(query.expect.value for query in found.queries),
        "others": [other for other in testsets.names(layout) if other != name],
        "looks": testsets.looks(service.workspace, found).uses,
    }


def _best(query: GoldenQuery, *, everything: bool) -> list[Judgment]:
    """The judgments of a query, best first; of many queries only the first that are relevant."""
    ordered = sorted(query.relevant_docs, key=lambda one: -one.grade)
    return ordered if everything else [one for one in ordered if one.grade > 0][:MOST_LISTED]


def _texts(before: TestSet, after: TestSet) -> dict[str, str]:
    """The questions of two sets by id, without those that either holds out."""
    held = before.held_out_ids | after.held_out_ids
    queries = (*before.queries, *after.queries)
    return {one.query_id: one.query_text for one in queries if one.query_id not in held}


def _labels(service: Service, ids: Sequence[str]) -> dict[str, Label]:
    """Titles of what was judged; none in a workspace that holds no documents yet."""
    return service.workspace.labels(ids) if ids and service.workspace.exists() else {}


def strata(found: TestSet) -> list[Stratum]:
    """The types of query, beside their targets."""
    counts = Counter(
        "(none)" if query.query_type is None else query.query_type.value for query in found.queries
    )
    total = len(found.queries)
    return [
        Stratum(name, counts[name], counts[name] / total, TARGETS.get(name))
        for name in [*TARGETS, *sorted(set(counts) - set(TARGETS))]
    ]
