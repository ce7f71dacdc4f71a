"""The search playground: what comes back, why, and what if the parts counted differently?

Components are asked once; their lists stay in memory, so that moving a slider only fuses them
again. A second pane answers the same question under another configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from assay.app.configurations import list_configurations
from assay.app.models import ModelRow
from assay.app.search import options_of_caller
from assay.errors import UsageError
from assay.http.edge.problems import ProblemError
from assay.http.pages.hits import MOST_EXPLAINED, MOST_WHOLE, HitView, hit_views
from assay.http.pages.judging import GRADES, MOST_GRADED, judging_of, pending_in, standings
from assay.http.pages.page import Command, Reader, ServiceOf, address, cli, curl, is_htmx, page
from assay.http.pages.page import router as new_router
from assay.http.pages.pane import Pane, read_pane, read_panes
from assay.http.service import Service
from assay.model.conditions import Condition
from assay.model.document import DocumentRow, SpeakerRole
from assay.model.testset import QueryType
from assay.render.search import absence, headline, troubles, understood, weakness
from assay.search.facets import OWN_FIELDS, Facet
from assay.search.request import FusionMethod, Normalization, as_flags, as_parameters, changed
from assay.search.response import SearchResponse
from assay.search.searcher import Searcher
from assay.search.why import Verdict

router = new_router()

EXAMPLES = 3
"""Titles that a page without a question offers to begin with."""
MOST_MEANT = 12
"""Documents that are offered where somebody typed words of a title instead of an id."""
NO_DOCUMENTS = "Everything that is searched, answered and judged comes from documents."
SIZES = (5, 10, 20, 50)
NOT_ANSWERED = frozenset({"two", "set", "offset", "facets"})
"""What an address of the playground has and a question to be answered does not."""


@dataclass(frozen=True, slots=True)
class FacetView:
    """A facet; each value with the number of documents and the address that keeps only them."""

    facet: Facet
    values: Sequence[tuple[str, int, str]]


@dataclass(frozen=True, slots=True)
class PaneResults:
    """What came back for one pane, as it is shown."""

    pane: Pane
    response: SearchResponse
    hits: Sequence[HitView]
    headline: str
    weakness: str
    understood: Sequence[str]
    troubles: Sequence[str]
    facets: Sequence[FacetView]
    commands: Sequence[Command]


@router.get("/search")
async def playground(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The page, or its results alone."""
    del caller
    try:
        searcher = await service.searcher()
    except ProblemError as error:
        shown = page(request, "ui/no_index.html", block="results", reason=error.problem.detail)
        shown.status_code = error.status_code
        return shown
    params = request.query_params
    query, chosen_set = params.get("q", "").strip(), params.get("set", "").strip()[:100]
    first: Sequence[DocumentRow] = ()
    if not query:
        first = (await service.work(lambda: service.workspace.documents(limit=EXAMPLES))).documents
        if not first:
            return page(request, "ui/no_index.html", block="results", reason=NO_DOCUMENTS)
    panes = read_panes(params, searcher.defaults, tuple(searcher.components))
    two = len(panes) > 1
    link_pairs = [
        ("q", query),
        *panes[0].shared_pairs(),
        ("two", "on" if two else ""),
        *(pair for pane in panes for pair in pane.own_pairs()),
        ("set", chosen_set),
    ]
    link = address("/search", link_pairs)
    judging = await judging_of(service, query, chosen_set)
    responses = await _responses(service, query, panes) if query else []
    results = await _results(request, service, query, panes, responses) if query else []
    pending = pending_in(params, query)
    layout = service.workspace.layout
    shown = page(
        request,
        "ui/search.html",
        block="results",
        query=query,
        two=two,
        shared=panes[0].options,
        speaker=next(iter(panes[0].options.filters.speaker_role), ""),
        section=next(iter(panes[0].options.filters.section_label), ""),
        panes=panes,
        results=results,
        standings=standings(panes, responses, judging, pending) if query else [],
        judging=judging,
        chosen_set=chosen_set,
        grades=GRADES,
        pages=_pages(link_pairs, panes[0], responses),
        document=params.get("document", "").strip()[:200],
        answer=address("/answer", [pair for pair in link_pairs if pair[0] not in NOT_ANSWERED]),
        most_graded=MOST_GRADED,
        most_explained=MOST_EXPLAINED,
        fewer=address(
            "/search",
            [("k", str(SIZES[-1])), *(one for one in link_pairs if one[0] not in {"k", "offset"})],
        ),
        link=link,
        components=searcher.components,
        known=_known(searcher, await service.work(service.workspace.models)),
        examples=[one.title for one in first if one.title],
        configurations=await service.work(lambda: list_configurations(layout)),
        part=is_htmx(request),
    )
    if is_htmx(request):
        shown.headers[_history(request, query)] = link
    return shown


def _history(request: Request, query: str) -> str:
    """Another question is another page to go back to; a knob that moved is not."""
    before = QueryParams(urlsplit(request.headers.get("hx-current-url", "")).query)
    return "hx-replace-url" if before.get("q", "").strip() == query else "hx-push-url"


@router.get("/search/why")
async def why(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Why a document is not among the results."""
    del caller
    searcher = await service.searcher()
    query = request.query_params.get("q", "").strip()
    document = request.query_params.get("document", "").strip()
    if not query or not document:
        raise UsageError("why: name a question and a document")
    pane = read_pane(request.query_params, searcher.defaults)
    options_of_caller(service.workspace.settings, pane.changes())
    found = await service.work(lambda: searcher.why(query, document[:200], pane.options))
    meant: Sequence[DocumentRow] = ()
    if found.verdict is Verdict.NOT_IN_INDEX:
        documents = service.workspace.documents
        meant = (
            await service.work(lambda: documents(limit=MOST_MEANT, text=document[:200]))
        ).documents
    if len(meant) == 1:
        only = meant[0].doc_id
        found = await service.work(lambda: searcher.why(query, only, pane.options))
    ids = [
        found.document,
        *filter(None, [found.chunk_id]),
        *(one.chunk_id for one in found.overtaken_by),
    ]
    labels = await service.work(lambda: service.workspace.labels(ids))
    asked = [("q", query), *pane.shared_pairs(), *pane.own_pairs()]
    return page(
        request,
        "ui/why.html",
        block="answer",
        found=found,
        lines=absence(found),
        labels=labels,
        query=query,
        meant=[
            (one.title or one.doc_id, address("/search", [*asked, ("document", one.doc_id)]))
            for one in meant
            if len(meant) > 1
        ],
        search=address("/search", asked),
    )


async def _responses(service: Service, query: str, panes: Sequence[Pane]) -> list[SearchResponse]:
    for pane in panes:
        options_of_caller(service.workspace.settings, pane.changes())
    found = [
        await service.search(
            query, options=changed(pane.options, terms=pane.options.k <= MOST_WHOLE)
        )
        for pane in panes
    ]
    service.log_query(found[0])
    return found


async def _results(
    request: Request,
    service: Service,
    query: str,
    panes: Sequence[Pane],
    responses: Sequence[SearchResponse],
) -> list[PaneResults]:
    folded = [one.chunk_id for found in responses for hit in found.results for one in hit.folded]
    labels = await service.work(lambda: service.workspace.labels(folded)) if folded else {}
    return [
        PaneResults(
            pane=pane,
            response=response,
            hits=hit_views(
                response, responses[0] if response is not responses[0] else None, labels
            ),
            weakness=weakness(response),
            headline=headline(response),
            understood=[line for line in understood(response) if line != weakness(response)],
            troubles=_troubles(response),
            facets=[_facet(query, pane, facet) for facet in response.facets],
            commands=[
                cli("search", query, *as_flags(pane.changes()), "--explain"),
                curl(request, "/v1/search", [("q", query), *as_parameters(pane.changes())]),
            ],
        )
        for pane, response in zip(panes, responses, strict=True)
    ]


def _troubles(response: SearchResponse) -> list[str]:
    """What went wrong; that nothing is about the query stands where the results would be."""
    lines = [line.strip() for line in troubles(response)]
    if not response.withheld:
        return lines
    return [line for line in lines if not line.startswith(response.nothing_about)]


def _pages(
    pairs: Sequence[tuple[str, str]], pane: Pane, responses: Sequence[SearchResponse]
) -> tuple[str, str]:
    """The addresses of the pages before and after this one; empty where there is none."""
    k, offset = pane.options.k, pane.options.offset
    rest = [pair for pair in pairs if pair[0] != "offset"]

    def at(start: int) -> str:
        return address("/search", [*rest, ("offset", str(start) if start else "")])

    more = any(one.next_offset is not None for one in responses)
    return at(max(0, offset - k)) if offset else "", at(offset + k) if more else ""


def _facet(query: str, pane: Pane, facet: Facet) -> FacetView:
    """A facet with links; they lead to the first page of this pane's search."""
    own = [(name.removeprefix(pane.prefix), text) for name, text in pane.own_pairs()]
    pairs = [pair for pair in (*pane.shared_pairs(), *own) if pair[0] != "offset"]

    def link(value: str) -> str:
        if facet.field in OWN_FIELDS:
            more = facet.field, {"True": "on", "False": "off"}.get(value, value)
        else:
            more = "filter", str(Condition(facet.field, "=", (value,)))
        return address("/search", [("q", query), *pairs, more])

    return FacetView(facet, [(one.value, one.count, link(one.value)) for one in facet.values])


def _known(searcher: Searcher, models: Sequence[ModelRow]) -> dict[str, Sequence[str]]:
    rerankers = [one.name for one in models if one.role == "reranker" and one.here]
    return {
        "rerankers": list(dict.fromkeys([searcher.defaults.reranker, *rerankers])),
        "components": tuple(searcher.components),
        "fusion": [one.value for one in FusionMethod],
        "normalization": [one.value for one in Normalization],
        "intents": searcher.intents,
        "types": [one.value for one in QueryType],
        "speakers": [one.value for one in SpeakerRole],
        "sizes": [str(size) for size in SIZES],
    }
