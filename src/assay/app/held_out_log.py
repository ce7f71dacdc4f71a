"""Who looked at the held-out queries, and do they tell another story than the rest?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.annotation.overfit import Overfitting, overfitting
from assay.app.workspace import Workspace
from assay.errors import UsageError
from assay.evaluation.outcomes import score_run
from assay.evaluation.stored_run import StoredRun
from assay.model.moments import now
from assay.model.run_store import HeldOutUse, RunFilter
from assay.model.runs import RunInfo, RunStatus
from assay.model.testset import GoldenQuery, TestSet
from assay.plural import share_of

MEASURE = "nDCG@10"
LOOKED_AT = 200  # runs of one configuration, newest first
JOINED = 20


def uses(workspace: Workspace, test_set: TestSet) -> tuple[HeldOutUse, ...]:
    """Every look at the held-out part of a set, oldest first."""
    return workspace.runs.held_out_uses(test_set.name) if workspace.exists() else ()


def note_use(workspace: Workspace, test_set: TestSet, purpose: str, run_id: str = "") -> None:
    """Enter a look into the log."""
    use = HeldOutUse(test_set.name, test_set.version, run_id, purpose, now("seconds"))
    workspace.runs.log_held_out(use)


def check_overfitting(
    workspace: Workspace,
    test_set: TestSet,
    before: str,
    after: str,
    *,
    measure: str = MEASURE,
) -> Overfitting:
    """Compare two runs on both sides of the split; this look is logged.

    A run that covers one side only is joined with the newest run of the same system (configuration,
    index, models, chunkers) that covers the other. No run may stand for before and after at once.
    """
    if test_set.held_out is None:
        raise UsageError(
            f"{test_set.name} has no held-out part", hint="assay testset split makes one"
        )
    sides = (test_set.evaluation_queries, test_set.held_out_queries)
    first, second = (_joined(workspace, test_set, ref) for ref in (before, after))
    values = [_pairs(first, second, side, measure) for side in sides]
    for side in sides:
        _refuse_shared(first, second, side)
    note_use(workspace, test_set, "overfitting check", f"{before} {after}"[:120])
    return overfitting(values[0], values[1], measure)


def _joined(workspace: Workspace, test_set: TestSet, ref: str) -> list[StoredRun]:
    """The run, and others of the same system, newest first."""
    named = workspace.stored_run(ref)
    if named.info.suite != test_set.name:
        raise UsageError(f"{ref} is a run of {named.info.suite}, not of {test_set.name}")
    chosen = RunFilter(
        suite=test_set.name, status=RunStatus.COMPLETE, config_hash=named.info.config_hash
    )
    others = [
        other.run_id
        for other in workspace.runs.runs(chosen, limit=LOOKED_AT).runs
        if other.run_id != named.name and _same_system(other, named.info)
    ]
    return [named, *(workspace.stored_run(run_id) for run_id in others[:JOINED])]


def _same_system(one: RunInfo, other: RunInfo) -> bool:
    """Whether two runs of one configuration also searched the same index by the same models."""
    return (
        one.generation == other.generation
        and one.models == other.models
        and set(one.chunker_versions) == set(other.chunker_versions)
    )


def _refuse_shared(
    first: Sequence[StoredRun], second: Sequence[StoredRun], queries: Sequence[GoldenQuery]
) -> None:
    before, after = ({run.name for run, _ in _serving(runs, queries)} for runs in (first, second))
    for name in sorted(before & after):
        raise UsageError(
            f"{name} would stand for before and after at once: the two systems cannot be told "
            "apart by configuration, index, models or chunkers",
            hint="make both runs with --part all and name those",
        )


def _pairs(
    first: Sequence[StoredRun],
    second: Sequence[StoredRun],
    queries: Sequence[GoldenQuery],
    measure: str,
) -> Mapping[str, tuple[float, float]]:
    a, b = (_values(runs, queries, measure) for runs in (first, second))
    found = {name: (a[name], b[name]) for name in a if name in b}
    wanted = sum(query.judged for query in queries)
    if len(found) < wanted:
        raise UsageError(
            f"{share_of(wanted - len(found), wanted, 'query', 'was')} not run in both",
            hint="assay eval run with --part all covers both sides",
        )
    return found


def _values(
    runs: Sequence[StoredRun], queries: Sequence[GoldenQuery], measure: str
) -> dict[str, float]:
    found: dict[str, float] = {}
    for run, served in _serving(runs, queries):
        scored = score_run(run, measure, queries=served).per_query(measure)
        found |= {name: value for name, value in scored.items() if value is not None}
    return found


def _serving(
    runs: Sequence[StoredRun], queries: Sequence[GoldenQuery]
) -> list[tuple[StoredRun, list[GoldenQuery]]]:
    """Which run answers for which judged queries: the first that has them."""
    waiting = [query for query in queries if query.judged]
    served = []
    for run in runs:
        here = [query for query in waiting if query.query_id in run.by_query]
        if here:
            served.append((run, here))
            waiting = [query for query in waiting if query.query_id not in run.by_query]
    return served
