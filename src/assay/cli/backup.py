"""How is a workspace copied while it is in use, and put back?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.connection import connected
from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration
from assay.plural import counted

WORDS = {
    "keys": "key",
    "jobs": "job",
    "queries": "logged query",
    "rounds": "judging round",
    "testsets": "test set",
    "configs": "saved configuration",
    "schedule": "scheduled evaluation",
    "reports": "report",
}


def backup(
    ctx: typer.Context,
    target: Annotated[Path, typer.Argument(help="The file to write, such as assay.tar.gz.")],
    vectors: Annotated[
        bool,
        typer.Option(
            "--vectors/--no-vectors", help="Include vectors, so that a restore need not encode."
        ),
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Copy the workspace into one checked file, while it is in use."""
    with connected(ctx) as assay:
        written = assay.backup(target, vectors=vectors)
    if json_output:
        emit_json(written)
        return
    manifest = written.manifest
    counts = _counts(manifest.documents, manifest.runs, manifest.holds, written.on_server)
    emit_text(f"{target}: {counts}, {written.bytes:,} bytes")
    if written.on_server:
        note(
            f"note: {_list(written.on_server)} are on the PostgreSQL server and not in this file: "
            "pg_dump backs them up"
        )
    note(f"note: to put it back: assay --home NEW_FOLDER restore {target}")


def restore(
    ctx: typer.Context,
    source: Annotated[Path, typer.Argument(help="A file that assay backup wrote.")],
    index: Annotated[
        bool, typer.Option("--index/--no-index", help="Rebuild the index afterwards.")
    ] = True,
    json_output: JsonFlag = False,
) -> None:
    """Restore a backup into a new workspace, after checking it."""
    from assay.app.backup import restore as put_back
    from assay.cli.progress import staged_progress

    settings = configuration(ctx)
    with staged_progress(settings.color) as progress:
        restored = put_back(settings, source, index=index, progress=progress)
    if json_output:
        emit_json(restored)
        return
    counts = _counts(restored.documents, restored.runs, restored.holds, restored.on_server)
    emit_text(f"{restored.home}: {counts}, as of {restored.created_at}")
    if restored.valid_keys:
        note(
            f"note: {counted(restored.valid_keys, 'key', 'is')} valid again as of the backup, also "
            "such as were revoked since: assay keys list shows them, assay keys revoke ends one"
        )
    if restored.on_server:
        note(
            f"note: {_list(restored.on_server)} were on a PostgreSQL server and are not in this "
            "backup: restore a dump of it, set database to its address, then assay index update"
        )
    elif settings.database != restored.database:
        note(
            f"note: the documents are in {restored.home}, and the settings name a PostgreSQL "
            "server: set database to sqlite to use them"
        )


def _counts(documents: int, runs: int, holds: Mapping[str, int], on_server: tuple[str, ...]) -> str:
    """What is in a backup, in words; what is kept on a server is not counted."""
    kept = [] if on_server else [counted(documents, "document"), counted(runs, "run")]
    kept += [counted(count, WORDS[name]) for name, count in holds.items() if count]
    return ", ".join(kept) or "nothing"


def _list(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
