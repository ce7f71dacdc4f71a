"""What do ``assay eval show`` and ``rescore`` do, once their options are read?"""

from __future__ import annotations

from dataclasses import dataclass

from assay.app.run_views import complete_runs, query_of_run, rescore_run, view_run
from assay.cli.connection import connected
from assay.cli.console import emit_json, emit_text, note
from assay.cli.show import show_tables
from assay.errors import UsageError
from assay.evaluation.result import ScoringOptions
from assay.model.runs import RunInfo, RunStatus
from assay.plural import share_of
from assay.render import evaluation as report
from assay.render.runs import query_json, query_table
from assay.settings import Settings
from assay.testsets.load import load_test_set


@dataclass(frozen=True, slots=True)
class View:
    """One run that somebody looks at."""

    config: Settings
    ref: str
    scoring: ScoringOptions
    as_json: bool

    def whole(self, *, per_component: bool, waterfall: bool, per_query: bool) -> None:
        """The scores of the run, and on request what its components did."""
        with connected(self.config) as workspace:
            workspace.require()
            view = view_run(
                workspace,
                self.ref,
                self.scoring,
                per_component=per_component,
                waterfall=waterfall,
            )
        info, result = view.info, view.result
        if info.status is not RunStatus.COMPLETE:
            note(
                f"note: the run is {info.status}: "
                f"{share_of(len(result.outcomes), info.queries, 'query')}"
            )
        if self.as_json:
            emit_json(view.to_dict(per_query=per_query))
            return
        show_tables(view.tables(per_query=per_query), self.config.color)

    def one_query(self, query_id: str) -> None:
        """One query: what was judged, what came back, and what happened."""
        with connected(self.config) as workspace:
            workspace.require()
            query, outcome = query_of_run(workspace, self.ref, query_id)
        if self.as_json:
            emit_json(query_json(query, outcome))
            return
        emit_text(f"{query.query_id}  {query.query_text}")
        show_tables([query_table(query, outcome)], self.config.color)


def rescore_runs(
    config: Settings,
    ref: str | None,
    suite: str | None,
    testset: str | None,
    scoring: ScoringOptions,
    *,
    as_json: bool,
) -> None:
    """Score runs again and show what changed."""
    if (ref is None) == (suite is None):
        raise UsageError("name a run, or with --suite a test set")
    with connected(config) as workspace:
        workspace.require()
        other = None if testset is None else load_test_set(testset, folder=config.home / "testsets")
        if ref is not None:
            chosen: tuple[RunInfo, ...] = (workspace.runs.run(ref),)
        else:
            assert suite is not None
            chosen = complete_runs(workspace, suite)
        rows = [(info, rescore_run(workspace, info, scoring, other)) for info in chosen]
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
