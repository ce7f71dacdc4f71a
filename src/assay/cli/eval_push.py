"""How does a run that was made here reach a shared service?"""

from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text
from assay.cli.options import JsonFlag, configuration

verbs = typer.Typer()


@verbs.command("push")
def push_run(
    ctx: typer.Context,
    ref: Annotated[str, typer.Argument(help="A run: its id, a tag, a name, latest.")] = "latest",
    tag: Annotated[
        str | None, typer.Option("--tag", help="Give it this tag at the service.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Send a run to the service of --server; the same one again changes nothing."""
    from assay.app.run_exchange import pack
    from assay.app.workspace import Workspace
    from assay.cli.remote import client
    from assay.errors import UsageError

    config = configuration(ctx)
    if not config.server is not None:
        raise UsageError("push needs a service", hint="assay --server ADDRESS eval push")
    with Workspace(config) as workspace:
        workspace.require()
        packed = pack(workspace.stored_run(ref, stages=True))
    with client(config) as service:
        answer = service.push_run(packed)
        if tag is not None:
            service.tag(answer["run_id"], tag)
    if json_output:
        emit_json({**answer, "server": config.server})
    else:
        emit_text(f"{answer['run_id']} {'pushed' if answer['new'] else 'was there already'}")
