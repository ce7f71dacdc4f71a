"""What is in the index, is it sound, and how is it made anew?"""

from typing import TYPE_CHECKING, Any

import typer

from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration, group
from assay.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.client import Client
    from assay.settings import Settings

app = group("Look at the index, check it, update it or rebuild it.")

DAMAGED = 1


@app.command("info")
def info(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """Show what the index holds, how fresh it is and which models made it."""
    config = configuration(ctx)
    if config.server is not None:
        card = _ask(config, lambda service: service.index())
    else:
        from assay.app.workspace import Workspace

        with Workspace(config) as workspace:
            card = workspace.index_card()
    if json_output:
        emit_json(card)
        return
    rows = []
    for name, value in card.items():
        parts = value.items() if isinstance(value, dict) else ((None, value),)
        rows += [
            (
                name if part is None else f"{name}.{part}",
                f"{item:,}" if isinstance(item, int) else str(item),
            )
            for part, item in parts
        ]
    emit_columns(rows)


@app.command("check")
def check(ctx: typer.Context, json_output: JsonFlag = False) -> int:
    """Check every file of the index against its checksum and against the store."""
    config = configuration(ctx)
    if config.server is not None:
        problems = _ask(config, lambda service: service.check_index())["problems"]
    else:
        from assay.app.workspace import Workspace

        with Workspace(config) as workspace:
            problems = workspace.check_index()
    if json_output:
        emit_json({"sound": not problems, "problems": problems})
    else:
        emit_text("\n".join(problems) if problems else "the index is sound")
        if problems:
            note(
                "note: assay index update brings it up to date, assay index rebuild writes it anew"
            )
    return DAMAGED if problems else 0


@app.command("update")
def update(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """Bring the index up to the store's last change."""
    _write(ctx, json_output, "update")


@app.command("compact")
def compact(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """Fold all segments into one and drop what was deleted."""
    _write(ctx, json_output, "compact")


@app.command("rebuild")
def rebuild(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """Write the index anew from the store, also where it is damaged."""
    _write(ctx, json_output, "rebuild")


def _write(ctx: typer.Context, json_output: bool, action: str) -> None:
    config = configuration(ctx)
    if config.server is not None:
        written = _ask(config, lambda service: service.write_index(action))
    else:
        written = _written(config, action)
    if json_output:
        emit_json(written)
    else:
        emit_text(
            f"generation {written['generation']}: {counted(written['rows'], 'chunk')}, "
            f"{counted(written['segments'], 'segment')}"
        )


def _written(config: "Settings", action: str) -> dict[str, int]:
    from assay.app.workspace import Workspace
    from assay.cli.progress import staged_progress

    with Workspace(config) as workspace, staged_progress(config.color) as progress:
        workspace.require()
        manifest = workspace.update_index(progress, fresh=action != "update")
    rows = sum(part.rows for part in manifest.segments)
    return {
        "generation": manifest.generation,
        "rows": rows,
        "segments": len(manifest.segments),
    }


def _ask(config: "Settings", question: "Callable[[Client], dict[str, Any]]") -> dict[str, Any]:
    """What a service says."""
    from assay.cli.remote import client

    with client(config) as service:
        return question(service)
