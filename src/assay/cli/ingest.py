"""How do documents get into the workspace?"""

from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration
from assay.counting import counted


def command(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(help="A file or folder of documents.")],
    format_: Annotated[
        str, typer.Option("--format", "-f", help="Reader to use; auto tells by content.")
    ] = "auto",
    profile: Annotated[
        str, typer.Option("--profile", help="How to chunk; auto goes by the kind of document.")
    ] = "auto",
    index: Annotated[
        bool, typer.Option("--index/--no-index", help="Bring the index up to date afterwards.")
    ] = True,
    json_output: JsonFlag = False,
) -> None:
    """Read documents into the workspace and make them searchable."""
    from dataclasses import asdict

    from assay.cli.progress import staged_progress, tell_notes
    from assay.ingest import read_corpus
    from assay.workspace import Workspace

    config = configuration(ctx)
    with Workspace(config) as workspace, staged_progress(config.color) as progress:
        if index:  # a model that is not here should be known before anything is read
            workspace.open_encoders()
        documents = read_corpus(path, format_, profile, tell_notes())
        written = workspace.ingest(documents, progress)
        generation = workspace.update_index(progress).generation if index else None
    if json_output:
        emit_json({"home": str(config.home), **asdict(written), "generation": generation})
        return
    emit_text(
        f"{written.added} added, {written.replaced} replaced, {written.unchanged} unchanged; "
        f"{counted(written.chunks, 'chunk')} written"
    )
    if generation is None:
        note("note: not indexed yet: assay index update")
