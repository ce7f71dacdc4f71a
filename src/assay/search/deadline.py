"""How is something called that may be slow, hang, or fail, without waiting too long?

A lane is a small, fixed number of threads with a circuit breaker. A call that is not done by its
deadline is abandoned: if it is still queued it never starts; if it is running it is asked to stop
and keeps its thread until it does. So a thousand calls that hang hold no more threads than the lane
has, and nothing piles up behind them. Threads are daemons: one that hangs does not keep the process
alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from queue import Empty, SimpleQueue
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
    PARTIAL = "partial"  # there is an answer, for part of the data


@dataclass(frozen=True, slots=True)
class CallResult(Generic[T]):
    """The result of a call: a value, or a failure and its reason."""

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
        self._jobs: deque[Call[Any]] = deque()
        self._changed = threading.Condition()
        self._threads = 0
        self._idle = 0
        self._closed = False

    @property
    def threads(self) -> int:
        """The current number of threads, busy or idle."""
        return self._threads

    async def call(self, work: Callable[[Stop], T], timeout_s: float) -> CallResult[T]:
        """The result of ``work``, by the deadline at the latest.

        ``work`` is passed a function that says whether it should stop because nobody is waiting.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def settled(_: Call[T]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is waiting
                loop.call_soon_threadsafe(_finish, done)

        job = self.begin(work, settled)
        if isinstance(job, CallResult):
            return job
        try:
            await asyncio.wait({done}, timeout=timeout_s)
        finally:
            job.abandoned = True
        return self.end(job, timeout_s)

    def begin(
        self, work: Callable[[Stop], T], settled: Callable[[Call[T]], None]
    ) -> Call[T] | CallResult[T]:
        """Start a call, or say why not; ``settled`` runs in the lane's thread when it ends."""
        if not self.breaker.allows():
            reason = f"{self.name} failed repeatedly and is skipped for a while"
            return CallResult(failure=Failure.UNAVAILABLE, reason=reason)
        job = Call(work, settled)
        if not self._put(job):
            why = "was closed" if self._closed else "has too many waiting"
            return CallResult(failure=Failure.UNAVAILABLE, reason=f"{self.name} {why}")
        return job

    def end(self, job: Call[T], timeout_s: float) -> CallResult[T]:
        """The result of a call that has ended, or that is abandoned now."""
        if job.ended is None:
            self.breaker.failed()
            reason = f"{self.name} did not answer within {timeout_s * 1000:g} ms"
            seconds = time.perf_counter() - job.started
            return CallResult(failure=Failure.TIMEOUT, reason=reason, seconds=seconds)
        seconds = job.ended - job.started
        if job.dropped:
            return CallResult(failure=Failure.UNAVAILABLE, reason=f"{self.name} was closed")
        if job.problem is not None:
            self.breaker.failed()
            reason = f"{self.name}: {type(job.problem).__name__}: {job.problem!s:.200}"
            return CallResult(failure=Failure.ERROR, reason=reason, seconds=seconds)
        self.breaker.succeeded()
        return CallResult(value=job.value, seconds=seconds)

    def close(self) -> None:
        """End idle threads now and busy ones after their call; queued calls are dropped."""
        with self._changed:
            self._closed = True
            dropped = [*self._jobs]
            self._jobs.clear()
            self._changed.notify_all()
        for job in dropped:
            job.drop()

    def wait_closed(self, timeout_s: float) -> bool:
        """Wait up to this long for all threads to end; returns whether they have.

        A process that exits while a thread is inside a model's native code is aborted, so closing
        gives late calls a moment.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self._threads == 0, max(0.0, timeout_s))

    def _put(self, job: Call[Any]) -> bool:
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


def begin_all(
    calls: Mapping[str, tuple[Lane, Callable[[Stop], T], float]],
) -> Callable[[], dict[str, CallResult[T]]]:
    """Start calls in several lanes at once, for a caller that is a thread.

    What is returned waits for their results. Each has seconds of its own; one that ends while
    others are waited for is not late.
    """
    started = time.monotonic()
    settled: SimpleQueue[Call[T]] = SimpleQueue()
    begun = {name: lane.begin(work, settled.put) for name, (lane, work, _) in calls.items()}

    def ended() -> dict[str, CallResult[T]]:
        left = {job: calls[name][2] for name, job in begun.items() if isinstance(job, Call)}
        jobs = [*left]
        try:
            while left:
                wait = started + max(left.values()) - time.monotonic()
                del left[settled.get(timeout=max(0.0, wait))]
        except Empty:
            pass
        finally:
            for job in jobs:
                job.abandoned = True
        return {
            name: calls[name][0].end(job, calls[name][2]) if isinstance(job, Call) else job
            for name, job in begun.items()
        }

    return ended


class Call(Generic[T]):
    """One call in a lane; it has a value or a problem once it has ended."""

    def __init__(self, work: Callable[[Stop], T], settled: Callable[[Call[T]], None]) -> None:
        self._work = work
        self._settled = settled
        self.started = time.perf_counter()
        self.ended: float | None = None
        self.value: T | None = None
        self.problem: BaseException | None = None
        self.abandoned = False
        self.dropped = False

    def drop(self) -> None:
        """Never start the call, and notify the waiter."""
        self.dropped = True
        self.ended = time.perf_counter()
        self._settled(self)

    def run(self) -> None:
        """Run the call, and notify the waiter."""
        try:
            self.value = self._work(lambda: self.abandoned)
        except BaseException as error:  # a lane's thread must survive whatever it runs
            self.problem = error
        self.ended = time.perf_counter()
        self._settled(self)


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
