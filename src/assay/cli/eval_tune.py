"""Which weights and constants of fusion suit these documents and questions best?"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from assay.cli.console import emit_json, note
from assay.cli.options import JsonFlag, configuration
from assay.cli.search_options import takes_search_options

verbs = typer.Typer()


@verbs.command("tune")
@takes_search_options(("components", "depth"))
def tune(
    ctx: typer.Context,
    *,
    testset: Annotated[str, typer.Option("--testset", "-t", help="Name of a test set, or a path.")],
    measure: Annotated[str, typer.Option("--measure", "-m", help="What to maximise.")] = "nDCG@10",
    fusion: Annotated[
        Literal["rrf", "weighted", "both"], typer.Option("--fusion", help="Which methods to try.")
    ] = "both",
    step: Annotated[
        float, typer.Option("--step", min=0.01, max=0.5, help="Step between weights.")
    ] = 0.1,
    given: Mapping[str, Any],
    holdout: Annotated[
        bool,
        typer.Option("--holdout/--no-holdout", help="Report on the held-out part; that is logged."),
    ] = True,
    show: Annotated[int, typer.Option("--show", min=1, help="How many settings to list.")] = 10,
    json_output: JsonFlag = False,
) -> None:
    """Search for better fusion settings, and see what is left of the gain on unseen queries."""
    from assay.app.tuning import TuneRequest
    from assay.app.tuning import tune as find_settings
    from assay.app.workspace import Workspace
    from assay.cli.eval_progress import evaluation_progress
    from assay.cli.tables import show_tables
    from assay.render.tuning import tuning_json, tuning_tables
    from assay.search.request import read_changes

    settings = configuration(ctx)
    request = TuneRequest(
        test_set=testset,
        measure=measure,
        fusion=fusion,
        step=step,
        options=read_changes(given),
        holdout=holdout,
    )
    with Workspace(settings) as workspace, evaluation_progress(settings.color) as progress:
        found = find_settings(workspace, request, progress)
    if json_output:
        emit_json(tuning_json(found.tuning, found.present, show))
        return
    show_tables(tuning_tables(found.tuning, found.present, show), settings.color)
    for warning in found.tuning.warnings:
        note(f"warning: {warning}")
