"""Where do grades go that are given while one searches, and what does each pane score by them?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse, Response

from assay.app import drafts
from assay.app.drafts import FIRST_DRAFT, Known, Standing
from assay.app.search import options_of_caller
from assay.errors import InputError
from assay.http.pages.page import Evaluator, ServiceOf, address, form_of, is_htmx, page
from assay.http.pages.page import router as new_router
from assay.http.pages.pane import Pane, read_panes
from assay.http.service import Service
from assay.model.document import check_doc_id
from assay.model.testset import GoldenQuery
from assay.search.request import SEARCH_OPTIONS
from assay.search.response import SearchResponse

router = new_router()

GRADE = "grade:"
WAS = "was:"
"""Before the id of a result in a form: its grade, and the grade that was stored."""
SAVED = "x-grades-saved"
"""A header that tells the page that everything it sent is stored."""
MOST_GRADED = 50
"""Results up to which a page has pills to grade them."""
GRADES = (
    (3, "answers the question fully by itself"),
    (2, "answers most of it, or all of it with some thought"),
    (1, "on the topic, answers a part"),
    (0, "does not answer it, even if it shares words"),
)


@dataclass(frozen=True, slots=True)
class Judging:
    """The test set that the question of a page is graded in.

    ``draft``: it may be changed. ``known`` is the question as the set has it, None where it does
    not; ``elsewhere`` are other sets that have it. ``choices`` are all drafts. ``held_out``: the
    set keeps the question back, so that no grade of it is shown.
    """

    test_set: str
    draft: bool
    known: GoldenQuery | None
    elsewhere: tuple[str, ...]
    choices: tuple[str, ...]
    held_out: bool = False

    @property
    def stored(self) -> dict[str, int]:
        """The grades that the set has for the question."""
        return {one.id: one.grade for one in self.known.relevant_docs} if self.known else {}


@dataclass(frozen=True, slots=True)
class PaneStanding:
    """What a pane scores; ``gain`` is by how much it differs from the first pane."""

    pane: Pane
    found: Standing
    gain: float | None = None


async def judging_of(service: Service, query: str, chosen: str) -> Judging:
    """Where the grades of a question go: the set that is named, that has it, or a draft."""

    def work() -> Judging:
        entries = service.workspace.test_sets()
        choices = tuple(drafts.drafts(entries))
        known = drafts.known_in(entries, query) if query else []
        name = chosen or _usual(known, choices)
        there = next((one for one in entries if one.name == name), None)
        found = next((one.query for one in known if one.test_set == name), None)
        whole = there.reading.test_set if there and there.reading else None
        return Judging(
            test_set=name,
            draft=there is None or name in choices,
            known=found,
            elsewhere=tuple(one.test_set for one in known if one.test_set != name),
            choices=choices,
            held_out=whole is not None and drafts.holds_out(whole, query),
        )

    return await service.work(work)


def _usual(known: Sequence[Known], choices: Sequence[str]) -> str:
    return known[0].test_set if known else choices[0] if choices else FIRST_DRAFT


def standings(
    panes: Sequence[Pane],
    responses: Sequence[SearchResponse],
    judging: Judging,
    pending: Mapping[str, int],
) -> list[PaneStanding]:
    """What each pane scores by the grades that are stored and those that are pending."""
    found: list[PaneStanding] = []
    for pane, response in zip(panes, responses, strict=True):
        own = drafts.standing(response.results, judging.known, pending, k=pane.options.k)
        first = found[0].found.value if found else None
        gain = None if own.value is None or first is None else own.value - first
        found.append(PaneStanding(pane, own, gain))
    return found


def pending_in(params: Mapping[str, str], query: str) -> dict[str, int]:
    """Grades on the page that no set has yet: a form sends them along with its question."""
    if params.get("graded") != query:
        return {}
    return {
        name.removeprefix(GRADE): int(value)
        for name, value in params.items()
        if name.startswith(GRADE) and value in {"0", "1", "2", "3"}
    }


@router.post("/ui/grade")
async def grade(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Store the grades of a pane's results in a draft, and show what every pane scores now."""
    del caller
    fields = await form_of(request)
    query, name = " ".join(fields.get("q", "").split()), fields.get("set", "").strip()
    grades = _changed(fields)
    link = fields.get("address", "")
    judging = await judging_of(service, query, name)
    saved = ""
    if any((judging.stored | grades).values()):  # a question that nothing answers is in no test set
        kind = fields.get("query_type", "")
        graded = await service.work(
            lambda: drafts.grade(
                service.workspace,
                judging.test_set,
                query,
                grades,
                query_type=SEARCH_OPTIONS["query_type"].read(kind) if kind else None,
            )
        )
        saved = graded.query_id
        judging = await judging_of(service, query, name)
    if not is_htmx(request):
        return RedirectResponse(_own(link), 303)
    panes, responses = await _again(service, query, link)
    pending = {name: value for name, value in grades.items() if value is not None}
    shown = page(
        request,
        "ui/standing.html",
        block="bars",
        standings=standings(panes, responses, judging, {} if saved else pending),
        judging=judging,
        query=query,
        saved=saved,
        link=_own(link),
        oob=True,
    )
    if saved:
        shown.headers[SAVED] = "yes"
    return shown


@router.post("/ui/fork")
async def fork(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Copy a judged set to a draft, and go on judging there."""
    del caller
    fields = await form_of(request)
    layout = service.workspace.layout
    name, new = fields.get("set", "").strip(), fields.get("name", "").strip()
    forked = await service.work(lambda: drafts.fork(layout, name, new))
    params = QueryParams(urlsplit(fields.get("address", "")).query)
    kept = [pair for pair in params.multi_items() if pair[0] != "set"]
    return RedirectResponse(address("/search", [*kept, ("set", forked.name)]), 303)


async def _again(
    service: Service, query: str, link: str
) -> tuple[list[Pane], list[SearchResponse]]:
    """The panes of an address, searched again; the searcher remembers their lists."""
    searcher = await service.searcher()
    params = QueryParams(urlsplit(link).query)
    panes = read_panes(params, searcher.defaults, tuple(searcher.components))
    for pane in panes:
        options_of_caller(service.workspace.settings, pane.changes())
    return panes, [await service.search(query, options=pane.options) for pane in panes]


def _own(link: str) -> str:
    """An address of the playground, whatever a form says."""
    return f"/search?{urlsplit(link).query}"


def _changed(fields: Mapping[str, str]) -> dict[str, int | None]:
    """The grades that somebody changed on this page.

    A form sends every grade, and beside it the one that was stored when the page was made: what
    another page has changed since then is left alone.
    """
    return {
        check_doc_id(field.removeprefix(GRADE), "chunk"): _grade(value)
        for field, value in fields.items()
        if field.startswith(GRADE) and fields.get(WAS + field.removeprefix(GRADE)) != value
    }


def _grade(text: str) -> int | None:
    if text == "":
        return None
    if text not in {"0", "1", "2", "3"}:
        raise InputError(f"{text!r:.20} is not a grade", hint="0, 1, 2 or 3")
    return int(text)
