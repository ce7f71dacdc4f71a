"""What makes up a stored run?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assay.cache import Cache
from assay.errors import UsageError
from assay.evaluation.scope import Scope
from assay.garbage import paused
from assay.model.run_store import RunLibrary
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.testset import GoldenQuery, TestSet


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run, the test set it was made with, and what happened to each query."""

    info: RunInfo
    test_set: TestSet
    outcomes: Sequence[QueryOutcome] = field(repr=False)

    @property
    def name(self) -> str:
        """The run's id."""
        return self.info.run_id

    @cached_property
    def by_query(self) -> Mapping[str, QueryOutcome]:
        """The outcomes by query."""
        return {outcome.query_id: outcome for outcome in self.outcomes}

    @cached_property
    def scope(self) -> Scope:
        """The queries by what became of them."""
        return Scope(self.test_set, self.by_query.keys())

    @property
    def queries(self) -> tuple[GoldenQuery, ...]:
        """The queries that the run is scored over, asked or not."""
        return self.scope.queries

    @property
    def incomplete(self) -> str | None:
        """A sentence about a run that did not end, or did not ask every query; else None."""
        status = self.info.status
        if status is RunStatus.COMPLETE and not self.scope.unasked:
            return None
        why = "" if status is RunStatus.COMPLETE else f" (it is {status.value})"
        return f"{self.name} is not complete{why}: {self.scope.reach}"

    def outcome(self, query_id: str) -> QueryOutcome:
        """What happened to a query; one that was not asked has no results."""
        return self.by_query.get(query_id) or QueryOutcome(query_id)

    @property
    def degraded(self) -> tuple[QueryOutcome, ...]:
        """The outcomes that came about without some component."""
        return tuple(outcome for outcome in self.outcomes if outcome.degraded)

    @property
    def failed(self) -> tuple[QueryOutcome, ...]:
        """The outcomes of queries whose search or answer ended in an error."""
        return tuple(outcome for outcome in self.outcomes if outcome.failed)

    @property
    def unanswered(self) -> tuple[QueryOutcome, ...]:
        """Those of them that were searched, and answering failed."""
        return tuple(outcome for outcome in self.outcomes if outcome.answer_error is not None)


def read_run(
    store: RunLibrary,
    ref: str,
    known: Cache[str, TestSet],
    *,
    stages: bool = False,
    depth: int | None = None,
) -> StoredRun:
    """A run out of the store; ``stages`` adds what its components found.

    Test sets are kept in ``known``, since runs that are compared mostly share one.
    """
    info = rankings_of(store.run(ref))
    with paused():
        outcomes = store.outcomes(info.run_id, stages=stages, depth=depth)
        test_set = known.get(info.test_set_checksum)
        if test_set is None:
            test_set = store.test_set(info.run_id)
            known.put(info.test_set_checksum, test_set)
    return StoredRun(info, test_set, outcomes)


def rankings_of(info: RunInfo) -> RunInfo:
    """The run, if it has rankings; figures that were saved without them are refused."""
    if info.figures_only:
        raise UsageError(
            f"{info.run_id} holds saved figures without rankings: it can be listed, shown and "
            "followed over time, but not scored, compared, gated or bundled",
            hint="save it with the retrieved_segment_ids of every query, or run assay eval run",
        )
    return info
