"""The search playground: what comes back, why, and what if the parts counted differently?

Components are asked once; their lists stay in memory, so that moving a slider only fuses them
again. A second pane answers the same question under another configuration.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from assay import limits
from assay.errors import UsageError
from assay.http.edge.problems import ProblemError
from assay.http.pages import saved
from assay.http.pages.hits import Shown, shown_hits
from assay.http.pages.pages import Command, Reader, ServiceOf, address, cli, curl, page, wants_part
from assay.http.pages.pages import router as new_router
from assay.http.pages.pane import OWN, Pairs, Pane, read_pane, standard_pane
from assay.http.service import Service
from assay.model.testset import QueryType
from assay.render.search import absence, headline, troubles, understood
from assay.search.request import COMPONENTS, FusionMethod, Normalization
from assay.search.response import SearchResponse
from assay.search.searcher import Searcher

router = new_router()

EXAMPLES = (
    "hyperkalemia adverse events table",
    "who can join the trial if they have brain metastases",
    "drip antibiotic for a serious kidney infection",
)
SPEAKERS = ("PATIENT", "CLINICIAN", "UNKNOWN")
SIZES = (5, 10, 20, 50)
_WHOLE = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Asked:
    """What both panes share: the question, how many results, and filters."""

    q: str
    k: int
    tables: str
    speaker: str
    section: str
    two: bool

    def params(self) -> Pairs:
        """What has to stand in the address."""
        pairs = [("q", self.q), ("tables", self.tables), ("speaker", self.speaker)]
        pairs += [("section", self.section), ("k", "" if self.k == 10 else str(self.k))]
        return [*pairs, ("two", "on" if self.two else "")]

    def options(self) -> dict[str, Any]:
        """The options that do not belong to a pane."""
        return {
            "k": self.k,
            "is_table": {"only": True, "none": False}.get(self.tables),
            "speaker": self.speaker or None,
            "section": self.section or None,
        }


@dataclass(frozen=True, slots=True)
class Answered:
    """One pane with what came back."""

    name: str
    prefix: str
    pane: Pane
    response: SearchResponse | None = None
    hits: Sequence[Shown] = ()
    headline: str = ""
    understood: Sequence[str] = ()
    troubles: Sequence[str] = ()
    commands: Sequence[Command] = ()


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
    standard = standard_pane(searcher.defaults)
    asked = _asked(request.query_params)
    panes = [("A", "")] + ([("B", "b_")] if asked.two else [])
    chosen = [
        Answered(name, prefix, read_pane(request.query_params, standard, prefix))
        for name, prefix in panes
    ]
    if asked.q:
        chosen = await _answered(request, service, searcher, asked, chosen)
    own = [(asked.params(), *(one.pane.params(standard, one.prefix) for one in chosen))]
    place = address("/search", [pair for part in own[0] for pair in part])
    shown = page(
        request,
        "ui/search.html",
        block="results",
        asked=asked,
        panes=chosen,
        place=place,
        components=searcher.components,
        known=_known(searcher),
        examples=EXAMPLES,
        sets=await service.work(lambda: saved.editable_sets(service.config.home)),
        configurations=await service.work(lambda: saved.configurations(service.config.home)),
        own=OWN,
        part=wants_part(request),
    )
    if wants_part(request):
        shown.headers["hx-push-url"] = place
    return shown


@router.get("/search/why")
async def why(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Why a document is not among the results."""
    del caller
    searcher = await service.searcher()
    params = request.query_params
    asked = _asked(params)
    document = params.get("document", "").strip()
    if not asked.q or not document:
        raise UsageError("why: a question and a document are needed")
    pane = read_pane(params, standard_pane(searcher.defaults))
    options = pane.options(searcher.defaults, **asked.options())
    found = await service.work(lambda: searcher.why(asked.q, document[:200], options))
    lines = absence(found)
    return page(request, "ui/why.html", block="answer", found=found, lines=lines, asked=asked)


async def _answered(
    request: Request, service: Service, searcher: Searcher, asked: Asked, panes: list[Answered]
) -> list[Answered]:
    standard = standard_pane(searcher.defaults)
    responses = [
        await service.search(
            asked.q, options=one.pane.options(searcher.defaults, **asked.options())
        )
        for one in panes
    ]
    service.log_query(responses[0])
    first = responses[0]
    return [
        Answered(
            name=one.name,
            prefix=one.prefix,
            pane=one.pane,
            response=response,
            hits=shown_hits(response, first if response is not first else None),
            headline=headline(response),
            understood=understood(response),
            troubles=troubles(response),
            commands=_commands(request, asked, one.pane, standard),
        )
        for one, response in zip(panes, responses, strict=True)
    ]


def _asked(params: QueryParams) -> Asked:
    k = params.get("k") or "10"
    if not _WHOLE.fullmatch(k) or not 1 <= int(k) <= limits.MAX_RESULTS:
        raise UsageError(f"k: must be a whole number from 1 to {limits.MAX_RESULTS}")
    return Asked(
        q=params.get("q", "").strip(),
        k=int(k),
        tables=params.get("tables", ""),
        speaker=params.get("speaker", ""),
        section=params.get("section", "").strip(),
        two=params.get("two") == "on",
    )


def _known(searcher: Searcher) -> dict[str, Sequence[str]]:
    return {
        "components": COMPONENTS,
        "fusion": [one.value for one in FusionMethod],
        "normalization": [one.value for one in Normalization],
        "intents": searcher.intents,
        "types": [one.value for one in QueryType],
        "speakers": SPEAKERS,
        "sizes": [str(size) for size in SIZES],
    }


def _commands(request: Request, asked: Asked, pane: Pane, standard: Pane) -> list[Command]:
    """The same search, in a terminal and over HTTP."""
    pairs = pane.api(standard)
    words = ["search", asked.q]
    names = {"fusion_method": "--fusion", "query_intent": "--intent"}
    for name, value in pairs:
        flag = names.get(name, f"--{name.replace('_', '-')}")
        if value in {"true", "false"}:
            off = "--one-weight" if name == "per_type_weights" else f"--no-{name}"
            words += [flag if value == "true" else off]
        else:
            words += [flag, value]
    words += ["-k", str(asked.k)] if asked.k != 10 else []
    words += ["--speaker", asked.speaker] if asked.speaker else []
    words += ["--section", asked.section] if asked.section else []
    tables = {"only": ("--tables", "true"), "none": ("--no-tables", "false")}.get(asked.tables)
    words += [tables[0]] if tables else []
    http = [("q", asked.q), *pairs, ("k", asked.k if asked.k != 10 else "")]
    http += [("speaker", asked.speaker), ("section", asked.section)]
    http += [("is_table", tables[1])] if tables else []
    return [cli(*words, "--explain"), curl(request, "/v1/search", http)]
