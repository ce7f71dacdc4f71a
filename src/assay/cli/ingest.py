"""How do documents get into the workspace?"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration
from assay.plural import counted

if TYPE_CHECKING:
    from assay.app.workspace import Workspace


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
    skip_empty: Annotated[
        bool, typer.Option("--skip-empty", help="Leave out what has no text, with a note.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Read documents into the workspace and make them searchable."""
    from dataclasses import asdict

    from assay.app.workspace import Workspace
    from assay.cli.progress import staged_progress, tell_notes
    from assay.ingest import read_corpus

    config = configuration(ctx)
    with Workspace(config) as workspace, staged_progress(config.color) as progress:
        if index:  # a model that is not here should be known before anything is read
            workspace.open_encoders()
        documents = read_corpus(path, format_, profile, tell_notes(), skip_empty=skip_empty)
        with _telling_what_is_stored(workspace):
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


@contextmanager
def _telling_what_is_stored(workspace: "Workspace") -> Iterator[None]:
    """Say, where it stops half-way, what was stored by then: it is not indexed."""
    from assay.errors import AssayError

    before = workspace.store.last_change()
    try:
        yield
    except (AssayError, KeyboardInterrupt):
        if stored := workspace.store.last_change() - before:
            note(
                f"note: stopped with {counted(stored, 'document')} stored and not indexed: "
                "run it again for the rest, or assay index update"
            )
        raise
