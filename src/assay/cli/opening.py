"""Which workspace does a command work with: the one here, or that of a service?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.config import Configuration

NO_SERVER = "none"


def is_remote(config: Configuration) -> bool:
    """Whether the command should talk to a service."""
    return config.server != NO_SERVER


def opened(config: Configuration) -> Workspace:
    """The workspace, for commands that read runs; close it, or use it in a ``with`` statement."""
    if is_remote(config):
        from assay.cli.remote_workspace import RemoteWorkspace

        return RemoteWorkspace(config)
    from assay.app.workspace import Workspace

    return Workspace(config)


def refuse_with_server(command: str, **options: object) -> None:
    """Refuse options that only work here, each by its name."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if given:
        raise UsageError(
            f"{', '.join(given)}: not possible with a service",
            hint=f"leave it out, or {command} on this machine without --server",
        )
