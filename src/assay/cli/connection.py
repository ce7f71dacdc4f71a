"""Which workspace does a command work with: the one here, or that of a service?"""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import typer

from assay.cli.options import configuration
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.settings import Settings


def connected(ctx: typer.Context, **flags: object) -> "AbstractContextManager[Assay]":
    """The workspace of the settings, or the service that they name.

    A command that calls this works with ``--server``; every other one refuses it.
    """
    settings = configuration(ctx, service=True, **flags)
    if settings.server is not None:
        from assay.client import connect

        return connect(settings)
    from assay.app.workspace import Workspace

    return Workspace(settings)


def refuse_remote(settings: "Settings", command: str, **options: object) -> None:
    """Refuse options that only work on this machine where a service is named, each by its name."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if settings.server is not None and given:
        raise UsageError(
            f"{', '.join(given)}: not possible with a service",
            hint=f"leave it out, or run {command} on this machine without --server",
        )
