"""How do documents get into the workspace?"""

from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import DEGRADED, JsonFlag, configuration
from assay.plural import counted

FormatOption = Annotated[
    str, typer.Option("--format", "-f", help="Format to read; auto detects it from the content.")
]
ProfileOption = Annotated[
    str, typer.Option("--profile", help="Chunking profile; auto picks one by the kind of document.")
]
SkipEmpty = Annotated[
    bool, typer.Option("--skip-empty", help="Leave out what has no text, with a note.")
]
KeepGoing = Annotated[
    bool,
    typer.Option(
        "--keep-going",
        help="Skip what cannot be read; it is named and counted, and the exit code is 4.",
    ),
]
IdField = Annotated[
    str, typer.Option("--id-field", help="The field of rows (JSON, CSV) that holds the id.")
]
TextField = Annotated[
    list[str] | None,
    typer.Option("--text-field", help="The field that holds the text; several are joined."),
]
TitleField = Annotated[str, typer.Option("--title-field", help="The field that holds the title.")]


def command(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(help="A file or folder of documents.")],
    format_: FormatOption = "auto",
    profile: ProfileOption = "auto",
    index: Annotated[
        bool, typer.Option("--index/--no-index", help="Bring the index up to date afterwards.")
    ] = True,
    skip_empty: SkipEmpty = False,
    keep_going: KeepGoing = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse a folder if any of its files would be left out."),
    ] = False,
    id_field: IdField = "",
    text_field: TextField = None,
    title_field: TitleField = "",
    vectors: Annotated[
        list[str] | None,
        typer.Option("--vectors", help="A folder or file that assay encode wrote elsewhere."),
    ] = None,
    json_output: JsonFlag = False,
) -> int:
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
            keep_going=keep_going,
            strict=strict,
            id_field=id_field,
            text_field=text_field or (),
            title_field=title_field,
            vectors=vectors or (),
            index=index,
            progress=progress,
            note=limited_notes(),
            stopped=_stopped,
        )
        used = workspace.opened_models.usage()
    for line in used:
        note(f"note: {line}")
    if json_output:
        emit_json({"home": str(settings.home), **encode(written)})
        return DEGRADED if written.failed or written.lacking else 0
    for problem in written.problems:
        note(f"failed: {problem}")
    if untold := written.failed - len(written.problems):
        note(f"failed: {untold:,} more")
    emit_text(
        f"{written.added} added, {written.replaced} replaced, {written.unchanged} unchanged; "
        f"{counted(written.chunks, 'chunk')} written"
        + (f"; {counted(written.deleted, 'document')} deleted" if written.deleted else "")
        + (f"; {written.failed:,} failed" if written.failed else "")
    )
    if written.generation is None:
        note("note: not indexed yet: assay index update")
    if written.lacking:
        note(f"warning: indexed {written.lacking}")
    return DEGRADED if written.failed or written.lacking else 0


def _stopped(stored: int) -> None:
    note(
        f"note: stopped with {counted(stored, 'document')} stored and not indexed: "
        "run it again for the rest, or assay index update"
    )
