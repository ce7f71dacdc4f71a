"""What came out of a run: on the whole, by component, for one query, under other measures?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.evaluation.components import ComponentReport, component_report
from assay.evaluation.defaults import EVALUATION_MEASURES
from assay.evaluation.result import EvaluationResult, ScoringOptions, result_of
from assay.evaluation.waterfall import Waterfall
from assay.evaluation.waterfall import waterfall as find_fates
from assay.measures.parse import parse_measures
from assay.model.run_store import RunFilter
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.testset import GoldenQuery, TestSet
from assay.render import evaluation as report
from assay.render.runs import run_json
from assay.render.tables import Table
from assay.search.fuse_again import fuser_of

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.app.workspace import Workspace

MOST_RUNS = 10_000


@dataclass(frozen=True, slots=True)
class RunView:
    """A run and its scores, and on request what its components did."""

    info: RunInfo
    result: EvaluationResult
    components: ComponentReport | None = None
    fates: Waterfall | None = None

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """JSON-ready, with everything that is known of the run."""
        return {**run_json(self.info), **self.scores(per_query=per_query)}

    def scores(self, *, per_query: bool = False) -> dict[str, Any]:
        """What came out of it only."""
        plain: dict[str, Any] = self.result.to_dict(per_query=per_query)
        if self.components is not None:
            plain |= self.components.to_dict(per_query=per_query)
        if self.fates is not None:
            plain["waterfall"] = self.fates.to_dict()
        return plain

    def tables(self, *, per_query: bool = False) -> list[Table]:
        """The same for a terminal."""
        tables = report.result_tables(self.result, self.info, per_query=per_query)
        if self.components is not None:
            tables = [report.component_table(self.components), *tables[1:]]
        if self.fates is not None:
            tables += report.waterfall_tables(self.fates)
        return tables


def view_run(
    workspace: Workspace,
    ref: str,
    scoring: ScoringOptions,
    *,
    per_component: bool = False,
    waterfall: bool = False,
) -> RunView:
    """Score a stored run; nothing is searched and nothing is written."""
    info = workspace.runs.run(ref)
    result = _scored(workspace, info, scoring, stages=per_component or waterfall)
    return view_of(
        workspace, info, result, scoring, per_component=per_component, waterfall=waterfall
    )


def view_of(
    workspace: Assay,
    info: RunInfo,
    result: EvaluationResult,
    scoring: ScoringOptions,
    *,
    per_component: bool,
    waterfall: bool,
) -> RunView:
    """A run that was scored already, with what its components did where that is asked for."""
    components = fates = None
    if per_component:
        fuse_again = fuser_of(info.config) if info.ours else None
        components = component_report(
            result.test_set,
            result.outcomes,
            scoring,
            fuse_again=fuse_again,
            hybrid=result,
            look_up=workspace.places_of(info),
        )
    if waterfall:
        fates = find_fates(
            result.test_set,
            result.outcomes,
            present=workspace.present,
            look_up=workspace.places_of(info),
        )
    return RunView(info, result, components, fates)


def query_of_run(workspace: Workspace, ref: str, query_id: str) -> tuple[GoldenQuery, QueryOutcome]:
    """One query of a run: what was judged, and what came back."""
    info = workspace.runs.run(ref)
    test_set = workspace.runs.test_set(info.run_id)
    query = test_set.by_id.get(query_id)
    found = workspace.runs.outcomes(info.run_id, queries=[query_id])
    if query is None or not found:
        raise _no_such_query(info, query_id, held_out=test_set.held_out_ids)
    return query, found[0]


def _no_such_query(info: RunInfo, query_id: str, held_out: frozenset[str]) -> UsageError:
    if query_id in held_out:
        return UsageError(
            f"{query_id} is held out of {info.suite}, and the run {info.run_id} was made without "
            "the held-out part",
            hint=f"assay eval run -t {info.suite} --part all asks every query; the look is logged",
        )
    part = "" if info.part == "all" else f" (it ran the part: {info.part})"
    return UsageError(
        f"the run {info.run_id}{part} has no query {query_id!r:.80}",
        hint="assay eval show RUN --per-query lists them",
    )


def rescore_run(
    workspace: Workspace, info: RunInfo, scoring: ScoringOptions, judged_by: TestSet | None = None
) -> EvaluationResult:
    """Score a run again, with the measures it has and those asked for.

    The new aggregate is kept, unless it rests on other judgments.
    """
    if info.status is not RunStatus.COMPLETE:
        raise UsageError(
            f"the run {info.run_id} is {info.status}", hint="assay eval run --resume goes on"
        )
    result = _scored(workspace, info, _with_stored(info, scoring), test_set=judged_by)
    if judged_by is None:
        workspace.runs.finish(info.run_id, result.to_dict())
    return result


def complete_runs(workspace: Workspace, suite: str) -> tuple[RunInfo, ...]:
    """Every run of a test set that came to its end, newest first."""
    chosen = RunFilter(suite=suite, status=RunStatus.COMPLETE)
    page = workspace.runs.runs(chosen, limit=MOST_RUNS)
    if not page.runs:
        raise UsageError(f"there is no complete run of {suite}", hint="assay eval list")
    return page.runs


def _with_stored(info: RunInfo, scoring: ScoringOptions) -> ScoringOptions:
    entries = info.aggregate.get("aggregates", {}).values()
    stored = [entry["measure"] for entry in entries]
    asked = EVALUATION_MEASURES if scoring.measures is None else scoring.measures
    return replace(scoring, measures=parse_measures([*stored, *parse_measures(asked)]))


def _scored(
    workspace: Workspace,
    info: RunInfo,
    scoring: ScoringOptions,
    *,
    stages: bool = False,
    test_set: TestSet | None = None,
) -> EvaluationResult:
    return result_of(
        test_set or workspace.runs.test_set(info.run_id),
        workspace.runs.outcomes(info.run_id, stages=stages),
        scoring,
        name=info.name or info.run_id,
        run_id=info.run_id,
    )
