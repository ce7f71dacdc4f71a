"""How is a test set run on a configuration, without a terminal?

The configuration is the one of the service, a saved one, that of an earlier run, or what the
address says, as the search page writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Request
from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse, Response

from assay.app import testsets
from assay.app.configurations import list_configurations, read_configuration
from assay.app.evaluation_request import REQUEST_OPTIONS, EvaluationRequest
from assay.app.schedule import ScheduleEntry
from assay.app.timetable import request_of, scheduled
from assay.http.job_answers import enter_evaluation
from assay.http.pages.clock import OFTEN, WEEKDAYS, Due, due_at
from assay.http.pages.page import Command, Evaluator, ServiceOf, cli, curl_post, form_of, page
from assay.http.pages.page import router as new_router
from assay.http.pages.pane import Pairs, read_pane
from assay.http.service import Service
from assay.model.document import check_id
from assay.model.runs import RunStatus
from assay.search.request import SearchOptions, as_flags, changed, read_changes, write_changes
from assay.search.run_config import options_from

router = new_router()

RECENT = 30
PARTS = REQUEST_OPTIONS["part"]
OWN = "service"
"""The configuration of the service itself, where the address spells out another."""
JUDGES = {
    "entailment": "a model, claim by claim",
    "words": "rules about words and numbers",
}
"""Who may judge answers, beside the judge of the settings."""
FIELDS = ("name", "tag", "part", "answers", "judge", "anew")
NOT_ASKED = frozenset({"k", "offset", "facets", "floor"})
"""Options of one search that an evaluation has no use for."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A configuration: where it comes from, and what differs from the service's own."""

    source: str
    pairs: Pairs

    @property
    def text(self) -> str:
        """The differences, as an address has them."""
        return urlencode(self.pairs)

    def changes(self) -> dict[str, Any]:
        """The differences, as values of an evaluation."""
        texts: dict[str, Any] = {}
        for name, text in self.pairs:
            texts[name] = [*texts[name], text] if isinstance(texts.get(name), list) else text
        return read_changes(texts)


@router.get("/evaluate")
async def evaluate_page(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """The form."""
    del caller
    params = request.query_params
    searcher = await service.searcher()

    def work() -> dict[str, Any]:
        entry = _entry(service, params)
        given = _given(params, searcher.defaults, entry)
        chosen = _chosen(service, params.get("from", ""), searcher.defaults, given)
        sets = [one for one in service.workspace.test_sets() if one.sound]
        recent = service.workspace.runs.runs(limit=RECENT).runs
        wanted = params.get("set") or (entry.test_set if entry else "")
        usual = next((info.suite for info in recent), "")
        names = [one.name for one in sets]
        return {
            "entry": entry,
            "due": due_at(entry.when) if entry else Due(),
            "fields": _fields(params, entry),
            "given": Chosen("", given),
            "chosen": chosen,
            "sets": sets,
            "set": next((name for name in (wanted, usual) if name in names), ""),
            "configurations": list_configurations(service.workspace.layout),
            "runs": [info for info in recent if info.ours and info.status is RunStatus.COMPLETE],
        }

    values = await service.work(work)
    by_clock = bool(values["entry"] or params.get("clock"))
    return page(
        request,
        "ui/evaluate.html",
        **values,
        parts_of_set=PARTS,
        often=OFTEN,
        weekdays=WEEKDAYS,
        judges=JUDGES,
        own_judge=service.settings.judge,
        by_clock=by_clock,
        commands=_commands(
            request, values["set"] or "NAME", values["chosen"], values["due"] if by_clock else None
        ),
    )


def _commands(request: Request, name: str, chosen: Chosen, due: Due | None) -> list[Command]:
    """The same in a terminal and for programs: now, or by the clock."""
    flags = ("--testset", name, *as_flags(chosen.changes()))
    options = f"?{chosen.text}" if chosen.pairs else ""
    if due is None:
        return [
            cli("eval", "run", *flags),
            curl_post(request, f"/v1/evaluate{options}", {"dataset_id": name}),
        ]
    return [
        cli("schedule", "add", due.when, *flags),
        curl_post(request, f"/v1/schedules{options}", {"when": due.when, "test_set": name}),
    ]


@router.post("/ui/evaluate")
async def start(request: Request, service: ServiceOf, caller: Evaluator) -> Response:
    """Enter the evaluation, and show how far it is."""
    wanted = await wanted_in(service, await form_of(request))
    job = await enter_evaluation(service, wanted, caller)
    return RedirectResponse(f"/jobs/{job.job_id}", 303)


async def wanted_in(service: Service, fields: Mapping[str, str]) -> EvaluationRequest:
    """The evaluation that a form asks for; what it does not show stays as an entry has it."""
    layout = service.workspace.layout
    tag = fields.get("tag", "").strip()
    options = Chosen("", parse_qsl(fields.get("options", ""))).changes()

    def read() -> EvaluationRequest:
        name, entry = fields.get("set", ""), fields.get("entry", "")
        found = testsets.load(layout, name, lenient=True)
        before = (
            request_of(scheduled(layout, entry), found)
            if entry
            else EvaluationRequest(test_set=found)
        )
        return replace(
            before,
            test_sets=(name,),
            options=options,
            name=fields.get("name", "").strip(),
            tags=(*([tag] if tag else []), *before.tags[1:]),
            part=PARTS.read(fields["part"]) if fields.get("part") else None,
            answers=bool(fields.get("answers")),
            judge=fields.get("judge") or None,
            use_cache=not fields.get("anew"),
        )

    return await service.work(read)


def _entry(service: Service, params: QueryParams) -> ScheduleEntry | None:
    """The scheduled evaluation that is to be changed."""
    name = params.get("entry", "")
    return scheduled(service.workspace.layout, name) if name else None


def _fields(params: QueryParams, entry: ScheduleEntry | None) -> dict[str, Any]:
    """What the form is filled in with."""
    shown = {one: params.get(one, "") for one in FIELDS}
    if entry is None:
        return shown
    stored = entry.request
    tag = next(iter(stored.get("tags", ())), "")
    return {**shown, **stored, "tag": tag, "anew": not stored.get("use_cache", True)}


def _given(params: QueryParams, usual: SearchOptions, entry: ScheduleEntry | None) -> Pairs:
    """The configuration that an address spells out, or that of a scheduled evaluation."""
    if entry is None:
        return configuration_pairs(read_pane(params, usual).options, usual)
    return configuration_pairs(changed(usual, **entry.request.get("options", {})), usual)


def _chosen(service: Service, source: str, usual: SearchOptions, given: Pairs) -> Chosen:
    """The configuration that was chosen: a saved one, a run's, the service's own or the given."""
    kind, _, name = source.partition(":")
    if kind == "saved":
        path = service.workspace.layout.configuration(check_id(name, "configuration"))
        options = changed(usual, **read_configuration(str(path)))
    elif kind == "run":
        options = options_from(service.workspace.runs.run(name).config, usual)
    else:
        return Chosen(source, [] if source == OWN else given)
    return Chosen(source, configuration_pairs(options, usual))


def configuration_pairs(options: SearchOptions, usual: SearchOptions) -> Pairs:
    """What differs, without what says only how much of one search is shown."""
    timing = ("component_timeout_ms", "rerank_timeout_ms")
    return [
        (name, text)
        for name, written in write_changes(options, usual).items()
        if name not in NOT_ASKED and name not in timing
        for text in ([written] if isinstance(written, str) else written)
    ]
