"""What do all requests share: the workspace, the gates, the keys, the counters, the log?

A service starts even if its index cannot be opened: it says so at ``/readyz`` and does everything
else.
"""

from __future__ import annotations

import asyncio
import math
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from assay import interrupt, limits
from assay.app import testsets
from assay.app.jobs import EVALUATION, Job, open_jobs
from assay.app.keys import Keys
from assay.app.prometheus import Gauges, QualityCollector
from assay.app.query_log import open_query_log
from assay.app.schedule import ScheduleEntry, Scheduler, parse_schedule
from assay.app.timetable import request_of, timetable
from assay.app.workspace import Workspace
from assay.cache import Cache
from assay.errors import SearchUnavailableError
from assay.http.edge.admission import Gate, RateLimiter, holds_slot, payer
from assay.http.edge.auth import Keyring
from assay.http.edge.exchange import Exchange
from assay.http.edge.logs import LogWriter, service_log
from assay.http.edge.problems import ProblemError
from assay.http.metrics import Metrics
from assay.http.settings import allowed_hosts, public_names, search_slots
from assay.http.warm_up import WarmUp
from assay.http.wire.statistics import MOST_SECONDS, check_cost, too_costly
from assay.http.workers import TooLongError, Workers
from assay.settings import Settings

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from assay.search.response import SearchResponse
    from assay.search.searcher import Searcher

T = TypeVar("T")

STREAM_SECONDS = 3_600.0
WAITING_SHARE = 0.9
"""How much of its deadline a search may spend in line; the rest is for the search."""
WORK_SLOTS, OWN_WORK_SLOTS, WORK_QUEUE = 6, 4, 64
EVALUATION_QUEUE = 8
WORKERS = 3
LONG_S = 0.2
"""What is expected to take more of a core than this is computed in a process of its own."""
COMPUTING_A_MINUTE = 90
"""Seconds of a core that the requests of one key may take in a minute."""
JOB_SLOTS, OWN_JOB_SLOTS, JOB_QUEUE = 16, 12, 16
ANSWER_SLOTS, OWN_ANSWER_SLOTS, ANSWER_QUEUE = 4, 3, 16
UPLOAD_SLOTS, OWN_UPLOAD_SLOTS, UPLOAD_QUEUE = 2, 1, 32
WRONG_KEYS_A_MINUTE = 60
"""How many wrong keys one address may send; then it is told to wait, whatever it sends."""
_GATES = {
    "/v1/search": "search",
    "/v1/search/why": "search",
    "/search": "search",
    "/search/why": "search",
    "/api/retrieval/batch": "evaluation",
    "/v1/score": "evaluation",
    "/v1/classify": "evaluation",
    "/v1/backup": "backup",
    "/v1/answer": "answer",
}
_STARTS_JOBS = frozenset(
    {"/v1/evaluate", "/v1/documents", "/v1/documents/delete", "/v1/files", "/v1/index"}
)
"""Writing to these paths makes a job, for which the request waits at a gate of its own."""
_UNGATED = frozenset({"/healthz", "/readyz", "/metrics", "/ui/style.css"})
_STREAM = re.compile(r"/v1/jobs/[^/]+/events")
"""Not every path that ends so: a document or a query may be called events."""


@dataclass(slots=True)
class _Bill:
    """What a request paid for beforehand, and what other processes took for it."""

    caller: str = ""
    paid: float = 0.0
    elsewhere: float = 0.0

    def charge(self, seconds: float) -> None:
        self.elsewhere += seconds


_bill: ContextVar[_Bill | None] = ContextVar("bill", default=None)


class Service:
    """One workspace, served."""

    def __init__(self, settings: Settings, log: FilteringBoundLogger | None = None) -> None:
        self.settings = settings
        self.allowed_hosts = allowed_hosts(settings)
        self.workspace = Workspace(settings)
        self._writer = None if log else LogWriter(sys.stderr)
        self.log = log or service_log(
            self._writer, level=settings.log_level, form=settings.log_format
        )
        self.metrics = Metrics()
        self.rates = RateLimiter(settings.rate_limit)
        self.wrong_keys = RateLimiter(
            min(settings.rate_limit or WRONG_KEYS_A_MINUTE, WRONG_KEYS_A_MINUTE)
        )
        self.bodies: Counter[str] = Counter()
        self._computing = RateLimiter(COMPUTING_A_MINUTE)
        self.workers = Workers(settings, WORKERS)
        self.stopping = threading.Event()
        self.when_warm: Callable[[], object] = lambda: None
        self._stack = ExitStack()
        self._stack.callback(self.workspace.close)
        self._stack.callback(self.workers.close)
        keys = Keys(self.workspace.layout)
        self._stack.callback(keys.close)
        self.keyring = Keyring(keys, local=not public_names(settings))
        self._query_log = open_query_log(self.workspace)
        self._stack.callback(self._query_log.close)
        self.jobs = open_jobs(
            self.workspace, self.log, busy=self._searches_wait, ended=self._job_ended
        )
        self._stack.callback(self.jobs.close)
        self.metrics.registry.register(QualityCollector(Gauges(self.workspace)))
        self.page_cache: Cache[tuple[str, ...], Any] = Cache(limits.MAX_COMPUTED_PAGES)
        self.streams: Counter[str] = Counter()
        parse_schedule(settings.schedule)  # refused at once if it cannot be read
        self._scheduler = Scheduler(
            lambda: timetable(settings, self.workspace.layout).entries,
            self.start_scheduled,
            self.log,
        )
        self._stack.callback(self._scheduler.close)
        self.warm_up = WarmUp(self.workspace)
        slots = search_slots(settings)
        self.gates = {
            "search": Gate(
                "search",
                slots,
                slots * settings.search_queue,
                WAITING_SHARE * settings.request_seconds,
                shed=True,
            ),
            "evaluation": Gate(
                "evaluation",
                settings.evaluation_slots + 1,  # so that another caller need not wait for the first
                EVALUATION_QUEUE,
                own=settings.evaluation_slots,
            ),
            "work": Gate("work", WORK_SLOTS, WORK_QUEUE, own=OWN_WORK_SLOTS),
            "jobs": Gate("jobs", JOB_SLOTS, JOB_QUEUE, own=OWN_JOB_SLOTS),
            "answer": Gate("answer", ANSWER_SLOTS, ANSWER_QUEUE, own=OWN_ANSWER_SLOTS),
            "uploads": Gate(  # large bodies are held in memory
                "uploads", UPLOAD_SLOTS, UPLOAD_QUEUE, own=OWN_UPLOAD_SLOTS
            ),
            "backup": Gate("backup", 1, 1),  # a slow reader must not hold up other work
        }

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """Threads that read files and compute: more than the gates of work and answers let in."""
        slots = WORK_SLOTS + ANSWER_SLOTS + self.settings.evaluation_slots
        return self._pool(slots + 4, "work")

    @cached_property
    def _probes(self) -> ThreadPoolExecutor:
        """Threads that only probes and metrics use, so that they never wait for work."""
        return self._pool(2, "probe")

    def _pool(self, size: int, name: str) -> ThreadPoolExecutor:
        pool = ThreadPoolExecutor(size, thread_name_prefix=name)
        self._stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        return pool

    async def work(self, task: Callable[[], T]) -> T:
        """Do something on a thread that would otherwise hold up other requests.

        Long computations end early where the deadline has passed, the client is gone, or they have
        taken more of a core than a request may; the slot of the request is free when the thread is.
        What they took is charged to the caller: who is in debt waits.
        """
        given_up, bill = threading.Event(), _Bill(payer.get())
        if bill.caller:
            self.spend(bill.caller, 0.0)

        def run() -> T:
            began, token = time.thread_time(), _bill.set(bill)

            def taken() -> float:
                return time.thread_time() - began

            try:
                with interrupt.until(lambda: given_up.is_set() or taken() > MOST_SECONDS):
                    return task()
            except interrupt.GivenUpError:
                if given_up.is_set():
                    raise
                raise too_costly(taken()) from None
            finally:
                _bill.reset(token)
                self._computing.charge(bill.caller, taken() + bill.elsewhere - bill.paid)

        begun = self._threads.submit(run)
        holds_slot(begun)
        try:
            return await asyncio.wrap_future(begun)
        except asyncio.CancelledError:
            given_up.set()
            raise

    def compute(self, seconds: float, function: Callable[..., T], *given: Any) -> T:
        """Call a function with the workspace: here, or in another process if it takes long.

        For threads of ``work``. ``seconds`` is an estimate of what it takes of a core: it is paid
        beforehand, and refused if it is more than a request may take.
        """
        bill = _bill.get() or _Bill()
        self.spend(bill.caller, check_cost(seconds))
        bill.paid += seconds
        if seconds < LONG_S:
            return function(self.workspace, *given)
        try:
            return self.workers.run(bill.caller, MOST_SECONDS, bill.charge, function, *given)
        except TooLongError:
            raise too_costly(MOST_SECONDS) from None

    async def probe(self, task: Callable[[], T]) -> T:
        """Look at the state of the service, on a thread that no work takes."""
        return await asyncio.get_running_loop().run_in_executor(self._probes, task)

    def spend(self, caller: str, seconds: float) -> None:
        """Take seconds of a core from what a caller may have computed in a minute."""
        wait = self._computing.wait_for(caller, seconds)
        if wait:
            self.metrics.refused("rate")
            after = max(1, math.ceil(wait))
            raise ProblemError(
                429,
                "rate_limited",
                "too much computing for this caller",
                hint=f"ask for fewer resamples, or try again after {after} s",
                headers={"retry-after": str(after)},
            )

    async def search(self, query: str, **options: Any) -> SearchResponse:
        """Search and count it."""
        searcher = await self.searcher()
        try:
            response = await searcher.asearch(query, **options)
        except SearchUnavailableError as error:
            self.metrics.failed(error.component_errors)
            raise
        self.metrics.know_components(searcher.lanes)
        self.metrics.know_intents(searcher.intents)
        self.metrics.searched(response)
        return response

    def log_query(self, response: SearchResponse) -> None:
        """Add a search to the query log, if the settings ask for one."""
        self._query_log.add(response)

    async def searcher(self) -> Searcher:
        """What answers searches; a problem if the index cannot be opened."""
        ready = self.workspace.__dict__.get("searcher")
        if ready is not None:
            return ready  # type: ignore[no-any-return]
        return await asyncio.wrap_future(self.warm_up.begin())

    def gate(self, method: str, path: str) -> Gate | None:
        """The gate that a request passes; None if it is answered at once."""
        if path in _UNGATED or path.startswith("/static/") or _STREAM.fullmatch(path):
            return None
        if _starts_a_job(method, path):
            return self.gates["jobs"]
        return self.gates[_GATES.get(path, "work")]

    def deadline(self, path: str) -> float:
        """The seconds within which a request must be answered; a stream may last longer."""
        long = _STREAM.fullmatch(path) or path == "/v1/backup"
        return STREAM_SECONDS if long else self.settings.request_seconds

    def account(self, exchange: Exchange) -> None:
        """Count and log a request that has ended."""
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
        self.log.info("started", home=str(self.settings.home), open=self.keyring.open)
        self.jobs.start()
        self._scheduler.begin()
        threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

    async def stop(self) -> None:
        """Interrupt jobs and close files, once every request has been answered.

        Nothing can follow: the process then ends by the signal that stopped it.
        """
        await asyncio.to_thread(self.close)
        self.log.info("stopped")
        if self._writer is not None:
            self._writer.close()

    def start_scheduled(self, name: str, entry: ScheduleEntry) -> Job:
        """Enter a scheduled evaluation; entering the same one again changes nothing."""
        found = testsets.load(self.workspace.layout, entry.test_set, lenient=True)
        return self.jobs.submit_evaluation(name, request_of(entry, found), owner="schedule")

    def _searches_wait(self) -> bool:
        return bool(self.gates["search"].waiting)

    def _job_ended(self, job: Job) -> None:
        if job.kind == EVALUATION:
            self.metrics.evaluated(job.state.value)

    def _warm_up(self) -> None:
        """Open the index before the first search needs it."""
        try:
            searcher = self.warm_up.begin().result()
            self.metrics.know_components(searcher.lanes)
            self.metrics.know_intents(searcher.intents)
        except ProblemError as problem:
            self.log.warning("not ready", problem=problem.problem.detail)
        self.when_warm()

    def stop_soon(self) -> None:
        """Announce the stop, so that streams end."""
        self.stopping.set()

    def close(self) -> None:
        """Close every file and end every thread."""
        self.stopping.set()
        self._stack.close()


def _starts_a_job(method: str, path: str) -> bool:
    if method == "DELETE":
        return path.startswith("/v1/documents/")
    return method == "POST" and path in _STARTS_JOBS
