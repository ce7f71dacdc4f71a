"""How is a test set run?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.app.evaluation_request import REQUEST_OPTIONS
from assay.cli.connection import connected, refuse_remote
from assay.cli.console import emit_json, note
from assay.cli.eval.shared import app
from assay.cli.options import (
    DEGRADED,
    JsonFlag,
    Measures,
    PerComponent,
    Waterfall,
    takes_options,
    takes_search_options,
)
from assay.errors import UsageError
from assay.search.request import EVALUATION_NAMES

if TYPE_CHECKING:
    from assay.app.evaluation import Evaluated
    from assay.app.evaluation_request import EvaluationRequest
    from assay.app.interface import Assay

_KEPT_FROM = list(REQUEST_OPTIONS).index("keep")
_ABOUT_SCORING = [one for one in [*REQUEST_OPTIONS.values()][:_KEPT_FROM] if one.name != "measures"]
_ABOUT_KEEPING = [*REQUEST_OPTIONS.values()][_KEPT_FROM:]


@app.command("run")
@takes_options(_ABOUT_SCORING, "scoring")
@takes_search_options(EVALUATION_NAMES, "search")
@takes_options(_ABOUT_KEEPING, "keeping")
def run(
    ctx: typer.Context,
    *,
    testset: Annotated[
        list[str] | None,
        typer.Option("--testset", "-t", help="Name of a test set, or a path; several are one run."),
    ] = None,
    measures: Measures = None,
    holdout: Annotated[
        bool, typer.Option("--holdout", help="Run the held-out part only; its use is logged.")
    ] = False,
    scoring: Mapping[str, Any],
    answerer: Annotated[
        str | None, typer.Option(help="extractive, module:function or http://...")
    ] = None,
    answer_model: Annotated[
        str | None, typer.Option("--answer-model", help="Model of such a service.")
    ] = None,
    search: Mapping[str, Any],
    retriever: Annotated[
        str | None,
        typer.Option(
            "--system",
            "--retriever",
            help="Evaluate module:function, or a service at http://..., with its answers if any.",
        ),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", help="Model of a judge at http://...")
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(help="YAML file that maps the requests and answers of that service."),
    ] = None,
    run_file: Annotated[
        str | None, typer.Option("--run", help="Evaluate a run file: TREC, JSON, parquet.")
    ] = None,
    keeping: Mapping[str, Any],
    resume: Annotated[str | None, typer.Option(help="Resume this run.")] = None,
    per_component: PerComponent = False,
    waterfall: Waterfall = False,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish", help="Publish the figures to Prometheus, as assay eval publish does."
        ),
    ] = False,
    json_output: JsonFlag = False,
) -> int:
    """Run a test set against our search, another engine or a run file, and keep the run."""
    from assay.app import prometheus
    from assay.app.evaluation import commit_hash
    from assay.app.evaluation_request import EvaluationRequest, request_fields
    from assay.app.workspace import Workspace
    from assay.cli.progress import evaluation_progress
    from assay.options import read_options
    from assay.search.request import read_changes

    values = request_fields(read_options(REQUEST_OPTIONS, {**scoring, **keeping}))
    if holdout:
        values["part"] = "holdout"
    if answerer is not None:
        values["answers"] = True
    request = EvaluationRequest(
        test_sets=tuple(testset or ()),
        options=read_changes(search),
        measures=" ".join(measures) if measures else None,
        retriever=retriever,
        mapping=mapping,
        run_file=run_file,
        resume=resume,
        commit_hash=commit_hash(),
        **values,
    )
    if per_component or waterfall:
        request.require_our_engine()
    given = {"answerer": answerer, "answer_model": answer_model, "judge_model": judge_model}
    with connected(ctx, **given) as assay:
        refuse_remote(
            assay.settings,
            "assay eval run",
            retriever=retriever,
            mapping=mapping,
            run=run_file,
            resume=resume,
            publish=publish,
            **given,
        )
        if publish and not prometheus.destinations(assay.settings):
            raise UsageError(
                "--publish needs a destination",
                hint="set metrics_textfile, or pushgateway, or both",
            )
        with evaluation_progress(assay.settings.color) as progress:
            try:
                made = assay.carry_out(request, progress)
            except KeyboardInterrupt as stop:
                for line in getattr(stop, "__notes__", ()):
                    note(f"note: {line}")
                raise
        _note_runs(made, request)
        if made.modes:
            _show_modes(
                made, assay.settings.color, as_json=json_output, per_query=request.per_query
            )
        else:
            views = {"per_component": per_component, "waterfall": waterfall}
            _show_run(assay, request, made, views, as_json=json_output)
        if publish and isinstance(assay, Workspace):
            for line in prometheus.objections(assay, [one.info for one in made.runs]):
                note(f"warning: {line}")
            prometheus.publish(assay.settings, assay.figures())
    return DEGRADED if made.degraded else 0


def _note_runs(made: "Evaluated", request: "EvaluationRequest") -> None:
    """What to know of the runs, beside their figures."""
    for recorded in made.runs:
        if recorded.note is not None:
            note(f"note: {recorded.note}")
    for line in (*made.unindexed, *made.unseen):
        note(f"warning: {line}")
    if made.absent is not None:
        name = request.test_sets[0] if len(request.test_sets) == 1 else "NAME"
        note(f"warning: {made.absent} (assay testset validate {name} --index lists them)")


def _show_run(
    assay: "Assay",
    request: "EvaluationRequest",
    made: "Evaluated",
    views: dict[str, bool],
    *,
    as_json: bool,
) -> None:
    from assay.app.run_view import view_of
    from assay.cli.tables import show_tables

    info, result = made.runs[0].info, made.runs[0].result
    view = view_of(assay, info, result, result.scoring, **views)
    if as_json:
        plain = view.scores(per_query=request.per_query)
        emit_json({**plain, "warnings": [*plain["warnings"], *made.warnings]})
    else:
        show_tables(view.tables(per_query=request.per_query), assay.settings.color)


def _show_modes(made: "Evaluated", color: str, *, as_json: bool, per_query: bool) -> None:
    from assay.cli.tables import show_tables
    from assay.render import evaluation as report

    if as_json:
        emit_json(made.to_dict(per_query=per_query))
    elif made.difference is not None:
        results = {name: recorded.result for name, recorded in made.modes.items()}
        show_tables(report.modes_tables(results, made.difference, per_query=per_query), color)
