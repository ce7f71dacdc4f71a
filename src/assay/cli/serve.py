"""How is the workspace served over HTTP?"""

import sys
from typing import Annotated

import typer

from assay.cli.console import emit_json, note
from assay.cli.options import JsonFlag, configuration


def command(
    ctx: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 picks a free one.")] = None,
    json_output: JsonFlag = False,
) -> None:
    """Serve search and evaluation over HTTP."""
    from assay.http.edge.server import listen, serve
    from assay.http.service import Service

    service = Service(configuration(ctx, host=host, port=port))
    try:
        listener = listen(service)
        name, number = listener.getsockname()[:2]
        address = f"http://{f'[{name}]' if ':' in name else name}:{number}"
        if json_output:
            emit_json({"address": address, "docs": f"{address}/docs"})
            sys.stdout.flush()  # whoever started us waits for this line
        else:
            note(f"assay serves {service.settings.home} at {address} (docs: {address}/docs)")
        serve(service, listener)
    finally:
        service.close()
