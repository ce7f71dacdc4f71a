"""How does a whole run travel from one workspace to another?

The form is plain JSON: what is known of the run, the test set it was made with, and one entry per
query as the store keeps it. What arrives is checked by reading it into the values of the library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.errors import ConflictError, InputError
from assay.evaluation.stored_run import StoredRun
from assay.model.document import check_id
from assay.model.run_store import RunStore
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.testset import TestSet
from assay.model.testset_json import from_plain, to_plain
from assay.render.runs import run_json
from assay.store import run_rows
from assay.store.run_rows import outcome as read_outcome

FORMAT = "assay-run-1"
BATCH = 500
_ENDED = (RunStatus.COMPLETE, RunStatus.FAILED)


def stored_run(store: RunStore, ref: str) -> StoredRun:
    """A run with its test set and outcomes."""
    info = store.run(ref)
    return StoredRun(info, store.test_set(info.run_id), store.outcomes(info.run_id))


def pack(run: StoredRun) -> dict[str, Any]:
    """A run as JSON values."""
    return {
        "format": FORMAT,
        "info": run_json(run.info),
        "test_set": to_plain(run.test_set),
        "outcomes": [outcome_json(one) for one in run.outcomes],
    }


def outcome_json(one: QueryOutcome) -> dict[str, Any]:
    """What happened to one query, as the store keeps it."""
    stages = run_rows.stages_json(one)
    return {
        "query_id": one.query_id,
        "result": json.loads(run_rows.result_json(one)),
        "stages": None if stages is None else json.loads(stages),
    }


def outcome_of(content: Mapping[str, Any], depth: int | None = None) -> QueryOutcome:
    """The outcome that ``outcome_json`` wrote; ``depth`` builds the first results only."""
    stages = None if content["stages"] is None else json.dumps(content["stages"])
    return read_outcome(
        check_id(content["query_id"], "query id"),
        json.dumps(content["result"]),
        stages,
        depth=depth,
    )


def unpack(content: Mapping[str, Any]) -> StoredRun:
    """The run that ``pack`` made, checked as far as a reader can."""
    try:
        test_set = from_plain(content["test_set"])
        info = replace(info_of(content["info"]), tags=())  # tags stay with who gave them
        outcomes = tuple(outcome_of(one) for one in content["outcomes"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        raise InputError(
            f"this is not a run: {type(problem).__name__}: {str(problem)[:100]}",
            hint="send what GET /v1/runs/{ref}/export answers",
        ) from None
    _check(info, test_set, outcomes)
    return StoredRun(info, test_set, outcomes)


def push(store: RunStore, run: StoredRun) -> bool:
    """Store a run that was made elsewhere; False where the same one is there already.

    What an interrupted push of the same run has left behind is completed.
    """
    begun = replace(run.info, status=RunStatus.RUNNING, aggregate={}, finished_at=None)
    try:
        store.begin(begun, run.test_set)
    except ConflictError:
        known = stored_run(store, run.info.run_id)
        if not _left_behind(known, run):
            if pack(known)["outcomes"] == pack(run)["outcomes"]:
                return False
            raise
    for start in range(0, len(run.outcomes), BATCH):
        store.append(run.info.run_id, run.outcomes[start : start + BATCH])
    store.finish(
        run.info.run_id,
        run.info.aggregate,
        status=run.info.status,
        finished_at=run.info.finished_at,
    )
    return True


def _left_behind(known: StoredRun, run: StoredRun) -> bool:
    """Whether the stored run is the beginning of this one, and nobody else's work."""
    same = all(
        getattr(known.info, name) == getattr(run.info, name)
        for name in ("test_set_checksum", "config_hash", "cache_key", "created_at", "owner")
    )
    if known.info.status is not RunStatus.RUNNING or not same:
        return False
    coming = {one.query_id: outcome_json(one) for one in run.outcomes}
    return all(outcome_json(one) == coming.get(one.query_id) for one in known.outcomes)


def info_of(content: Mapping[str, Any]) -> RunInfo:
    """What is known of a run, from the JSON of a listing."""
    values = dict(content)
    values["status"] = RunStatus(values["status"])
    values["chunker_versions"] = tuple(values["chunker_versions"])
    values["tags"] = tuple(values["tags"])
    return RunInfo(**values)


def _check(info: RunInfo, test_set: TestSet, outcomes: tuple[QueryOutcome, ...]) -> None:
    check_id(info.run_id, "run id")
    if info.status not in _ENDED:
        raise InputError(
            f"the run {info.run_id} is {info.status}", hint="push it when it has ended"
        )
    if info.test_set_checksum != test_set.checksum or info.suite != test_set.name:
        raise InputError("the run was made with another test set than the one that came along")
    known = {query.query_id for query in test_set.queries}
    for one in outcomes:
        if one.query_id not in known:
            raise InputError(f"the query {one.query_id} is not in the test set")
