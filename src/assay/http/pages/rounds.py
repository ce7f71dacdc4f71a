"""Which rounds of judging are there, and how is one opened without a terminal?

Questions come from the query log or are typed in; a round may also be about results that nobody has
judged, or begin a first test set. Gathering the passages is a job.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.app import first_set, keys, pool, testsets
from assay.app.annotation import SECOND_SHARE, Desk, open_desks
from assay.app.first_set import NewSet
from assay.app.jobs import FIRST_ROUND, ROUND, JobState
from assay.app.pool import RoundRequest
from assay.errors import AssayError, InputError
from assay.http.edge.auth import Caller
from assay.http.edge.problems import ProblemError
from assay.http.job_answers import job_ended
from assay.http.pages.page import Evaluator, Reader, ServiceOf, address, cli, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.service import Service
from assay.model.annotation import RoundQuery
from assay.model.codec import encode
from assay.model.run_ids import new_job_id
from assay.model.testset import QueryType

router = new_router()

SOURCES = {
    "log": ("Questions people asked", "drawn from the searches made here"),
    "typed": ("Questions of my own", "typed or pasted, for a test set that exists"),
    "unjudged": ("Unjudged results", "what searches find for the set's own questions"),
    "first": ("A first test set", "a new set, from questions and nothing else"),
}
"""What a round can be about: a label, and what it means."""
STRATEGIES = {
    "random": "at random",
    "frequency": "more often if asked more often",
    "top": "the most frequent",
    "zero-result": "that found nothing",
    "low-confidence": "with the weakest best result",
}
MOST_DRAWN = 100
WAIT_S = 5.0
"""How long a form waits for its round; a larger one is followed on the page of its job."""


@dataclass(frozen=True, slots=True)
class RoundView:
    """One round in the list: how far everybody is, and what comes next."""

    desk: Desk
    progress: Mapping[str, tuple[int, int]]
    mine: tuple[str, ...]
    left: int

    @property
    def judged(self) -> bool:
        """Whether everybody is done."""
        return all(done >= total for done, total in self.progress.values())


@router.get("/annotate")
async def rounds_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Every round, how far it is, and what comes next."""

    def work() -> dict[str, Any]:
        desks = open_desks(service.workspace) if service.workspace.exists() else []
        return {
            "rounds": [_view(desk, caller) for desk in desks],
            "without_key": _without_key(service, desks) if caller.may("evaluate") else (),
        }

    return page(
        request,
        "ui/rounds.html",
        **await service.work(work),
        commands=[cli("testset", "rounds")],
    )


@router.get("/annotate/new")
async def new_page(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """What should be judged, by whom; questions of the log are drawn at once."""
    del caller
    chosen = {**_usual(service), **dict(request.query_params)}
    return await _new_page(request, service, chosen)


@router.post("/ui/rounds/draw")
async def draw(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Look through typed questions before they are judged."""
    del caller
    fields = await form_of(request)
    return await _new_page(request, service, {**_usual(service), **fields, "from": "typed"})


@router.post("/ui/rounds")
async def create(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Open the round as a job, and go there once it is open."""
    fields = await form_of(request)
    kind, content, name = await service.work(lambda: _asked(service, fields))
    job = await service.work(
        lambda: service.jobs.submit(new_job_id(kind), kind, content, owner=caller.name)
    )
    job = await job_ended(service, job.job_id, WAIT_S)
    if job.state is JobState.FAILED and job.problem is not None:
        problem = job.problem
        raise ProblemError(
            int(problem.get("status", 500)), problem["code"], problem["detail"],
            hint=problem["hint"],
        )  # fmt: skip
    done = job.state is JobState.COMPLETE
    return RedirectResponse(f"/annotate/{name}/agreement" if done else f"/jobs/{job.job_id}", 303)


@router.post("/ui/rounds/{name}/second")
async def second(name: str, request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Let a second person check a share of what one has judged."""
    del caller
    fields = await form_of(request)
    share = fields.get("share", "")
    await service.work(
        lambda: first_set.add_judge(
            service.workspace,
            fields.get("name", "").strip(),
            name,
            share=_number(share, "share") / 100 if share else SECOND_SHARE,
        )
    )
    return RedirectResponse(f"/annotate/{name}/agreement", 303)


async def _new_page(request: Request, service: Service, chosen: dict[str, str]) -> Response:
    source = chosen["from"] if chosen["from"] in SOURCES else "log"

    def work() -> dict[str, Any]:
        sets = [one for one in service.workspace.test_sets() if one.sound]
        names = [one.name for one in sets]
        name = chosen["set"] if chosen["set"] in names else next(iter(names), "")
        drawn, problem = _drawn(service, source, name, chosen)
        return {
            "sets": sets,
            "set": name,
            "drawn": drawn,
            "problem": problem,
            "queries": pool.round_queries(drawn) if drawn else (),
            "people": _people(service),
        }

    return page(
        request,
        "ui/new_round.html",
        **await service.work(work),
        source=source,
        sources=SOURCES,
        chosen=chosen,
        strategies=STRATEGIES,
        most=MOST_DRAWN,
        types=[one.value for one in QueryType],
        origin=lambda query: json.dumps(dict(query.origin)),
        depth=first_set.DEFAULT_DEPTH,
        links={
            one: address("/annotate/new", {"from": one, "set": chosen["set"]}) for one in SOURCES
        },
        logging=service.settings.query_log,
        commands=_commands(source, chosen),
    )


def _commands(source: str, chosen: Mapping[str, str]) -> list[Any]:
    name = chosen["set"] or "NAME"
    if source == "first":
        return [cli("testset", "new", "NAME", "questions.txt", "--annotators", "ann,bob")]
    opened = cli("testset", "pool", name, "sample.jsonl", "--annotators", "ann,bob")
    if source == "unjudged":
        return [cli("testset", "pool", name, "--annotators", "ann,bob")]
    words = ["--strategy", chosen["strategy"], "--count", chosen["count"]]
    return [cli("testset", "sample", name, *words, "--output", "sample.jsonl"), opened]


def _usual(service: Service) -> dict[str, str]:
    """What the form has before anybody chose: the set that was run last."""
    recent = service.workspace.runs.runs(limit=1).runs if service.workspace.exists() else ()
    source = "log" if service.settings.query_log == "text" else "typed"
    return {
        "from": source, "set": next((info.suite for info in recent), ""), "count": "20",
        "strategy": "random", "since": "", "seed": "13", "questions": "", "first": "",
        "second": "", "depth": "", "round_id": "", "name": "",
    }  # fmt: skip


def _drawn(
    service: Service, source: str, name: str, chosen: Mapping[str, str]
) -> tuple[Any, AssayError | None]:
    """The sample to look through, or why there is none."""
    typed = lines_of(chosen["questions"])
    if source not in ("log", "typed") or not name or (source == "typed" and not typed):
        return None, None
    try:
        return (
            pool.sample(
                service.workspace,
                testsets.load(service.workspace.layout, name),
                source=typed if source == "typed" else None,
                strategy=chosen["strategy"],
                count=min(MOST_DRAWN, _number(chosen["count"], "count")),
                since=chosen["since"],
                seed=_number(chosen["seed"], "seed"),
            ),
            None,
        )
    except AssayError as error:
        return None, error


def _asked(service: Service, fields: Mapping[str, str]) -> tuple[str, dict[str, Any], str]:
    """The kind of the job, what it is asked, and the name of the round it opens."""
    people = [one for name in ("first", "second") if (one := fields.get(name, "").strip())]
    depth = fields.get("depth", "")
    deep = _number(depth, "depth") if depth else first_set.DEFAULT_DEPTH
    if fields.get("from") == "first":
        rows = [{"query": line} for line in lines_of(fields.get("questions", ""))]
        if not rows:
            raise InputError("there is no question", hint="type one per line")
        asked = NewSet(
            name=fields.get("name", "").strip(),
            annotators=tuple(people),
            questions=first_set.questions_of_rows(rows),
            depth=deep,
            source="typed",
        )
        return FIRST_ROUND, encode(asked), asked.name
    test_set = testsets.load(service.workspace.layout, fields.get("set", ""))
    if len(people) != 2:
        raise InputError("two people judge every passage", hint="name both")
    name = fields.get("round_id", "").strip()
    wanted = RoundRequest(
        test_set=test_set.name,
        annotators=(people[0], people[1]),
        queries=None if fields.get("from") == "unjudged" else _chosen_queries(fields),
        round_id=name or f"{test_set.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}",
        depth=deep,
    )
    assert wanted.round_id is not None
    return ROUND, encode(wanted), wanted.round_id


def _chosen_queries(fields: Mapping[str, str]) -> tuple[RoundQuery, ...]:
    """The ticked questions, as somebody may have corrected them."""
    found = []
    for field in fields:
        mark, _, name = field.partition("-")
        if mark == "use":
            text = " ".join(fields.get(f"text-{name}", "").split())
            kind = fields.get(f"type-{name}", "")
            if not text or kind not in list(QueryType):
                raise InputError(
                    f"{name}: the question is empty, or its type unknown",
                    hint="correct or untick it",
                )
            found.append(RoundQuery(name, text, QueryType(kind), _origin(fields, name)))
    return tuple(found)


def _origin(fields: Mapping[str, str], name: str) -> dict[str, Any]:
    try:
        found = json.loads(fields.get(f"origin-{name}", "{}"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{name}: the source of the question cannot be read", hint="draw again")
    return found


def lines_of(text: str) -> list[str]:
    """The lines of a field that are not empty."""
    return [line for part in text.splitlines() if (line := part.strip())]


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 7):
        raise InputError(f"{name}: {text!r:.40} is not a whole number", hint="as in 20")
    return int(text)


def _people(service: Service) -> list[str]:
    """Who has a key to judge with."""
    rows = keys.list_keys(service.workspace.layout)
    may = {"annotate", "admin"}
    return sorted({row.name for row in rows if row.state == "active" and may & set(row.scopes)})


def _without_key(service: Service, desks: list[Desk]) -> frozenset[str]:
    """Annotators of open rounds who cannot sign in; nobody needs to where there are no keys."""
    if service.keyring.open:
        return frozenset()
    asked = {name for desk in desks if not desk.round.closed_at for name in desk.round.annotators}
    return frozenset(asked - set(_people(service)))


def _view(desk: Desk, caller: Caller) -> RoundView:
    progress: dict[str, tuple[int, int]] = {}
    for name in desk.round.annotators:
        found = desk.progress(name)
        progress[name] = found.done, found.total
    mine = tuple(name for name in progress if caller.who in ("", name))
    judged = all(done >= total for done, total in progress.values())
    left = desk.open_items() if judged and not desk.round.closed_at else 0
    return RoundView(desk, progress, mine, left)
