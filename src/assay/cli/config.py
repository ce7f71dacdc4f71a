"""Which settings and limits hold here, where does each value come from, and whom do we trust?"""

import os
from pathlib import Path
from typing import Annotated

import typer

from assay import limits
from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import JsonFlag, configuration, refuse_server
from assay.errors import MissingFileError
from assay.settings import SETTINGS, guarded_settings, mask, nearest_file
from assay.trust import trust

app = group("Show settings and limits; trust a configuration file.")


@app.command("show")
def show(
    ctx: typer.Context,
    origin: Annotated[
        bool, typer.Option("--origin", help="Say where each value comes from.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Show every setting and its value."""
    settings = configuration(ctx)
    _note_unknown_variables()
    if json_output:
        rows = {
            name: {"value": value, "origin": settings.origins[name]}
            for name, value in settings.as_dict().items()
        }
        emit_json({"config_hash": settings.config_hash(), "settings": rows})
        return
    emit_columns(
        [
            (name, text, settings.origins[name]) if origin else (name, text)
            for name, text in settings.as_text().items()
        ]
    )


@app.command("limits")
def list_limits(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List every cap, its value and what it protects."""
    refuse_server(ctx)
    if json_output:
        rows = [{"name": row.name, "value": row.default, "help": row.help} for row in limits.TABLE]
        emit_json({"limits": rows})
        return
    emit_columns([(row.name, _readable(row), row.help) for row in limits.TABLE])


@app.command("hash")
def show_hash(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """Show the hash of all settings that can change a result."""
    digest = configuration(ctx).config_hash()
    if json_output:
        emit_json({"config_hash": digest})
    else:
        emit_text(digest)


@app.command("trust")
def trust_file(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="The nearest assay.yaml unless named.")
    ] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Stop trusting the file.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Let a file set what could run code, send secrets or write files; show what that is.

    Trust ends when one of these settings changes. A file named with --config needs none.
    """
    refuse_server(ctx)
    path = file or nearest_file()
    if path is None:
        raise MissingFileError("there is no assay.yaml here or above", hint="name the file")
    guarded = guarded_settings(path)
    trust(path, {} if forget else guarded, os.environ)
    if json_output:
        rows = {name: mask(text) for name, text in guarded.items()}
        emit_json({"file": str(path), "trusted": not forget, "settings": rows})
        return
    if forget:
        emit_text(f"{path} is not trusted any longer")
    elif not guarded:
        emit_text(f"{path} sets nothing that needs trust")
    else:
        emit_text(f"{path} is trusted with:")
        emit_columns([(name, mask(text), SETTINGS[name].guard) for name, text in guarded.items()])


def _readable(row: limits.Limit) -> str:
    """Bytes in the largest unit that divides them, other numbers with separated thousands."""
    if not row.name.endswith("_BYTES"):
        return f"{row.default:,}"
    size, units = row.default, ["B", "KiB", "MiB", "GiB"]
    while size % 1024 == 0 and len(units) > 1:
        size //= 1024
        units.pop(0)
    return f"{size} {units[0]}"


def _note_unknown_variables() -> None:
    """A misspelled variable would otherwise be ignored in silence."""
    from assay.settings import unknown_variables

    for name, guess in unknown_variables(os.environ).items():
        note(f"note: {name} sets nothing" + (f"; did you mean {guess}?" if guess else ""))
