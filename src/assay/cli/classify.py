"""How good are yes/no decisions, given a file of labels and scores?"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from assay.cli.console import emit_json, emit_text
from assay.cli.options import SAMPLING, JsonFlag, configuration, takes_settings


@takes_settings(SAMPLING, "sampling")
def command(
    ctx: typer.Context,
    *,
    file: Annotated[
        str,
        typer.Argument(help="CSV, TSV, JSON lines or parquet with label and score; - is stdin."),
    ],
    measures: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="Measures of decisions.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Resample by this column (post, interview).")
    ] = None,
    format_: Annotated[
        Literal["table", "json", "md"], typer.Option("--format", "-f", help="Output format.")
    ] = "table",
    sampling: Mapping[str, Any],
    json_output: JsonFlag = False,
) -> None:
    """Measure yes/no decisions from labels and scores."""
    from assay.app.scoring import classify_file
    from assay.render.scores import decision_table
    from assay.render.tables import markdown

    settings = configuration(ctx, **sampling)
    decisions = classify_file(settings, file, measures, cluster=cluster)
    if json_output or format_ == "json":
        emit_json(decisions.to_dict())
    elif format_ == "md":
        emit_text(markdown([decision_table(decisions, file)]))
    else:
        from assay.cli.tables import show_tables

        show_tables([decision_table(decisions, file)], settings.color)
