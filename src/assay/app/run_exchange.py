"""How does a run leave one workspace and enter another?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from assay.app.held_out import (
    OWNER,
    Viewer,
)
from assay.app.statistics import Statistics
from assay.errors import (
    ConflictError,
    InputError,
    UnknownRunError,
)
from assay.evaluation.defaults import EVALUATION_MEASURES
from assay.evaluation.outcomes import usual_measures
from assay.evaluation.result import result_of_run
from assay.evaluation.stored_aggregate import stored_aggregate
from assay.evaluation.stored_run import StoredRun
from assay.measures.parse import measures_text, parse_measures
from assay.model.codec import decode, encode
from assay.model.document import check_id
from assay.model.run_store import (
    RunStore,
)
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.scoring import Scoring
from assay.model.stored_figures import check_figures
from assay.model.testset import TestSet
from assay.model.testset_json import to_plain
from assay.settings import SETTINGS, overriding
from assay.store import run_rows

if TYPE_CHECKING:
    from assay.app.interface import Assay

FORMAT = "assay-run-1"
BATCH = 500
_ENDED = (RunStatus.COMPLETE, RunStatus.FAILED)


def pack(run: StoredRun) -> dict[str, Any]:
    """A whole run as JSON values: what is known of it, its test set, an entry per query."""
    return {
        "format": FORMAT,
        "info": encode(run.info),
        "test_set": to_plain(run.test_set),
        "outcomes": [outcome_json(one) for one in run.outcomes],
    }


def packed(assay: Assay, run: str, viewer: Viewer = OWNER) -> dict[str, Any]:
    """A stored run as ``pack`` writes it, as far as the viewer may see it."""
    assay.require()
    return pack(viewer.seen_run(assay.stored_run(run, stages=True)))


def outcome_json(one: QueryOutcome) -> dict[str, Any]:
    """What happened to one query, as the store keeps it."""
    staged = run_rows.stages_json(one)
    return {
        "query_id": one.query_id,
        "result": json.loads(run_rows.result_json(one)),
        "stages": None if staged is None else json.loads(staged),
    }


def outcome_of(
    content: Mapping[str, Any], depth: int | None = None, *, where: str = "", closed: bool = False
) -> QueryOutcome:
    """The outcome that ``outcome_json`` wrote; ``depth`` builds the first results only."""
    run_rows.check_outcome(content, where or "outcome", closed=closed)
    staged = None if content["stages"] is None else json.dumps(content["stages"])
    return run_rows.outcome(
        check_id(content["query_id"], "query id"),
        json.dumps(content["result"]),
        staged,
        depth=depth,
    )


def unpack(content: Mapping[str, Any]) -> StoredRun:
    """The run that ``pack`` made, checked by reading it into our own values.

    It comes from elsewhere and is believed later: a field that nobody would read is refused.
    """
    run = read_packed(content, closed=True)
    _check(run.info, run.test_set, tuple(run.outcomes))
    return run


def read_packed(content: Mapping[str, Any], *, closed: bool = False) -> StoredRun:
    """The run, unchecked: for what this workspace packed itself."""
    try:
        test_set = decode(TestSet, content["test_set"], "test_set", closed=closed)
        info = decode(RunInfo, content["info"], "info", closed=closed)
        outcomes = tuple(
            outcome_of(one, where=f"outcomes[{at}]", closed=closed)
            for at, one in enumerate(content["outcomes"])
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InputError) as problem:
        said = problem.message if isinstance(problem, InputError) else str(problem)
        raise InputError(
            f"this is not a run: {type(problem).__name__}: {said[:200]}",
            hint="send what GET /v1/runs/{ref}/export answers",
        ) from None
    return StoredRun(replace(info, tags=()), test_set, outcomes)  # tags stay at home


def push(store: RunStore, run: StoredRun) -> bool:
    """Store a run that was made elsewhere; False where the same one is there already.

    What an interrupted push of the same run has left behind is completed.
    """
    begun = replace(run.info, status=RunStatus.RUNNING, aggregate={}, finished_at=None)
    try:
        store.begin(begun, run.test_set)
    except ConflictError as taken:
        try:
            info = store.run(run.info.run_id)
        except UnknownRunError:
            raise taken from None
        if info.run_id != run.info.run_id:
            raise
        known = StoredRun(info, store.test_set(info.run_id), store.outcomes(info.run_id))
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
    if known.info.status in _ENDED or not same:
        return False
    coming = {one.query_id: outcome_json(one) for one in run.outcomes}
    return all(outcome_json(one) == coming.get(one.query_id) for one in known.outcomes)


def _check(info: RunInfo, test_set: TestSet, outcomes: tuple[QueryOutcome, ...]) -> None:
    check_id(info.run_id, "run id")
    check_figures(info)
    for name in (about.name for about in fields(info)):
        value = getattr(info, name)
        if isinstance(value, str) and not value.isprintable():
            raise InputError(f"{name}: must be printable characters, not {value!r:.80}")
    if info.status not in _ENDED:
        raise InputError(
            f"the run {info.run_id} is {info.status}", hint="push it when it has ended"
        )
    if not test_set.has_checksum(info.test_set_checksum) or info.suite != test_set.name:
        raise InputError("the run was made with another test set than the one that came along")
    _check_scoring(info.scoring)
    known = {query.query_id for query in test_set.queries}
    seen: set[str] = set()
    for one in outcomes:
        if one.query_id not in known:
            raise InputError(f"the query {one.query_id} is not in the test set")
        if one.query_id in seen:
            raise InputError(f"the query {one.query_id} has two outcomes")
        seen.add(one.query_id)
    run = StoredRun(info, test_set, outcomes)
    if info.status is RunStatus.COMPLETE and run.incomplete is not None:
        raise InputError(
            f"the run claims to be complete, but {run.incomplete}",
            hint="send the outcome of every query",
        )
    _check_against_outcomes(run)


def _check_against_outcomes(run: StoredRun) -> None:
    """Lists, history and metrics show what a run says of itself: its outcomes must give that."""
    info = run.info
    if info.figures_only or not info.aggregate:
        return
    sampling = replace(info.scoring.sampling, resamples=1, method="percentile")
    usual = usual_measures(run.test_set, run.outcomes, info.scoring.protocol)
    scoring = with_stored(info, replace(info.scoring, sampling=sampling), usual)
    scored = stored_aggregate(info, result_of_run(info, run.test_set, run.outcomes, scoring))
    _check_names(info.aggregate, scored, "info.aggregate")
    given = _flat_figures(scored)
    for name, told in _flat_figures(info.aggregate).items():
        found = given.get(name)
        if told != found and (
            told is None or found is None or not math.isclose(told, found, abs_tol=_ROUNDED)
        ):
            raise InputError(
                f"the run claims {name} is {told}, and its outcomes give {found}",
                hint="send the run as it was exported; assay eval rescore rescores an older one",
            )


def _check_names(told: Any, given: Any, where: str) -> None:
    """Refuse what scoring would not write."""
    if not isinstance(told, Mapping) or not isinstance(given, Mapping):
        return
    for name, value in told.items():
        if name in given and name != "reasons":
            _check_names(value, given[name], f"{where}.{name}")
        elif name not in given and name not in _AT_TIMES:
            raise InputError(f"{where}.{name!s:.60}: its outcomes give nothing of that name")


_AT_TIMES = frozenset({"ci", "ci_reason", "reason"})
"""What an entry has or lacks by the number of resamples."""
_ROUNDED = 1.01e-4
"""By how much figures may differ that were rounded to four decimals."""


_COUNTED = (
    *("total_queries", "skipped_queries", "scored_queries"),
    *("failed_queries", "degraded_queries", "empty_queries"),
)


def _flat_figures(aggregate: Mapping[str, Any]) -> dict[str, float | None]:
    """The means and counts of an aggregate, each under one name."""
    figures: dict[str, float | None] = {
        name: aggregate[name] for name in _COUNTED if aggregate.get(name) is not None
    }
    figures |= aggregate.get("metrics", {})
    for group in ("per_query_type", "per_speaker"):
        for value, means in (aggregate.get(group) or {}).items():
            figures |= {f"{group}.{value}.{name}": mean for name, mean in means.items()}
    for name, about in (aggregate.get("aggregates") or {}).items():
        figures[f"aggregates.{name}.mean"] = about.get("mean")
    return figures


def _check_scoring(scoring: Scoring) -> None:
    """What a run is scored by comes from elsewhere, and every later verb believes it."""
    drawn = scoring.sampling
    Statistics(
        confidence=drawn.level, resamples=drawn.resamples, seed=drawn.seed, ci_method=drawn.method
    )
    overriding(SETTINGS["chunk_separator"]).accept(scoring.chunk_separator)
    if scoring.measures is not None:
        parse_measures(scoring.measures)


def with_stored(info: RunInfo, scoring: Scoring, usual: str = EVALUATION_MEASURES) -> Scoring:
    """A way of scoring that gives the measures which a run has, too."""
    entries = info.aggregate.get("aggregates", {}).values()
    stored = [entry["measure"] for entry in entries]
    asked = scoring.measures or usual
    return replace(scoring, measures=measures_text(parse_measures([*stored, asked])))
