"""How is something asked that may be slow, hang, or fail, without waiting for it too long?

A lane is a small, fixed number of threads with a breaker. A call that is not done at its deadline
is given up: where it still waits it never starts, where it runs it is told to stop and keeps its
thread until it does. So a thousand calls that hang hold no more threads than the lane has, and
nothing piles up behind them. Threads are daemons: one that hangs does not keep the process alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeAlias, TypeVar

from assay import limits
from assay.search.breaker import Breaker

T = TypeVar("T")

Stop: TypeAlias = Callable[[], bool]


class Failure(StrEnum):
    """Why is there no answer, or not a whole one?"""

    TIMEOUT = "timeout"
    ERROR = "error"
    UNAVAILABLE = "unavailable"
    PARTIAL = "partial"  # there is one, of a part of the data


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What became of a call: a value, or a failure and its reason in words."""

    value: T | None = None
    failure: Failure | None = None
    reason: str = ""
    seconds: float = 0.0


class Lane:
    """A few threads for calls of one kind."""

    def __init__(
        self,
        name: str,
        workers: int = limits.COMPONENT_THREADS,
        breaker: Breaker | None = None,
        waiting: int = limits.MAX_WAITING_CALLS,
    ) -> None:
        self.name = name
        self.breaker = breaker or Breaker()
        self._workers = workers
        self._most_waiting = waiting
        self._jobs: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._threads = 0
        self._idle = 0
        self._closed = False

    @property
    def threads(self) -> int:
        """How many threads there are now, busy or not."""
        return self._threads

    async def call(self, work: Callable[[Stop], T], timeout_s: float) -> Outcome[T]:
        """The outcome of ``work``, at the deadline at the latest.

        ``work`` is handed a function that tells whether it may stop, since nobody waits any more.
        """
        started = time.perf_counter()
        if not self.breaker.allows():
            reason = f"{self.name} failed repeatedly and is left alone for a while"
            return Outcome(failure=Failure.UNAVAILABLE, reason=reason)
        job = _Job(work, asyncio.get_running_loop())
        if not self._put(job):
            return Outcome(failure=Failure.UNAVAILABLE, reason=f"{self.name} has too many waiting")
        try:
            await asyncio.wait({job.done}, timeout=timeout_s)
        finally:
            job.abandoned = True
        seconds = time.perf_counter() - started
        if not job.done.done():
            self.breaker.failed()
            reason = f"{self.name} did not answer within {timeout_s * 1000:g} ms"
            return Outcome(failure=Failure.TIMEOUT, reason=reason, seconds=seconds)
        value, problem = job.done.result()
        if problem is not None:
            self.breaker.failed()
            reason = f"{self.name}: {type(problem).__name__}: {problem!s:.200}"
            return Outcome(failure=Failure.ERROR, reason=reason, seconds=seconds)
        self.breaker.succeeded()
        return Outcome(value=value, seconds=seconds)

    def close(self) -> None:
        """Let idle threads go; busy ones end with their call."""
        with self._changed:
            self._closed = True
            self._jobs.clear()
            self._changed.notify_all()

    def wait_closed(self, timeout_s: float) -> bool:
        """Whether all threads have ended, within this time at the latest.

        A process that ends while a thread is inside a model's own code is aborted, so whoever
        closes gives late calls a moment.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self._threads == 0, max(0.0, timeout_s))

    def _put(self, job: _Job) -> bool:
        with self._changed:
            if len(self._jobs) >= self._most_waiting:
                self._jobs = deque(kept for kept in self._jobs if not kept.abandoned)
            if self._closed or len(self._jobs) >= self._most_waiting:
                return False
            self._jobs.append(job)
            if self._idle < len(self._jobs) and self._threads < self._workers:
                self._threads += 1
                name = f"assay-{self.name}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
            self._changed.notify()
            return True

    def _work(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                while not self._jobs and not self._closed:
                    self._changed.wait()
                self._idle -= 1
                if not self._jobs:
                    self._threads -= 1
                    self._changed.notify_all()
                    return
                job = self._jobs.popleft()
            if not job.abandoned:
                job.run()


class _Job:
    """One call on its way through a lane; ``done`` holds its value and its error."""

    def __init__(self, work: Callable[[Stop], Any], loop: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self._loop = loop
        self.done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
        self.abandoned = False

    def run(self) -> None:
        value, problem = None, None
        try:
            value = self._work(lambda: self.abandoned)
        except BaseException as error:  # a lane's thread must outlive whatever it runs
            problem = error
        # where the loop of whoever asked is closed, nobody waits
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, value, problem)

    def _settle(self, value: Any, problem: BaseException | None) -> None:
        if not self.done.done():
            self.done.set_result((value, problem))
