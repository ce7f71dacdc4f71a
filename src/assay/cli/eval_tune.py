"""Which weights and constants of fusion suit these documents and questions best?"""

from typing import Annotated, Literal

import typer

from assay.cli.options import JsonFlag, configuration

verbs = typer.Typer()


@verbs.command("tune")
def tune(
    ctx: typer.Context,
    testset: Annotated[str, typer.Option("--testset", "-t", help="Name of a test set, or a path.")],
    measure: Annotated[str, typer.Option("--measure", "-m", help="What to maximise.")] = "nDCG@10",
    fusion: Annotated[
        Literal["rrf", "weighted", "both"], typer.Option("--fusion", help="Which methods to try.")
    ] = "both",
    step: Annotated[
        float, typer.Option("--step", min=0.01, max=0.5, help="Step between weights.")
    ] = 0.1,
    components: Annotated[str | None, typer.Option(help="Of bm25, splade, dense.")] = None,
    holdout: Annotated[
        bool,
        typer.Option("--holdout/--no-holdout", help="Report on the held-out part; that is logged."),
    ] = True,
    show: Annotated[int, typer.Option("--show", min=1, help="How many settings to list.")] = 10,
    json_output: JsonFlag = False,
) -> None:
    """Search for better fusion settings, and see what is left of the gain on unseen queries."""
    from assay.cli.tune_job import TuneJob

    TuneJob(
        config=configuration(ctx, components=components),
        testset=testset,
        measure=measure,
        fusion=fusion,
        step=step,
        holdout=holdout,
        show=show,
        as_json=json_output,
    ).run()
