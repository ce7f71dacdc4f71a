"""Who may see the held-out queries of a test set, what is masked for others, and who looked?

A ``Viewer`` says it once; the verbs of runs and comparisons take one. Whoever looks often at what
is held out will overfit it without wanting to, so looks are logged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.errors import UnknownRunError, UsageError
from assay.model.moments import now
from assay.model.run_store import HeldOutUse, RunFilter
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.testset import GoldenQuery, TestSet
from assay.plural import share_of

if TYPE_CHECKING:
    from assay.annotation.overfit import Overfitting
    from assay.app.workspace import Workspace
    from assay.evaluation.compare import CompareReport
    from assay.evaluation.gate import GateReport
    from assay.evaluation.stored_run import StoredRun
    from assay.evaluation.waterfall import Waterfall
    from assay.testsets.diff import TestSetDiff

MASK = "(held out: ask for it, and the look is logged)"
MASKED_FIELDS = frozenset(
    {"query_text", "synthetic", "must_contain", "forbidden", "reference", "nuggets"}
)
MEASURE = "nDCG@10"
LOOKED_AT = 200  # runs of one configuration, newest first
JOINED = 20


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks at a run: may they see held-out queries, and who is told when they do?

    ``log`` takes each look, with ``purpose``; ``mask`` stands where something is hidden.
    """

    may_see_held_out: bool = True
    purpose: str = "show"
    log: Callable[[HeldOutUse], None] | None = None
    mask: str = MASK

    def hidden_in(
        self, test_set: TestSet, only: Collection[str] | None = None, run_id: str = ""
    ) -> frozenset[str]:
        """The held-out queries that this viewer must not see; a look at others is logged.

        ``only`` names the queries that are shown at all, where those are not all of the set.
        """
        held = hidden_in(test_set) if only is None else hidden_in(test_set).intersection(only)
        return self.hidden(held, test_set.name, test_set.version, run_id)

    def hidden(
        self, held_out: frozenset[str], suite: str, version: str, run_id: str = ""
    ) -> frozenset[str]:
        """The same where it is known already which queries are held out."""
        if not self.may_see_held_out:
            return held_out
        if held_out:
            self.note(suite, version, run_id)
        return frozenset()

    def note(self, suite: str, version: str, run_id: str = "") -> None:
        """Log a look, where looks are logged."""
        if self.log is not None:
            self.log(HeldOutUse(suite, version, run_id, self.purpose, now("seconds")))

    def figures_only(self, *test_sets: TestSet) -> frozenset[str]:
        """The held-out queries of which this viewer gets figures only; nothing is logged."""
        if self.may_see_held_out:
            return frozenset()
        return frozenset().union(*map(hidden_in, test_sets))

    def seen_set(self, test_set: TestSet) -> TestSet:
        """A test set as this viewer may see it."""
        return masked(test_set, self.mask) if self.hidden_in(test_set) else test_set

    def seen_run(self, run: StoredRun) -> StoredRun:
        """A run as this viewer may see it."""
        hidden = self.hidden_in(run.test_set)
        if not hidden:
            return run
        return replace(
            run,
            test_set=masked(run.test_set, self.mask),
            outcomes=masked_outcomes(run.outcomes, hidden, self.mask),
        )


OWNER = Viewer()
"""Whoever has the files of the workspace; what they run on held-out queries is logged as a run."""


def masked(test_set: TestSet, words: str = MASK) -> TestSet:
    """The set without the words and judgments of its held-out queries."""
    hidden = test_set.held_out_ids
    return replace(
        test_set,
        queries=tuple(
            masked_query(query, words) if query.query_id in hidden else query
            for query in test_set.queries
        ),
    )


def masked_query(query: GoldenQuery, words: str = MASK) -> GoldenQuery:
    """A query without its words and judgments."""
    return replace(
        query,
        query_text=words,
        relevant_docs=(),
        must_contain=(),
        forbidden=(),
        reference=None,
        nuggets=(),
        synthetic=None if query.synthetic is None else words,
    )


def masked_diff(before: TestSet, after: TestSet, words: str = MASK) -> TestSetDiff:
    """What really changed, without the words and judgments of what either set holds out.

    A query whose judgments changed has one entry for all of them, which says no more than that.
    """
    from assay.testsets.diff import FieldChange, JudgmentChange, diff

    found = diff(before, after)
    hidden = before.held_out_ids | after.held_out_ids
    judgments = (
        JudgmentChange(item.query_id, words, None, None) if item.query_id in hidden else item
        for item in found.judgments
    )
    return replace(
        found,
        changed=tuple(
            FieldChange(item.query_id, item.name, words, words)
            if item.query_id in hidden and item.name in MASKED_FIELDS
            else item
            for item in found.changed
        ),
        judgments=tuple(dict.fromkeys(judgments)),
    )


def masked_gate(report: GateReport, hidden: Collection[str], words: str = MASK) -> GateReport:
    """The report of a gate without the words of these queries."""
    return replace(
        report,
        failing=tuple(
            replace(query, query_text=words) if query.query_id in hidden else query
            for query in report.failing
        ),
    )


def masked_fates(found: Waterfall, hidden: Collection[str], words: str = MASK) -> Waterfall:
    """A waterfall that does not say which documents answer these queries.

    Nor where they stood: whoever has the rankings could look them up there.
    """
    from assay.evaluation.waterfall import Fate

    return replace(
        found,
        fates=tuple(
            Fate(fate.query_id, words, fate.grade, fate.stage) if fate.query_id in hidden else fate
            for fate in found.fates
        ),
    )


def masked_outcomes(
    outcomes: Sequence[QueryOutcome], hidden: Collection[str], words: str = MASK
) -> tuple[QueryOutcome, ...]:
    """What happened, without what may quote these queries; that one failed still shows."""
    return tuple(masked_outcome(one, words) if one.query_id in hidden else one for one in outcomes)


def masked_outcome(outcome: QueryOutcome, words: str = MASK) -> QueryOutcome:
    """What happened to a query, without its answer and the words of its errors and warnings."""
    return replace(
        outcome,
        answer=None,
        known_citations=frozenset(),
        numbers=None,
        error=None if outcome.error is None else words,
        answer_error=None if outcome.answer_error is None else words,
        judged=None,
        passages={},
        warnings=(),
    )


def masked_comparison(report: CompareReport, hidden: Collection[str]) -> CompareReport:
    """A comparison without the ranks of the first hits of these queries, and why they failed."""
    return replace(
        report,
        per_query=tuple(
            replace(row, a_hit_rank=None, b_hit_rank=None, note=None, own=None)
            if row.query_id in hidden
            else row
            for row in report.per_query
        ),
        claims=tuple(one for one in report.claims if one.query_id not in hidden),
        answers=tuple(one for one in report.answers if one.query_id not in hidden),
    )


def hidden_in(test_set: TestSet) -> frozenset[str]:
    """The held-out queries that are really in it: a part of a set names also those it lacks."""
    return frozenset(query.query_id for query in test_set.held_out_queries)


def noted(workspace: Workspace, test_set: TestSet, query_id: str | None = None) -> None:
    """Log a look at held-out queries, where there is a workspace to log it in."""
    looked = test_set.held_out_ids if query_id is None else test_set.held_out_ids & {query_id}
    if looked and workspace.exists():
        note_use(workspace, test_set, "show")


def uses(workspace: Workspace, test_set: TestSet) -> tuple[HeldOutUse, ...]:
    """Every look at the held-out part of a set, oldest first, also by runs of several sets."""
    if not workspace.exists():
        return ()
    found = (_use_of(workspace, use, test_set.name) for use in workspace.runs.held_out_uses())
    return tuple(use for use in found if use is not None)


def _use_of(workspace: Workspace, use: HeldOutUse, name: str) -> HeldOutUse | None:
    """The look where it was one at this set, by itself or joined with others."""
    from assay.testsets.join import MARK, joined_version, may_join

    if use.suite == name:
        return use
    if MARK not in use.suite:
        return None
    try:
        version = joined_version(workspace.runs.test_set(use.run_id), name)
    except UnknownRunError:  # the run is gone, and its name must do
        return use if may_join(use.suite, name) else None
    return None if version is None else replace(use, version=version)


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
    from assay.annotation.overfit import overfitting

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
            f"{name} would be both before and after: the two systems cannot be told "
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
    from assay.evaluation.outcomes import score_run

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
