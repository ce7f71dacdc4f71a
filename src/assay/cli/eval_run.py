"""How is an evaluation started, from the command line?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.app.evaluation import REQUEST_OPTIONS
from assay.cli.connection import connected, here
from assay.cli.console import emit_json, note
from assay.cli.eval_options import Measures, PerComponent, Waterfall
from assay.cli.options import DEGRADED, JsonFlag, configuration
from assay.cli.search_options import takes_options, takes_search_options
from assay.search.request import EVALUATION_NAMES

if TYPE_CHECKING:
    from assay.app.evaluation import Evaluated, EvaluationRequest
    from assay.app.interface import Assay

verbs = typer.Typer()
_OPTIONS = [one for name, one in REQUEST_OPTIONS.items() if name != "measures"]


@verbs.command("run")
@takes_search_options(EVALUATION_NAMES)
@takes_options(_OPTIONS, "asked")
def run(
    ctx: typer.Context,
    *,
    testset: Annotated[
        list[str] | None,
        typer.Option("--testset", "-t", help="Name of a test set, or a path; several are one run."),
    ] = None,
    measures: Measures = None,
    per_component: PerComponent = False,
    waterfall: Waterfall = False,
    asked: Mapping[str, Any],
    holdout: Annotated[
        bool, typer.Option("--holdout", help="Run the held-out part only; its use is logged.")
    ] = False,
    given: Mapping[str, Any],
    answerer: Annotated[
        str | None, typer.Option(help="extractive, module:function or http://...")
    ] = None,
    answer_model: Annotated[
        str | None, typer.Option("--answer-model", help="Model of such a service.")
    ] = None,
    retriever: Annotated[
        str | None, typer.Option(help="Evaluate module:function, or a service at http://...")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="YAML file that maps requests and answers of a service.")
    ] = None,
    run_file: Annotated[
        str | None, typer.Option("--run", help="Evaluate a run file: TREC, JSON, parquet.")
    ] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with this run.")] = None,
    publish: Annotated[
        bool,
        typer.Option("--publish", help="Hand the figures to Prometheus, as assay eval publish."),
    ] = False,
    json_output: JsonFlag = False,
) -> int:
    """Run a test set against our search, another engine or a run file, and keep the run."""
    from assay.app import prometheus
    from assay.app.evaluation import EvaluationRequest, commit_hash, request_fields
    from assay.cli.eval_progress import evaluation_progress
    from assay.errors import UsageError
    from assay.options import read_options
    from assay.search.request import read_changes

    settings = configuration(ctx, answerer=answerer, answer_model=answer_model)
    here(
        settings,
        "assay eval run",
        retriever=retriever,
        mapping=mapping,
        run=run_file,
        resume=resume,
        answerer=answerer,
        answer_model=answer_model,
        publish=publish,
    )
    values = request_fields(read_options(REQUEST_OPTIONS, asked))
    if holdout:
        values["part"] = "holdout"
    if answerer is not None:
        values["answers"] = True
    request = EvaluationRequest(
        test_sets=tuple(testset or ()),
        options=read_changes(given),
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
    if publish and not prometheus.destinations(settings):
        raise UsageError(
            "--publish needs a place", hint="the settings metrics_textfile and pushgateway"
        )
    with connected(settings) as assay:
        with evaluation_progress(settings.color) as progress:
            made = assay.evaluate(request, progress)
        _tell(made, request)
        if made.modes:
            _show_modes(made, settings.color, as_json=json_output, per_query=request.per_query)
        else:
            views = {"per_component": per_component, "waterfall": waterfall}
            _show(assay, request, made, views, as_json=json_output)
        if publish:
            prometheus.publish(settings, prometheus.figures(assay.runs))
    return DEGRADED if made.degraded else 0


def _tell(made: "Evaluated", request: "EvaluationRequest") -> None:
    """What to know of the runs, beside their figures."""
    from assay.plural import counted

    for one in made.runs:
        if one.cached:
            renamed = request.name not in ("", one.info.name)
            kept = f"; it keeps its name {one.info.name!r:.80}, and --tag gives it another"
            note(
                f"note: run {one.info.run_id} has the answer already and nothing was searched; "
                f"--no-cache runs it again{kept if renamed else ''}"
            )
        elif one.reused:
            note(f"note: {counted(one.reused, 'query', 'was')} answered before it was cut short")
    for line in made.unindexed:
        note(f"warning: {line}")
    if made.absent is not None:
        name = request.test_sets[0] if len(request.test_sets) == 1 else "NAME"
        note(f"warning: {made.absent} (assay testset validate {name} --index lists them)")


def _show(
    assay: "Assay",
    request: "EvaluationRequest",
    made: "Evaluated",
    views: dict[str, bool],
    *,
    as_json: bool,
) -> None:
    from assay.app.runs import view_of
    from assay.cli.tables import show_tables

    one = made.runs[0]
    view = view_of(assay, one.info, one.result, request.scoring(assay.settings), **views)
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
    else:
        results = {name: one.result for name, one in made.modes.items()}
        show_tables([report.modes_table(results)], color)
