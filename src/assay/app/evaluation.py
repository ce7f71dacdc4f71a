"""How is an evaluation that came over HTTP asked for, run, and resumed?

What is asked for becomes plain JSON in a job, so that a service that starts again knows all of it.
The run carries the id of its job: outcomes are committed as they come, and work that was cut short
goes on where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assay import limits
from assay.app import testsets as datasets
from assay.app.jobs import Control, Done
from assay.app.layout import Layout
from assay.errors import LimitError, UnknownRunError
from assay.evaluation.defaults import EVALUATION_MEASURES, workflow_measures
from assay.evaluation.match import absence
from assay.evaluation.parts import Mode, SetPart, part_of
from assay.evaluation.record import Recorded, RecordOptions, record
from assay.evaluation.result import ScoringOptions
from assay.hits import strict_json
from assay.http.edge.problems import Fault, ProblemError
from assay.http.wire.evaluate import EvaluateParameters, Trigger
from assay.measures.parse import parse_measures
from assay.model.runs import QueryOutcome
from assay.model.system import System
from assay.model.testset import GoldenQuery, SpeakerFilter, TestSet
from assay.model.testset_json import from_plain, to_plain
from assay.search.request import COMPONENTS
from assay.store.jobs import ClaimedJob
from assay.store.owner import this_process

if TYPE_CHECKING:
    from pathlib import Path

    from assay.app.workspace import Workspace

ALL_SPEAKERS = frozenset(SpeakerFilter)
POLITE_SECONDS = 0.25


def request_of(
    home: Path, body: bytes, asked: EvaluateParameters
) -> tuple[str | None, dict[str, Any]]:
    """The id that was given, if any, and everything that the evaluation needs, as JSON."""
    trigger = _trigger(body)
    if trigger is None:
        found = datasets.read_upload(body).sound()
        options, measures, mode = asked.changes(), None, Mode.AS_WRITTEN
        given = asked.evaluation_id
    else:
        found = datasets.load(Layout(home), trigger.dataset_id)
        found, mode = _of_speakers(found, trigger)
        options = _options(trigger) | asked.changes()
        measures = _measures(trigger)
        given = asked.evaluation_id or trigger.evaluation_id
    if len(found.queries) > limits.MAX_UPLOAD_QUERIES:
        raise LimitError(
            f"{len(found.queries):,} queries, and {limits.MAX_UPLOAD_QUERIES:,} are allowed",
            hint="evaluate parts of the test set, or use the command line",
        )
    chosen = asked.measures or measures or EVALUATION_MEASURES
    parse_measures(chosen)  # refused now, not when the job begins
    return given, {
        "test_set": to_plain(found),
        "options": options,
        "measures": chosen,
        "mode": mode.value,
        "name": asked.name or "",
        "per_query": asked.per_query,
    }


def request_of_dataset(home: Path, name: str) -> dict[str, Any]:
    """The evaluation of a dataset with everything as configured."""
    return {
        "test_set": to_plain(datasets.load(Layout(home), name)),
        "options": {},
        "measures": EVALUATION_MEASURES,
        "mode": Mode.AS_WRITTEN.value,
        "name": "",
        "per_query": False,
    }


def run_evaluation(
    workspace: Workspace, job: ClaimedJob, control: Control, busy: Callable[[], bool]
) -> Done:
    """Run the evaluation of a job, or go on with it."""
    request = job.request
    part = part_of(from_plain(request["test_set"]), mode=Mode(request["mode"]))
    system = _system(workspace, request["options"], busy)
    known = _resumable(workspace, job.job_id)
    options = RecordOptions(
        name=request["name"],
        run_id=job.job_id,
        resume=known,
        owner=this_process(),
        scoring=ScoringOptions(measures=request["measures"]),
    )
    recorded = _recorded(workspace, system, part, options, control)
    result = recorded.result.to_dict(per_query=request["per_query"])
    if said := absence(part.test_set.queries, workspace.present):
        result["warnings"].append(said)
    return Done(
        {**result, "evaluation_id": job.job_id, "run_id": recorded.info.run_id},
        recorded.info.run_id,
    )


def _recorded(
    workspace: Workspace, system: System, part: SetPart, options: RecordOptions, control: Control
) -> Recorded:
    told_at = 0.0

    def told(done: int, total: int, outcomes: Sequence[QueryOutcome]) -> None:
        nonlocal told_at
        del outcomes
        now = time.monotonic()
        if done == total or now - told_at > 0.2:  # each telling is a commit
            control.tell(done, total)
            told_at = now
        control.check()

    return record(system, part, workspace.runs, options, told)


def _resumable(workspace: Workspace, run_id: str) -> str | None:
    try:
        return workspace.runs.run(run_id).run_id
    except UnknownRunError:
        return None


def _system(workspace: Workspace, options: Mapping[str, Any], busy: Callable[[], bool]) -> System:
    """What is evaluated: the search that ``assay eval run`` evaluates, only politer."""
    workspace.searcher.refresh()
    system = workspace.system(**options)

    def retrieve(query: GoldenQuery) -> Any:
        _give_way(busy)
        return system.retrieve(query)

    return replace(system, retrieve=retrieve)


def _give_way(busy: Callable[[], bool]) -> None:
    """Let people go first; within a deadline, since an evaluation must end, too."""
    until = time.monotonic() + POLITE_SECONDS
    while busy() and time.monotonic() < until:
        time.sleep(0.005)


def _trigger(body: bytes) -> Trigger | None:
    """The request, where it names a dataset; None where it is a test set itself."""
    if body.lstrip()[:1] != b"{":
        return None  # YAML, or a list: the reader of test sets has its say
    found = strict_json.values(body, "body")[0][1]
    if "dataset_id" not in found or "test_queries" in found:
        return None
    try:
        return Trigger.model_validate(found)
    except ValidationError as error:
        faults = [
            Fault(".".join(["body", *map(str, one["loc"])]), one["msg"]) for one in error.errors()
        ]
        detail = f"{faults[0].where}: {faults[0].message}"
        raise ProblemError(422, "invalid", detail, errors=faults) from None


def _of_speakers(found: TestSet, trigger: Trigger) -> tuple[TestSet, Mode]:
    """The queries that the speaker modes choose; ALL alone asks everything without filters."""
    wanted = {SpeakerFilter(name) for name in trigger.speaker_modes or ALL_SPEAKERS}
    if wanted == {SpeakerFilter.ALL}:
        return found, Mode.OVERALL
    if wanted == ALL_SPEAKERS:
        return found, Mode.AS_WRITTEN
    chosen = tuple(query for query in found.queries if query.speaker_filter in wanted)
    if not chosen:
        raise ProblemError(422, "invalid", "the dataset has no query for these speaker_modes")
    held = found.held_out
    if held is not None:
        names = {query.query_id for query in chosen}
        kept = tuple(name for name in held.query_ids if name in names)
        held = replace(held, query_ids=kept)
    return replace(found, queries=chosen, held_out=held), Mode.AS_WRITTEN


def _options(trigger: Trigger) -> dict[str, Any]:
    config = trigger.retrieval_config
    given: dict[str, Any] = {"rerank": config.rerank}
    if config.search_mode in COMPONENTS:
        given["components"] = config.search_mode
    if config.fusion_method is not None:
        given["fusion_method"] = config.fusion_method
    return given


def _measures(trigger: Trigger) -> str | None:
    cutoffs = trigger.retrieval_config.top_k
    return None if cutoffs is None else workflow_measures(cutoffs)
