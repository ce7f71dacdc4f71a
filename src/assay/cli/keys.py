"""Who may call the service? Keys are made, listed and revoked here."""

from typing import Annotated

import typer

from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import JsonFlag, configuration

app = group("Create, list and revoke the keys of the HTTP service.")


@app.command("create")
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Who or what will use the key.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(help="read, evaluate, annotate or admin; may be repeated. Default: read."),
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0, help="Days until the key expires; without it, never.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Create a key; it is shown once, and only its hash is kept."""
    from assay.app.keys import create_key
    from assay.app.layout import Layout

    made = create_key(Layout(configuration(ctx).home), name, scope or ("read",), days=days)
    if json_output:
        emit_json(made)
        return
    about = made.about
    emit_text(made.key)
    note(f"key {about.key_id} ({name}): {' '.join(about.scopes)}. It is not shown again.")


@app.command("list")
def list_keys(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List every key with its scopes and state, without its secret."""
    from assay.app import keys
    from assay.app.layout import Layout

    rows = keys.list_keys(Layout(configuration(ctx).home))
    if json_output:
        emit_json({"keys": rows})
        return
    if not rows:
        note("note: there is no key yet: assay keys create NAME makes one")
        return
    header = ("id", "name", "scopes", "state", "created", "expires")
    shown = [
        (
            key.key_id,
            key.name,
            " ".join(key.scopes),
            key.state,
            key.created_at[:10],
            (key.expires_at or "never")[:10],
        )
        for key in rows
    ]
    emit_columns([header, *shown])


@app.command("revoke")
def revoke(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(help="Id of the key; see assay keys list.")],
    json_output: JsonFlag = False,
) -> None:
    """Revoke a key; a running service refuses it within two seconds."""
    from assay.app.keys import revoke_key
    from assay.app.layout import Layout

    key = revoke_key(Layout(configuration(ctx).home), key_id)
    if json_output:
        emit_json(key)
    else:
        emit_text(f"{key.key_id} ({key.name}) is revoked")
