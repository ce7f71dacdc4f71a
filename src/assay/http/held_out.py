"""Who may see the held-out queries of a run over HTTP? Keys that may evaluate; looks are logged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from assay.app.held_out import hidden_in, masked, masked_outcomes, noted
from assay.evaluation.stored_run import StoredRun
from assay.http.edge.auth import Caller
from assay.http.service import Service
from assay.model.testset import TestSet


def shown_to(caller: Caller, service: Service, found: TestSet) -> TestSet:
    """The test set of a run as this caller may see it; a look at held-out queries is logged."""
    return masked(found) if hidden_from(caller, service, found) else found


def run_shown_to(caller: Caller, service: Service, run: StoredRun) -> StoredRun:
    """A run as this caller may see it; a look at held-out queries is logged."""
    hidden = hidden_from(caller, service, run.test_set)
    if not hidden:
        return run
    outcomes = masked_outcomes(run.outcomes, hidden)
    return replace(run, test_set=masked(run.test_set), outcomes=outcomes)


def hidden_from(
    caller: Caller, service: Service, found: TestSet, only: Collection[str] | None = None
) -> frozenset[str]:
    """The held-out queries that this caller must not see; a look at them is logged.

    ``only`` names the queries that are shown at all, where those are not all of the set.
    """
    looked = hidden_in(found) if only is None else hidden_in(found).intersection(only)
    if not looked or not caller.may("evaluate"):
        return looked
    noted(service.workspace, found)
    return frozenset()


def kept_from(caller: Caller, *found: TestSet) -> frozenset[str]:
    """The held-out queries of which this caller gets figures only; nothing is logged."""
    if caller.may("evaluate"):
        return frozenset()
    return frozenset(name for test_set in found for name in hidden_in(test_set))
