"""Can this service answer searches, and if not, why?"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.http.edge.problems import ProblemError

if TYPE_CHECKING:
    from assay.http.service import Service
    from assay.search.searcher import Searcher


PATIENCE_S = 0.5
"""How long a probe waits while the index is being opened; probes give up after a second."""


async def readiness(service: Service) -> dict[str, str]:
    """The parts that are not ready, each with the reason; empty if all is well."""
    opening = service.warm_up.begin()
    with suppress(Exception):  # its outcome is read below
        await asyncio.wait_for(asyncio.wrap_future(opening), PATIENCE_S)
    return await service.probe(lambda: faults(service, opening))


def faults(service: Service, opening: Future[Searcher]) -> dict[str, str]:
    """The same for the present state of ``opening``."""
    missing: dict[str, str] = {}
    if service.stopping.is_set():
        missing["service"] = "shutting down"
    try:
        service.workspace.store.last_change()
    except AssayError as error:
        missing["store"] = error.message
        return missing
    if not opening.done():
        missing["index"] = "the index is being opened"
        return missing
    try:
        searcher = opening.result()
    except ProblemError as problem:
        missing["index"] = problem.problem.detail
        return missing
    wanted = searcher.defaults.components
    states = searcher.components
    return missing | {name: states[name] for name in wanted if states[name] != "ready"}
