"""What keeps this service from answering searches?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.search.options import configured
from assay.serve.problems import ProblemError

if TYPE_CHECKING:
    from assay.serve.service import Service


def faults(service: Service) -> dict[str, str]:
    """The parts that are not ready, each with the reason; empty where all is well."""
    found: dict[str, str] = {}
    if service.stopping.is_set():
        found["service"] = "shutting down"
    try:
        service.workspace.store.last_change()
    except AssayError as error:
        found["store"] = error.message
        return found
    try:
        searcher = service.open_searcher()
    except ProblemError as problem:
        found["index"] = problem.problem.detail
        return found
    wanted = configured(service.config).components
    states = searcher.components
    return found | {name: states[name] for name in wanted if states[name] != "ready"}
