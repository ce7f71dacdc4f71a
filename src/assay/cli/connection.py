"""Which workspace does a command work with: the one here, or that of a service?"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.settings import Settings


def connected(settings: Settings) -> AbstractContextManager[Assay]:
    """The workspace of these settings, or the service that they name."""
    if settings.server is not None:
        from assay.client import connect

        return connect(settings)
    from assay.app.workspace import Workspace

    return Workspace(settings)


def here(settings: Settings, command: str, **options: object) -> None:
    """Refuse options that only work on this machine where a service is named, each by its name."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if settings.server is not None and given:
        raise UsageError(
            f"{', '.join(given)}: not possible with a service",
            hint=f"leave it out, or {command} on this machine without --server",
        )
