"""What keeps this service from answering searches?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import AssayError

if TYPE_CHECKING:
    from assay.serve.service import Service


def faults(service: Service) -> dict[str, str]:
    """The parts that are not ready, each with the reason; empty where all is well."""
    found: dict[str, str] = {}
    checks = {"store": service.workspace.store.last_change, "index": service.workspace.generation}
    for name, check in checks.items():
        try:
            check()
        except AssayError as error:
            found[name] = error.message
    if service.stopping.is_set():
        found["service"] = "shutting down"
    return found
