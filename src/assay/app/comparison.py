"""What changed between two runs, and is it real?

``compare`` sets two stored runs side by side, query by query; ``ab`` tests one against the other.
A side of an A/B test may also be a configuration, which ``side`` runs first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from assay.app.engine import Progress, silent
from assay.app.held_out import OWNER, Viewer, hidden_in, masked_comparison, masked_query
from assay.app.latency import REPEATS, check_repeats
from assay.app.layout import Layout
from assay.app.statistics import USUAL, Measures, Statistics, as_text
from assay.errors import MissingFileError, UsageError
from assay.evaluation.compare import (
    CompareReport,
    QueryComparison,
    compare_runs,
    cross_mode,
    depth_for,
)
from assay.evaluation.defaults import AB_MEASURES
from assay.evaluation.drawing import Drawing, drawn_otherwise
from assay.evaluation.match import graded_ranks, scored_order
from assay.evaluation.stored_run import StoredRun
from assay.model.codec import flat
from assay.model.runs import QueryOutcome, RunInfo
from assay.model.tabular import Records, Tabular
from assay.model.testset import GoldenQuery

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.evaluation.ab import ABResult


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """Two runs of one test set; ``strict_chunker_version`` refuses those of different chunkers."""

    a: str
    b: str
    measures: Measures = ()
    strict_chunker_version: bool = False


@dataclass(frozen=True, slots=True)
class AbRequest:
    """Two runs of one test set, and how sure one wants to be which is better.

    ``by_group`` draws queries of one group (a post, an interview) together, as do runs that were
    made so. How intervals are drawn is as run b has it, unless it is given. ``latency_repeats`` is
    how often the configurations of both runs are timed in turn; None leaves it to ``ab``.
    """

    a: str
    b: str
    measures: Measures = ()
    strict_chunker_version: bool = False
    by_group: bool = False
    latency_repeats: int | None = None
    statistics: Statistics = field(default=USUAL, metadata=flat)

    def __post_init__(self) -> None:
        check_repeats(self.latency_repeats or 0)


@dataclass(frozen=True, eq=False)
class Compared(Tabular):
    """Two runs as deep as the comparison looks at them, and what it says."""

    a: StoredRun
    b: StoredRun
    report: CompareReport

    def records(self) -> Records:
        """A row for each query that can be compared."""
        return self.report.records()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return self.report.to_dict()


@dataclass(frozen=True, eq=False)
class AbTest(Tabular):
    """Two runs as deep as the test looks at them, and what it says."""

    a: StoredRun
    b: StoredRun
    result: ABResult

    def records(self) -> Records:
        """A row for each measure, over all queries and of each type."""
        return self.result.records()

    def overview(self) -> Records:
        """The measures over all queries, and the verdict."""
        return self.result.overview()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return self.result.to_dict()

    @property
    def held_out(self) -> frozenset[str]:
        """The held-out queries that either run was made with."""
        return hidden_in(self.a.test_set) | hidden_in(self.b.test_set)


def compare(assay: Assay, request: CompareRequest, viewer: Viewer = OWNER) -> Compared:
    """Set run b beside run a: deltas, and wins and losses per query."""
    assay.require()
    a, b = _pair(assay, request, request.measures)
    report = compare_runs(
        a,
        b,
        measures=request.measures,
        archive=assay.archived,
        strict_chunker_version=request.strict_chunker_version,
    )
    hidden = viewer.figures_only(a.test_set, b.test_set)
    return Compared(a, b, masked_comparison(report, hidden))


def ab(
    assay: Assay,
    request: AbRequest,
    viewer: Viewer = OWNER,
    *,
    sides: tuple[Side, Side] | None = None,
    progress: Progress = silent,
) -> AbTest:
    """Test run b against run a: differences, p-values, intervals, latency, a verdict.

    Where both ``sides`` are configurations, or the request says so, their latency is measured anew,
    in turns; runs that were made apart are not told slower or faster.
    """
    assay.require()
    settings = request.statistics.applied_to(assay.settings)
    measures = request.measures or AB_MEASURES
    a, b = _pair(assay, request, measures)
    from assay.evaluation.ab import ab as test_difference

    result = test_difference(
        a,
        b,
        measures,
        alpha=settings.alpha,
        margin=settings.margin,
        sampling=request.statistics.drawn_as(b.info.scoring.sampling),
        clustered=request.by_group or a.info.scoring.by_group or b.info.scoring.by_group,
        archive=assay.archived,
        strict_chunker_version=request.strict_chunker_version,
        timings=(
            assay.timings(a.name, b.name, repeats=repeats, seed=settings.seed, progress=progress)
            if (repeats := _repeats(request, sides))
            else None
        ),
    )
    hidden = viewer.figures_only(a.test_set, b.test_set)
    compared = masked_comparison(result.compared, hidden)
    said = (*compared.warnings, *_drawn_otherwise(a, b, request))
    return AbTest(a, b, replace(result, compared=replace(compared, warnings=said)))


def named_runs(assay: Assay, request: AbRequest) -> AbRequest:
    """The same by the ids of its runs, which later runs do not change as they do "latest"."""
    return replace(request, a=assay.runs.run(request.a).run_id, b=assay.runs.run(request.b).run_id)


def _drawn_otherwise(a: StoredRun, b: StoredRun, request: AbRequest) -> list[str]:
    """What to know where the runs were made with different statistics."""
    return drawn_otherwise(
        *(
            Drawing(
                run.name,
                request.statistics.drawn_as(run.info.scoring.sampling),
                request.by_group or run.info.scoring.by_group,
            )
            for run in (a, b)
        )
    )


def _repeats(request: AbRequest, sides: tuple[Side, Side] | None) -> int:
    """How often both sides are timed in turn: by default, where both are configurations."""
    if request.latency_repeats is not None:
        return request.latency_repeats
    return REPEATS if sides is not None and all(one.made is not None for one in sides) else 0


def _pair(
    assay: Assay, request: CompareRequest | AbRequest, measures: Measures
) -> tuple[StoredRun, StoredRun]:
    depth = depth_for(as_text(measures))
    return assay.stored_run(request.a, depth=depth), assay.stored_run(request.b, depth=depth)


# One query in both runs


Direction: TypeAlias = Literal["better", "worse", "same", "undefined"]
"""What B did to a query; undefined where the first measure is so on a side."""


@dataclass(frozen=True, eq=False)
class AbSummary:
    """What is kept of an A/B test: the statistics, and what every query came to."""

    a: RunInfo
    b: RunInfo
    result: ABResult
    queries: Mapping[str, GoldenQuery]
    values_a: Mapping[str, float | None]
    values_b: Mapping[str, float | None]
    held_out: frozenset[str]

    def change(self, query_id: str) -> float | None:
        """How much the first measure of a query changed."""
        before, after = self.values_a.get(query_id), self.values_b.get(query_id)
        return None if before is None or after is None else after - before

    def direction(self, query_id: str) -> Direction:
        """Whether B did better on a query: by the first measure, beyond the margin that counts."""
        change = self.change(query_id)
        if change is None:
            return "undefined"
        if abs(change) <= self.result.margin:
            return "same"
        return "better" if change > 0 else "worse"

    def without(self, hidden: frozenset[str], mask: str) -> AbSummary:
        """The same without the words, judgments and ranks of these queries."""
        masks = {
            name: masked_query(self.queries[name], mask) for name in hidden if name in self.queries
        }
        compared = masked_comparison(self.result.compared, hidden)
        return replace(
            self,
            result=replace(self.result, compared=compared),
            queries={**self.queries, **masks},
        )


def summary(test: AbTest) -> AbSummary:
    """An A/B test without the rankings of its runs."""
    measure = test.result.primary.measure
    return AbSummary(
        test.a.info,
        test.b.info,
        test.result,
        test.b.test_set.by_id,
        test.result.a.per_query(measure),
        test.result.b.per_query(measure),
        test.held_out,
    )


@dataclass(frozen=True, slots=True)
class QueryPair:
    """One query in both runs, with the grades of what came back, by rank."""

    query: GoldenQuery
    compared: QueryComparison
    a: QueryOutcome
    b: QueryOutcome
    grades_a: Mapping[int, int]
    grades_b: Mapping[int, int]


def query_pair(assay: Assay, tested: AbSummary, query_id: str) -> QueryPair:
    """One query of an A/B test, read from the store and matched as the test matched it."""
    if query_id not in tested.values_a:
        raise MissingFileError(f"{query_id!r:.80} is not a ranked query of both runs")
    one, other = (
        next(iter(assay.runs.outcomes(info.run_id, queries=[query_id])), QueryOutcome(query_id))
        for info in (tested.a, tested.b)  # one that was not asked has no results
    )
    query = of_a = tested.queries[query_id]
    if cross_mode(tested.a, tested.b):
        of_a = assay.runs.test_set(tested.a.run_id).by_id[query_id]
    compared = tested.result.compared
    row = next((row for row in compared.per_query if row.query_id == query_id), None)
    if row is None:
        raise MissingFileError(f"{query_id!r:.80} expects documents and no chunk to compare")
    match = compared.matching
    assert match is not None  # every comparison of runs has one
    return QueryPair(
        query,
        row,
        replace(one, results=scored_order(one)),
        replace(other, results=scored_order(other)),
        graded_ranks(of_a, one, match.rule, match.places, match.documents),
        graded_ranks(query, other, match.rule, match.places, match.documents),
    )


# A configuration as a side


@dataclass(frozen=True, slots=True)
class Side:
    """The run that stands for one side of an A/B test.

    ``made`` says whether a configuration was run now; None where the text names a stored run.
    """

    run_id: str
    name: str
    made: bool | None = None


def side(assay: Assay, text: str, test_set: str | None = None, *, holdout: bool = False) -> Side:
    """The run that a text names: a stored one, or a configuration, which is run unless it was.

    ``app.configurations`` says what a configuration is: a file, a saved one, or a line of options.
    """
    from assay.app.configurations import SUFFIXES, is_configuration, read_configuration
    from assay.app.evaluation_request import EvaluationRequest

    if not is_configuration(text):
        return Side(assay.runs.run(text).run_id, text)
    changes = read_configuration(text, Layout(assay.settings.home))
    name = Path(text).stem if Path(text).suffix in SUFFIXES else text
    if test_set is None:
        raise UsageError(
            f"{name:.60} is a configuration, and there is no test set to run it on",
            hint="add --testset NAME",
        )
    request = EvaluationRequest(
        test_sets=(test_set,),
        options=changes,
        name=name[:80],
        part="holdout" if holdout else None,
    )
    (made,) = assay.carry_out(request).runs
    return Side(made.info.run_id, name, made=not made.cached)
