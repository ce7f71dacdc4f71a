"""What do all requests share: the workspace, the gates, the keys, the counters, the log?

Nothing here needs a sound index: a service with a bad one starts, says so at ``/readyz`` and serves
the rest.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from assay.config import Configuration
from assay.serve.admission import Gate, RateLimiter
from assay.serve.auth import Keyring
from assay.serve.exchange import Exchange
from assay.serve.logs import service_log
from assay.serve.metrics import Metrics
from assay.serve.settings import ServiceSettings, service_settings
from assay.store.keys import KeyStore
from assay.workspace import Workspace

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

T = TypeVar("T")

STREAM_SECONDS = 3_600.0
WORK_SLOTS, WORK_QUEUE = 4, 64
EVALUATION_QUEUE = 8
_GATES = {
    "/v1/search": "search",
    "/v1/search/why": "search",
    "/api/retrieval/batch": "evaluation",
}
_UNGATED = ("/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", "/static", "/events")


class Service:
    """One workspace, served."""

    def __init__(self, config: Configuration, log: FilteringBoundLogger | None = None) -> None:
        self.config = config
        self.settings: ServiceSettings = service_settings(config)
        self.workspace = Workspace(config)
        self.log = log or service_log()
        self.metrics = Metrics()
        self.rates = RateLimiter(self.settings.rate_limit)
        self.stopping = threading.Event()
        self._stack = ExitStack()
        self._stack.callback(self.workspace.close)
        store = KeyStore(config.home / "assay.db")
        self._stack.callback(store.close)
        self.keyring = Keyring(store, loopback=self.settings.loopback)
        self.gates = {
            "search": Gate("search", self.settings.search_slots, self.settings.search_queue),
            "evaluation": Gate("evaluation", self.settings.evaluation_slots, EVALUATION_QUEUE),
            "work": Gate("work", WORK_SLOTS, WORK_QUEUE),
        }

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """For what reads files or computes; the gate of work has as many slots."""
        pool = ThreadPoolExecutor(WORK_SLOTS + 4, thread_name_prefix="work")
        self._stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        return pool

    async def work(self, task: Callable[[], T]) -> T:
        """Do something that would hold up other requests on a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, task)

    def gate(self, path: str) -> Gate | None:
        """Which line a request stands in; None where it is answered at once."""
        if path.startswith(_UNGATED) or path.endswith("/events"):
            return None
        return self.gates[_GATES.get(path, "work")]

    def deadline(self, path: str) -> float:
        """In how many seconds a request must be answered; a stream may last longer."""
        return STREAM_SECONDS if path.endswith("/events") else self.settings.request_seconds

    def account(self, exchange: Exchange) -> None:
        """Count and log the end of a request."""
        route = getattr(exchange.scope.get("route"), "path", None)
        status = f"{exchange.status // 100}xx" if exchange.status else "gone"
        self.metrics.requested(route, status, exchange.seconds)
        caller = exchange.scope.get("assay.caller")
        self.log.info(
            "request",
            request_id=exchange.request_id,
            method=exchange.scope["method"][:16],
            route=route,
            status=exchange.status or None,
            ms=round(1000 * exchange.seconds, 2),
            caller=caller.name if caller else None,
            gone=exchange.disconnected,
        )

    async def start(self) -> None:
        """The server is about to accept requests."""
        self.log.info("started", home=str(self.config.home), open=self.keyring.open)

    async def stop(self) -> None:
        """Every request has been answered."""
        self.log.info("stopped")

    def stop_soon(self) -> None:
        """The end begins: streams should come to theirs."""
        self.stopping.set()

    def close(self) -> None:
        """Let go of every file and thread."""
        self.stopping.set()
        self._stack.close()
