"""Who may call the service? Keys are made, listed and revoked here."""

from typing import Annotated

import typer

from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration, group
from assay.store.keys import ApiKey, KeyStore

app = group("Make, list and revoke the keys of the HTTP service.")


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
    """Make a key; it is shown once and only its hash is kept."""
    store = _store(ctx)
    key, secret = store.create(name, scope or ["read"], days=days)
    store.close()
    if json_output:
        emit_json({**_row(key), "key": secret})
        return
    emit_text(secret)
    note(f"key {key.key_id} ({name}): {' '.join(sorted(key.scopes))}. It is not shown again.")


@app.command("list")
def list_keys(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List every key with its scopes and state, without its secret."""
    keys = []
    if (configuration(ctx).home / "assay.db").exists():  # to look makes no workspace
        store = _store(ctx)
        keys = store.all()
        store.close()
    if json_output:
        emit_json({"keys": [_row(key) for key in keys]})
        return
    if not keys:
        note("note: there is no key yet; assay keys create NAME makes one")
        return
    header = ("id", "name", "scopes", "state", "created", "expires")
    rows = [
        (
            key.key_id,
            key.name,
            " ".join(sorted(key.scopes)),
            key.state(),
            key.created_at[:10],
            (key.expires_at or "never")[:10],
        )
        for key in keys
    ]
    emit_columns([header, *rows])


@app.command("revoke")
def revoke(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(help="Id of the key; see assay keys list.")],
    json_output: JsonFlag = False,
) -> None:
    """End a key; a running service knows within two seconds."""
    store = _store(ctx)
    key = store.revoke(key_id)
    store.close()
    if json_output:
        emit_json(_row(key))
    else:
        emit_text(f"{key.key_id} ({key.name}) is revoked")


def _store(ctx: typer.Context) -> KeyStore:
    return KeyStore(configuration(ctx).home / "assay.db")


def _row(key: ApiKey) -> dict[str, object]:
    return {
        "key_id": key.key_id,
        "name": key.name,
        "scopes": sorted(key.scopes),
        "state": key.state(),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
    }
