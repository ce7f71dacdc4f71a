"""Which measures can be asked for?"""

from dataclasses import asdict

import typer

from assay.cli.console import emit_json
from assay.cli.options import JsonFlag, configuration


def command(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List every measure, its parameters, and which figure of other tools it equals."""
    from assay.cli.tables import show_tables
    from assay.measures.elsewhere import ELSEWHERE
    from assay.render.measures import elsewhere_table, measures_json, measures_table

    settings = configuration(ctx)
    if json_output:
        emit_json({"measures": measures_json(), "elsewhere": [asdict(one) for one in ELSEWHERE]})
    else:
        show_tables([measures_table(), elsewhere_table()], settings.color)
