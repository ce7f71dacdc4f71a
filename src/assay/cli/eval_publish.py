"""How do the figures of a run reach Prometheus where no service runs?"""

from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text
from assay.cli.options import JsonFlag, configuration

verbs = typer.Typer()


@verbs.command("publish")
def publish(
    ctx: typer.Context,
    textfile: Annotated[
        str | None, typer.Option("--textfile", help="Write them to this file (*.prom).")
    ] = None,
    pushgateway: Annotated[
        str | None, typer.Option("--pushgateway", help="Push them to this address.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Hand the figures of the newest run to Prometheus: as a file, or by a push."""
    from assay.app import prometheus
    from assay.cli.connection import connected

    settings = configuration(ctx, metrics_textfile=textfile, pushgateway=pushgateway)
    with connected(settings) as assay:
        assay.require()
        text = prometheus.figures(assay.runs)
    done = prometheus.publish(settings, text)
    if json_output:
        emit_json({"published": done})
    elif done:
        emit_text("\n".join(f"{name}: {place}" for name, place in done.items()))
    else:
        emit_text(text.decode().rstrip())
