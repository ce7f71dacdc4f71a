"""How are documents encoded for a workspace on another machine?"""

from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text
from assay.cli.ingest import (
    FormatOption,
    IdField,
    KeepGoing,
    ProfileOption,
    SkipEmpty,
    TextField,
    TitleField,
)
from assay.cli.options import JsonFlag, configuration
from assay.plural import counted


def command(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(help="A file or folder of documents.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="The folder for the vectors, a file per model.")
    ],
    part: Annotated[
        str, typer.Option("--part", help="Encode only this part, as in 2/4, to share the work.")
    ] = "",
    format_: FormatOption = "auto",
    profile: ProfileOption = "auto",
    skip_empty: SkipEmpty = False,
    keep_going: KeepGoing = False,
    id_field: IdField = "",
    text_field: TextField = None,
    title_field: TitleField = "",
    json_output: JsonFlag = False,
) -> int:
    """Encode documents into vectors for another workspace."""
    from assay.app.workspace import Workspace
    from assay.cli.progress import limited_notes, staged_progress
    from assay.model.codec import encode

    settings = configuration(ctx)
    with Workspace(settings) as workspace, staged_progress(settings.color) as progress:
        made = workspace.encode_corpus(
            path,
            out,
            part=part,
            format=format_,
            profile=profile,
            skip_empty=skip_empty,
            keep_going=keep_going,
            id_field=id_field,
            text_field=text_field or (),
            title_field=title_field,
            progress=progress,
            note=limited_notes(),
        )
    if json_output:
        emit_json(encode(made))
    else:
        emit_text(
            f"{counted(made.chunks, 'chunk')}, {counted(made.new, 'vector')} new in {made.folder}; "
            f"there: assay ingest {path} --vectors {made.folder}"
        )
    return 0
