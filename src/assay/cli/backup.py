"""How is a workspace copied while it is in use?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration
from assay.errors import UsageError
from assay.plural import counted


def command(
    ctx: typer.Context,
    target: Annotated[Path, typer.Argument(help="The file to write, such as assay.tar.gz.")],
    vectors: Annotated[
        bool,
        typer.Option("--vectors/--no-vectors", help="Keep vectors too, so nothing is encoded."),
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Copy the workspace into one checked file, while it is in use."""
    from dataclasses import asdict

    from assay.store.backup import back_up

    config = configuration(ctx)
    if config.server is not None:
        from assay.cli.remote import client

        if target.exists():
            raise UsageError(f"{target} is there already", hint="choose another name, or delete it")
        with client(config) as service:
            size = service.backup(target, vectors=vectors)
        if json_output:
            emit_json({"file": str(target), "bytes": size})
        else:
            emit_text(f"{target}: {size:,} bytes")
        return
    if config.database != "sqlite":
        raise UsageError(
            "this workspace keeps its data on a PostgreSQL server",
            hint="pg_dump backs up a server's databases",
        )
    backup = back_up(config.home, target, vectors=vectors)
    if json_output:
        emit_json({"file": str(target), "bytes": target.stat().st_size, **asdict(backup)})
        return
    emit_text(
        f"{target}: {counted(backup.documents, 'document')}, {counted(backup.runs, 'run')}, "
        f"{target.stat().st_size:,} bytes"
    )
    note(f"note: to put it back: assay --home NEW_FOLDER restore {target}")
