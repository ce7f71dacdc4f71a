"""What has to be computed for a page once, and is then kept for the next look at it?

Runs that are complete do not change, so a comparison of two of them is kept: filters, pages and
queries of a large comparison are answered without reading the runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from assay.app.held_out import hidden_in
from assay.evaluation.ab import ABResult, ab
from assay.evaluation.compare import QueryComparison, depth_for
from assay.evaluation.defaults import AB_MEASURES
from assay.evaluation.match import graded_ranks
from assay.evaluation.stored_run import StoredRun
from assay.http.service import Service
from assay.model.ranking import Match
from assay.model.runs import QueryOutcome, RunInfo
from assay.model.testset import GoldenQuery

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Compared:
    """Two runs side by side: the statistics, and what every query came to."""

    a: RunInfo
    b: RunInfo
    ab: ABResult
    queries: Mapping[str, GoldenQuery]
    values_a: Mapping[str, float | None]
    values_b: Mapping[str, float | None]
    held_out: frozenset[str]

    def change(self, query_id: str) -> float | None:
        """How much the first measure of a query changed."""
        before, after = self.values_a.get(query_id), self.values_b.get(query_id)
        return None if before is None or after is None else after - before


@dataclass(frozen=True, slots=True)
class Pair:
    """One query in both runs, with the grades of what came back."""

    query: GoldenQuery
    compared: QueryComparison
    a: QueryOutcome
    b: QueryOutcome
    grades_a: dict[int, int]
    grades_b: dict[int, int]


def kept(service: Service, key: tuple[str, ...], make: Callable[[], T]) -> T:
    """What was computed under this key, or is now."""
    known = service.computed.get(key)
    if known is None:
        known = make()
        service.computed.put(key, known)
    return cast("T", known)


def mark_of(info: RunInfo) -> str:
    """What changes whenever a run does."""
    return f"{info.run_id} {info.status} {info.finished_at} {info.queries}"


def compared(service: Service, a: str, b: str) -> Compared:
    """The comparison of two runs by their references."""
    store = service.workspace.runs
    one, other = store.run(a), store.run(b)
    key = ("compare", mark_of(one), mark_of(other))
    found = kept(service, key, lambda: _compare(service, one.run_id, other.run_id))
    # tags move without changing a run
    return replace(found, a=one, b=other)


def stored_pair(service: Service, a: str, b: str) -> tuple[StoredRun, StoredRun]:
    """Both runs as they are stored, as deep as the statistics look."""
    depth = depth_for(AB_MEASURES)
    one, other = (service.workspace.stored_run(ref, depth=depth) for ref in (a, b))
    return one, other


def pair_of(service: Service, found: Compared, query_id: str) -> Pair:
    """One query of a comparison, read from the store."""
    store = service.workspace.runs
    one, other = (store.outcomes(info.run_id, queries=[query_id])[0] for info in (found.a, found.b))
    query = found.queries[query_id]
    match = found.ab.compared.matching
    rule, places = (match.rule, match.places) if match else (Match.EXACT, {})
    known = next(row for row in found.ab.compared.per_query if row.query_id == query_id)
    return Pair(
        query,
        known,
        one,
        other,
        graded_ranks(query, one, rule, places),
        graded_ranks(query, other, rule, places),
    )


def _compare(service: Service, a: str, b: str) -> Compared:
    one, other = stored_pair(service, a, b)
    config = service.config
    found = ab(
        one,
        other,
        alpha=config.alpha,
        margin=config.margin,
        sampling=config.sampling,
        archive=service.workspace.archived,
    )
    measure = found.primary.measure
    return Compared(
        one.info,
        other.info,
        found,
        other.test_set.by_id,
        found.a.per_query(measure),
        found.b.per_query(measure),
        hidden_in(one.test_set) | hidden_in(other.test_set),
    )
