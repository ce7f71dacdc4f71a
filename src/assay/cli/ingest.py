"""How do documents get into the workspace?"""

from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration
from assay.plural import counted


def command(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(help="A file or folder of documents.")],
    format_: Annotated[
        str, typer.Option("--format", "-f", help="Reader to use; auto goes by the content.")
    ] = "auto",
    profile: Annotated[
        str, typer.Option("--profile", help="How to chunk; auto goes by the kind of document.")
    ] = "auto",
    index: Annotated[
        bool, typer.Option("--index/--no-index", help="Bring the index up to date afterwards.")
    ] = True,
    skip_empty: Annotated[
        bool, typer.Option("--skip-empty", help="Leave out what has no text, with a note.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Read documents into the workspace and make them searchable."""
    from assay.app.workspace import Workspace
    from assay.cli.progress import limited_notes, staged_progress
    from assay.model.codec import encode

    settings = configuration(ctx)
    with Workspace(settings) as workspace, staged_progress(settings.color) as progress:
        written = workspace.ingest(
            path,
            format=format_,
            profile=profile,
            skip_empty=skip_empty,
            index=index,
            progress=progress,
            note=limited_notes(),
            stopped=_stopped,
        )
    if json_output:
        emit_json({"home": str(settings.home), **encode(written)})
        return
    emit_text(
        f"{written.added} added, {written.replaced} replaced, {written.unchanged} unchanged; "
        f"{counted(written.chunks, 'chunk')} written"
    )
    if written.generation is None:
        note("note: not indexed yet: assay index update")


def _stopped(stored: int) -> None:
    note(
        f"note: stopped with {counted(stored, 'document')} stored and not indexed: "
        "run it again for the rest, or assay index update"
    )
