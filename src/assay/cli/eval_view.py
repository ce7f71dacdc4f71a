"""What do ``assay eval show`` and ``rescore`` do, once their options are read?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from assay.cli.console import emit_json, emit_text, note
from assay.cli.show import show_tables
from assay.config import Configuration
from assay.counting import share_of
from assay.errors import UsageError
from assay.evaluation.components import component_report
from assay.evaluation.result import EvaluationResult, ScoringOptions, result_of
from assay.evaluation.testset.load import load_test_set
from assay.evaluation.waterfall import waterfall as find_fates
from assay.measures.parse import parse_measures
from assay.model.run_store import RunFilter
from assay.model.runs import RunInfo, RunStatus
from assay.report import evaluation as report
from assay.report.runs import as_json as run_json
from assay.report.runs import query_json, query_table
from assay.search.refusing import refuser_of
from assay.workspace import Workspace


@dataclass(frozen=True, slots=True)
class View:
    """One run that somebody looks at."""

    config: Configuration
    ref: str
    scoring: ScoringOptions
    as_json: bool

    def whole(self, *, per_component: bool, waterfall: bool, per_query: bool) -> None:
        """The scores of the run, and on request what its components did."""
        with Workspace(self.config) as workspace:
            workspace.require()
            info = workspace.runs.run(self.ref)
            result = _scored(workspace, info, self.scoring, stages=per_component or waterfall)
            components = fates = None
            if per_component:
                refuse = refuser_of(info.config) if info.ours else None
                components = component_report(
                    result.test_set, result.outcomes, self.scoring, refuse=refuse, hybrid=result
                )
            if waterfall:
                present = workspace.store.places.present
                fates = find_fates(result.test_set, result.outcomes, present=present)
        if info.status is not RunStatus.COMPLETE:
            note(
                f"note: the run is {info.status}: "
                f"{share_of(len(result.outcomes), info.queries, 'query')}"
            )
        if self.as_json:
            plain: dict[str, Any] = {**run_json(info), **result.to_dict(per_query=per_query)}
            if components is not None:
                plain |= components.to_dict(per_query=per_query)
            if fates is not None:
                plain["waterfall"] = fates.to_dict()
            emit_json(plain)
            return
        tables = report.result_tables(result, info, per_query=per_query)
        if components is not None:
            tables = [report.component_table(components), *tables[1:]]
        if fates is not None:
            tables += report.waterfall_tables(fates)
        show_tables(tables, self.config.color)

    def one_query(self, query_id: str) -> None:
        """One query: what was judged, what came back, and what happened."""
        with Workspace(self.config) as workspace:
            workspace.require()
            info = workspace.runs.run(self.ref)
            query = workspace.runs.test_set(info.run_id).by_id.get(query_id)
            found = workspace.runs.outcomes(info.run_id, queries=[query_id])
        if query is None or not found:
            raise UsageError(
                f"the run {info.run_id} has no query {query_id!r:.80}",
                hint="assay eval show RUN --per-query lists them",
            )
        if self.as_json:
            emit_json(query_json(query, found[0]))
            return
        emit_text(f"{query.query_id}  {query.query_text}")
        show_tables([query_table(query, found[0])], self.config.color)


def rescore_runs(
    config: Configuration,
    ref: str | None,
    suite: str | None,
    testset: str | None,
    scoring: ScoringOptions,
    *,
    as_json: bool,
) -> None:
    """Score runs again; the new aggregate is kept, unless it rests on other judgments."""
    if (ref is None) == (suite is None):
        raise UsageError("name a run, or with --suite a test set")
    rows = []
    with Workspace(config) as workspace:
        workspace.require()
        other = None if testset is None else load_test_set(testset, folder=config.home / "testsets")
        for info in _chosen(workspace, ref, suite):
            result = _scored(workspace, info, _with_stored(info, scoring), test_set=other)
            if other is None:
                workspace.runs.finish(info.run_id, result.to_dict())
            rows.append((info, result))
    if as_json:
        emit_json(
            {
                "runs": [
                    {
                        "run_id": info.run_id,
                        "before": info.aggregate.get("metrics"),
                        **result.to_dict(),
                    }
                    for info, result in rows
                ]
            }
        )
        return
    show_tables([report.rescored_table(rows)], config.color)


def _chosen(workspace: Workspace, ref: str | None, suite: str | None) -> list[RunInfo]:
    if ref is not None:
        info = workspace.runs.run(ref)
        if info.status is not RunStatus.COMPLETE:
            raise UsageError(
                f"the run {info.run_id} is {info.status}", hint="assay eval run --resume goes on"
            )
        return [info]
    chosen = RunFilter(suite=suite, status=RunStatus.COMPLETE)
    page = workspace.runs.runs(chosen, limit=10_000)
    if not page.runs:
        raise UsageError(f"there is no complete run of {suite}", hint="assay eval list")
    return list(page.runs)


def _with_stored(info: RunInfo, scoring: ScoringOptions) -> ScoringOptions:
    """The measures that the run has already, and those that were asked for."""
    entries = info.aggregate.get("aggregates", {}).values()
    stored = [entry["measure"] for entry in entries]
    return replace(scoring, measures=parse_measures([*stored, *parse_measures(scoring.measures)]))


def _scored(
    workspace: Workspace,
    info: RunInfo,
    scoring: ScoringOptions,
    *,
    stages: bool = False,
    test_set: Any = None,
) -> EvaluationResult:
    return result_of(
        test_set or workspace.runs.test_set(info.run_id),
        workspace.runs.outcomes(info.run_id, stages=stages),
        scoring,
        name=info.name or info.run_id,
        run_id=info.run_id,
    )
