"""Who may see the held-out queries of a run over HTTP? Keys that may evaluate; looks are logged."""

from __future__ import annotations

from collections.abc import Collection

from assay.model.testset import TestSet
from assay.serve.auth import Caller
from assay.serve.service import Service
from assay.tasks.revealing import hidden_in, masked, noted


def shown_to(
    caller: Caller, service: Service, found: TestSet, query_id: str | None = None
) -> TestSet:
    """The test set of a run as this caller may see it; a look at held-out queries is logged."""
    only = None if query_id is None else {query_id}
    return masked(found) if hidden_from(caller, service, found, only) else found


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
