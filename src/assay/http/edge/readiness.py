"""What keeps this service from answering searches?"""

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
"""So long a probe waits for an index that is being opened; probes give up after a second."""


async def readiness(service: Service) -> dict[str, str]:
    """The parts that are not ready, each with the reason; empty where all is well."""
    opening = service.warm_up.begin()
    with suppress(Exception):  # how it ended is asked below
        await asyncio.wait_for(asyncio.wrap_future(opening), PATIENCE_S)
    return await service.work(lambda: faults(service, opening))


def faults(service: Service, opening: Future[Searcher]) -> dict[str, str]:
    """The same, as far as the opening of the index has come."""
    found: dict[str, str] = {}
    if service.stopping.is_set():
        found["service"] = "shutting down"
    try:
        service.workspace.store.last_change()
    except AssayError as error:
        found["store"] = error.message
        return found
    if not opening.done():
        found["index"] = "the index is being opened"
        return found
    try:
        searcher = opening.result()
    except ProblemError as problem:
        found["index"] = problem.problem.detail
        return found
    wanted = searcher.defaults.components
    states = searcher.components
    return found | {name: states[name] for name in wanted if states[name] != "ready"}
