"""How does a backup become a workspace again?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text
from assay.cli.options import JsonFlag, configuration
from assay.plural import counted


def command(
    ctx: typer.Context,
    source: Annotated[Path, typer.Argument(help="A file that assay backup wrote.")],
    index: Annotated[
        bool, typer.Option("--index/--no-index", help="Write the index anew afterwards.")
    ] = True,
    json_output: JsonFlag = False,
) -> None:
    """Put a backup into a new workspace, once every checksum holds."""
    from assay.app.workspace import Workspace
    from assay.cli.progress import staged_progress
    from assay.store.backup import restore

    config = configuration(ctx)
    backup = restore(source, config.home)
    generation = None
    if index and backup.documents:
        with Workspace(config) as workspace, staged_progress(config.color) as progress:
            generation = workspace.update_index(progress).generation
    if json_output:
        emit_json(
            {
                "home": str(config.home),
                "created_at": backup.created_at,
                "documents": backup.documents,
                "runs": backup.runs,
                "last_change": backup.last_change,
                "generation": generation,
            }
        )
        return
    emit_text(
        f"{config.home}: {counted(backup.documents, 'document')}, {counted(backup.runs, 'run')}, "
        f"as of {backup.created_at}"
    )
