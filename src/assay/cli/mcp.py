"""How does an assistant reach the workspace?"""

import logging
import os
import sys

import typer

from assay.cli.connection import connected


def command(ctx: typer.Context) -> None:
    """Serve search, answers and evaluation to an assistant (MCP)."""
    from assay.mcp.server import Server

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with connected(ctx) as assay:
        assay.require()
        assay.test_sets()  # a service that does not answer is told now, not to the assistant
        with os.fdopen(os.dup(1), "wb") as outgoing:
            os.dup2(2, 1)  # whatever else is printed must not stand between messages
            Server(assay, sys.stdin.buffer, outgoing).run()
