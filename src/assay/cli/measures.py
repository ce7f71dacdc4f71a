"""Which measures can be asked for?"""

import typer

from assay.cli.console import emit_json
from assay.cli.options import JsonFlag, configuration


def command(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List every measure, and which figure of other tools it equals."""
    from assay.cli.tables import show_tables
    from assay.render.measures import (
        elsewhere_json,
        elsewhere_table,
        measures_json,
        measures_table,
    )

    settings = configuration(ctx)
    if json_output:
        emit_json({"measures": measures_json(), "elsewhere": elsewhere_json()})
    else:
        show_tables([measures_table(), elsewhere_table()], settings.color)
