"""Who may see held-out queries over HTTP? Keys that may evaluate; looks are logged."""

from __future__ import annotations

from assay.app.held_out import Viewer
from assay.http.edge.auth import Caller
from assay.http.service import Service


def viewer_of(caller: Caller, service: Service) -> Viewer:
    """What this caller may see of runs."""
    return Viewer(caller.may("evaluate"), log=service.workspace.runs.log_held_out)
