"""What can be done with stored runs: list, tag, delete, score again, follow over time?

Verbs take an ``Assay``: a workspace here, or a service whose runs are read and computed on here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.app.run_exchange import pack, push, read_packed, with_stored
from assay.app.run_view import score_stored, scoring_of
from assay.app.statistics import Measures
from assay.errors import (
    AssayError,
    ConflictError,
    CorruptError,
    UnknownRunError,
    UsageError,
)
from assay.evaluation.defaults import (
    HISTORY_MEASURES,
)
from assay.evaluation.history import History, HistoryOptions, history_of
from assay.evaluation.outcomes import score_run
from assay.evaluation.result import EvaluationResult
from assay.evaluation.stored_aggregate import stored_aggregate
from assay.measures.base import Measure
from assay.measures.parse import parse_measures
from assay.model.moments import now
from assay.model.ranking import MatchName
from assay.model.run_store import (
    COLUMNS,
    NEWEST_FIRST,
    DeletedRun,
    RunFilter,
    RunOrder,
    RunPage,
)
from assay.model.runs import RunInfo, RunStatus
from assay.model.scoring import Scoring
from assay.model.testset import TestSet
from assay.store.deleted_runs import DeletedRuns
from assay.testsets.load import load_test_set

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.app.workspace import Workspace
    from assay.search.request import SearchOptions

MOST_RUNS = 10_000
LOOKED_AT = 1_000
"""Runs of a suite that are looked through for those that are asked for."""


def run_filter(
    suite: str | None = None,
    status: str | None = None,
    tag: str | None = None,
    config_hash: str | None = None,
    text: str | None = None,
    *,
    newest_only: bool = False,
) -> RunFilter:
    """Which runs are meant, as people write it; empty allows everything."""
    known = [str(one) for one in RunStatus]
    if status and status not in known:
        raise UsageError(f"there is no status {status!r:.40}", hint=f"known: {', '.join(known)}")
    return RunFilter(
        suite=suite or None,
        status=RunStatus(status) if status else None,
        tag=tag or None,
        config_hash=config_hash or None,
        text=(text or "").strip() or None,
        newest_only=newest_only,
    )


def run_order(text: str | None) -> RunOrder:
    """The order of a list as people write it: a column or a measure, ``-`` for largest first."""
    if not text:
        return NEWEST_FIRST
    name = text.removeprefix("-")
    if name not in COLUMNS:
        try:
            (measure,) = parse_measures(name)
        except (AssayError, ValueError):
            raise UsageError(
                f"runs cannot be sorted by {name!r:.60}",
                hint=f"name a measure such as nDCG@10, or one of {', '.join(COLUMNS)}",
            ) from None
        name = measure.key
    return RunOrder(name, text.startswith("-"))


def list_runs(
    assay: Assay,
    chosen: RunFilter | None = None,
    *,
    limit: int = 20,
    offset: int = 0,
    order: RunOrder = NEWEST_FIRST,
) -> RunPage:
    """Runs, the newest first unless another order is asked for, each with its figures."""
    assay.require()
    page = assay.runs.runs(chosen, limit=limit, offset=offset, order=order)
    return replace(page, runs=tuple(with_figures(assay, info) for info in page.runs))


def with_figures(assay: Assay, info: RunInfo) -> RunInfo:
    """A run with its figures; one that did not end is scored as far as it got."""
    if info.status is RunStatus.COMPLETE or info.figures_only or "metrics" in info.aggregate:
        return info
    try:
        result = score_stored(assay, info, info.scoring)
    except CorruptError:  # of its outcomes; what is known of the run is shown
        return info
    return replace(info, aggregate=stored_aggregate(info, result))


def live_figures(assay: Assay, info: RunInfo) -> Mapping[str, float | None]:
    """The headline measures over the queries that were asked so far, by key.

    The figures of an incomplete run count every other query as zero; these show where it is going.
    """
    stored = assay.stored_run(info.run_id)
    asked = [one for one in stored.queries if one.judged and one.query_id in stored.by_query]
    if not asked:
        return {}
    scores = score_run(stored, HISTORY_MEASURES, queries=asked)
    return {measure.key: scores[measure] for measure in scores.measures}


def search_changes(info: RunInfo, usual: SearchOptions) -> dict[str, str | list[str]]:
    """How the search of a run differs from the usual one, as people write options.

    Nothing where another system made it, or where nothing is known of its configuration.
    """
    from assay.app.configurations import SAVED_NAMES
    from assay.search.request import write_changes
    from assay.search.run_config import options_from

    if not info.ours or not info.config:
        return {}
    found = write_changes(options_from(info.config, usual), usual)
    return {name: text for name, text in found.items() if name in SAVED_NAMES}


def headline_measures() -> tuple[Measure, ...]:
    """The measures that a list of runs shows."""
    return tuple(parse_measures(HISTORY_MEASURES))


def tag(assay: Assay, run: str, name: str) -> RunInfo:
    """Give a run a tag, such as baseline; it names no other run any longer."""
    assay.require()
    return assay.runs.tag(run, name)


def untag(assay: Assay, name: str, run: str | None = None) -> RunInfo:
    """Remove a tag from the run that has it; the run stays."""
    assay.require()
    info = assay.runs.run(run or name)
    if name not in info.tags:
        raise UnknownRunError(
            f"{run or 'no run'} has {'no' if run else 'the'} tag {name!r:.80}",
            hint="assay eval list shows tags",
        )
    assay.runs.untag(name)
    return assay.runs.run(info.run_id)


def delete(assay: Assay, run: str, *, for_good: bool = False) -> RunInfo:
    """Delete a run; unless it goes ``for_good``, ``restore`` brings it back."""
    assay.require()
    return assay.delete_run(run, for_good=for_good)


def deleted(assay: Assay) -> tuple[DeletedRun, ...]:
    """The deleted runs that can be restored, the one deleted last first."""
    assay.require()
    return assay.deleted_runs()


def restore(assay: Assay, run_id: str) -> RunInfo:
    """Bring back a deleted run, with the tags that no other run has got since."""
    assay.require()
    return assay.restore_run(run_id)


def move_out(workspace: Workspace, run: str, *, for_good: bool) -> RunInfo:
    """Delete a run of this workspace, and keep a copy unless it goes for good."""
    try:
        info = workspace.runs.run(run)
    except CorruptError:
        return workspace.runs.delete(run)
    if info.status is RunStatus.RUNNING:
        raise ConflictError(
            f"the run {info.run_id} is still running", hint="cancel it, or wait until it has ended"
        )
    kept = DeletedRuns(workspace.layout.deleted_runs)
    if for_good:
        kept.forget(info.run_id)
    else:
        try:
            packed = pack(workspace.stored_run(info.run_id, stages=True))
            kept.keep(info, packed, now())
        except CorruptError:  # what cannot be read cannot be kept, and can still go
            pass
    return workspace.runs.delete(info.run_id)


def move_back(workspace: Workspace, run_id: str) -> RunInfo:
    """Bring a deleted run back into this workspace."""
    kept = DeletedRuns(workspace.layout.deleted_runs)
    about, packed = kept.read(run_id)
    push(workspace.runs, read_packed(packed))
    for name in about.tags:
        if not _is_taken(workspace, name):
            workspace.runs.tag(run_id, name)
    kept.forget(run_id)
    return workspace.runs.run(run_id)


def _is_taken(workspace: Workspace, tag: str) -> bool:
    """Whether a run has this tag."""
    try:
        return tag in workspace.runs.run(tag).tags
    except UnknownRunError:
        return False


@dataclass(frozen=True, slots=True)
class Rescored:
    """A run as it was stored, and what it scores now; ``kept`` says whether that is stored."""

    info: RunInfo
    result: EvaluationResult
    kept: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            **self.result.to_dict(),
            "run_id": self.info.run_id,
            "before": self.info.aggregate.get("metrics"),
            "kept": self.kept,
        }


def rescore(
    workspace: Workspace,
    run: str | None = None,
    *,
    suite: str | None = None,
    measures: Measures = (),
    match: MatchName | None = None,
    test_set: str | None = None,
) -> tuple[Rescored, ...]:
    """Score a run again, or every complete run of a test set; nothing is searched.

    ``measures`` are added to those that a run has. The figures that a run keeps are those of its
    own test set and match rule: with another ``test_set`` or ``match`` nothing is kept.
    """
    if (run is None) == (suite is None):
        raise UsageError("name a run, or with --suite a test set")
    workspace.require()
    judged_by = None
    if test_set is not None:
        judged_by = load_test_set(test_set, folder=workspace.layout.test_sets)
    chosen = (
        _complete_runs(workspace, suite) if suite is not None else (workspace.runs.run(run or ""),)
    )
    return tuple(
        _rescore(workspace, info, scoring_of(info, measures, match), judged_by) for info in chosen
    )


def _rescore(
    workspace: Workspace, info: RunInfo, scoring: Scoring, judged_by: TestSet | None
) -> Rescored:
    if info.status is not RunStatus.COMPLETE:
        raise UsageError(
            f"the run {info.run_id} is {info.status}", hint="assay eval run --resume continues it"
        )
    result = score_stored(workspace, info, with_stored(info, scoring), test_set=judged_by)
    kept = judged_by is None and scoring.same_rule(info.scoring)
    if kept:
        workspace.runs.finish(info.run_id, stored_aggregate(info, result))
    return Rescored(info, result, kept=kept)


def _complete_runs(workspace: Workspace, suite: str) -> tuple[RunInfo, ...]:
    chosen = RunFilter(suite=suite, status=RunStatus.COMPLETE)
    page = workspace.runs.runs(chosen, limit=MOST_RUNS)
    found = tuple(info for info in page.runs if not info.figures_only)
    if not found:
        raise UsageError(f"there is no complete run of {suite}", hint="assay eval list")
    return found


def history(
    assay: Assay,
    suite: str,
    *,
    measures: Measures = (),
    options: HistoryOptions | None = None,
    limit: int = 20,
) -> History:
    """The newest complete runs of a test set, in series that can be compared."""
    assay.require()
    wanted = parse_measures(measures or HISTORY_MEASURES)
    page = assay.runs.runs(RunFilter(suite=suite), limit=LOOKED_AT)
    found = history_of(suite, page.runs, wanted, options or HistoryOptions(), limit)
    return replace(found, left_out=(*found.left_out, *page.notes))
