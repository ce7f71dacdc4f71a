"""Which measures can be asked for?"""

import typer

from assay.cli.console import emit_json
from assay.cli.options import JsonFlag, configuration


def command(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List every measure and its parameters."""
    from assay.cli.tables import show_tables
    from assay.render.measures import measures_json, measures_table

    settings = configuration(ctx)
    if json_output:
        emit_json({"measures": measures_json()})
    else:
        show_tables([measures_table()], settings.color)
