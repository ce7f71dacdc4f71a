"""What is in the index, is it sound, and how is it made anew?"""

from typing import TYPE_CHECKING, Any

import typer

from assay.cli.connection import connected
from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import DEGRADED, JsonFlag
from assay.plural import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.app.index import Action

app = group("Look at the index, check it, update it or rebuild it.")

DAMAGED = 1


@app.command("info")
def info(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """Show what the index holds, how fresh it is and which models made it."""
    with connected(ctx) as assay:
        card = assay.index_card()
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
    _tell_newer(card)


@app.command("check")
def check(ctx: typer.Context, json_output: JsonFlag = False) -> int:
    """Check every file of the index against its checksum and against the store."""
    with connected(ctx) as assay:
        problems = assay.check_index()
    if json_output:
        emit_json({"sound": not problems, "problems": problems})
    else:
        emit_text("\n".join(problems) if problems else "the index is sound")
        if problems:
            note("note: assay index update brings it up to date, assay index rebuild starts over")
    return DAMAGED if problems else 0


@app.command("update")
def update(ctx: typer.Context, json_output: JsonFlag = False) -> int:
    """Bring the index up to the store's last change."""
    return _write(ctx, "update", json_output)


@app.command("compact")
def compact(ctx: typer.Context, json_output: JsonFlag = False) -> int:
    """Merge all segments into one, and drop what was deleted."""
    return _write(ctx, "compact", json_output)


@app.command("rebuild")
def rebuild(ctx: typer.Context, json_output: JsonFlag = False) -> int:
    """Rebuild the index from the store, even if it is damaged."""
    return _write(ctx, "rebuild", json_output)


@app.command("reencode")
def reencode(ctx: typer.Context, json_output: JsonFlag = False) -> int:
    """Re-encode the index with the configured models; the old one is searched meanwhile.

    An interrupted move continues where it stopped.
    """
    return _write(ctx, "reencode", json_output)


def _tell_newer(card: "Mapping[str, Any]") -> None:
    """How to move to other default models than those that made the index, or come to some."""
    if newer := card.get("newer_models"):
        names = " and ".join(dict.fromkeys(newer.values()))
        note(f"note: the default is {names} now; assay index reencode moves the index to it")
    if lacking := card.get("lacking_models"):
        from assay.app.engine import words_only

        note(f"note: indexed {words_only(lacking)}")


def _write(ctx: typer.Context, action: "Action", json_output: bool) -> int:
    from assay.cli.progress import staged_progress

    with connected(ctx) as assay, staged_progress(assay.settings.color) as progress:
        written = assay.write_index(action, progress)
        card = assay.index_card()
    if json_output:
        emit_json(written)
    else:
        emit_text(
            f"generation {written.generation}: {counted(written.rows, 'chunk')}, "
            f"{counted(written.segments, 'segment')}"
        )
        _tell_newer(card)
        if written.lacking:
            note(f"warning: indexed {written.lacking}")
    return DEGRADED if written.lacking else 0
