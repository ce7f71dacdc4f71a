"""How is a call cut off that may block for ever?

A thread cannot be stopped from outside. So the work is done in a thread of its own, which makes one
call after the other; when a call is late, the caller goes on without it and the next call gets
another thread. The late one is left behind until its call returns, and does not keep the process
alive. At most ``MAX_ABANDONED_CALLS`` are left behind: after that, calls are refused at once.

Each thread waits for coroutines in an event loop of its own. Where several threads call the same
client at the same time, they need one loop: a client's connections belong to the loop that made
them (``shared_loop``).

Some code works only in the thread that made it (a connection of ``sqlite3``). Python says so when
it is called (``THREAD_BOUND``), and it is then called in the caller's thread, without a limit.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import sqlite3
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

from assay import limits

log = logging.getLogger("assay.time_limit")

T = TypeVar("T")
Resolve: TypeAlias = Callable[[Any], Any]
"""Waits for what it is given where that is a coroutine, and gives back anything else."""

THREAD_BOUND: Mapping[type[Exception], str] = {
    sqlite3.ProgrammingError: "can only be used in that same thread",
    ValueError: "signal only works in main thread",
}
"""What Python says to code that was called in a thread other than its own."""
CANCEL_S = 1.0  # time that a coroutine gets to end once it is cancelled


class TimeLimit:
    """Calls work that gets ``seconds``; see the module's docstring. Threads may share one."""

    def __init__(self, seconds: float, *, shared_loop: bool = False) -> None:
        self.seconds = seconds
        self._shared = _SharedLoop() if shared_loop else None
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._abandoned: list[_Worker] = []
        self._here = False

    def call(self, work: Callable[[Resolve], T]) -> T:
        """What ``work`` returns or raises; ``TimeoutError`` where it is late.

        ``work`` gets a function that waits for coroutines.
        """
        if self._here:
            return run_here(work)
        worker = self._taken()
        try:
            result = worker.call(work)
        except _LateError:
            worker.end()
            with self._lock:
                self._abandoned.append(worker)
            if self._shared is not None and worker.awaiting:
                self._shared.leave()  # a coroutine blocks it
            raise TimeoutError(f"no answer within {self.seconds:g} s") from None
        except BaseException as problem:
            if not worker.busy:  # Ctrl-C may come while it still works
                self._give_back(worker)
            if not _belongs_to_its_thread(problem):
                raise
            log.warning("%s: it is called here from now on, and not cut off", problem)
            self._here = True
            return run_here(work)
        self._give_back(worker)
        return result

    def _taken(self) -> _Worker:
        """A thread that has nothing to do."""
        with self._lock:
            self._abandoned = [one for one in self._abandoned if one.is_alive()]
            if len(self._abandoned) >= limits.MAX_ABANDONED_CALLS:
                raise TimeoutError(
                    f"not called: {len(self._abandoned)} earlier calls got {self.seconds:g} s "
                    "each and have not returned yet"
                )
            if self._idle:
                return self._idle.pop()
        worker = _Worker(self.seconds, self._shared)
        weakref.finalize(self, worker.end).atexit = False
        return worker

    def _give_back(self, worker: _Worker) -> None:
        with self._lock:
            self._idle.append(worker)

    def close(self) -> None:
        """End the threads that have nothing to do."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()
        if self._shared is not None:
            self._shared.leave()

    def __enter__(self) -> TimeLimit:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _belongs_to_its_thread(problem: BaseException | None) -> bool:
    """Whether this error, or one that it was raised from, says so."""
    seen: set[int] = set()
    while problem is not None and id(problem) not in seen:
        if any(
            isinstance(problem, kind) and said in str(problem)
            for kind, said in THREAD_BOUND.items()
        ):
            return True
        seen.add(id(problem))
        problem = problem.__cause__ or problem.__context__
    return False


def run_here(work: Callable[[Resolve], T]) -> T:
    """The same in the caller's thread, without a limit."""
    return work(_resolve_here)


def _resolve_here(value: Any) -> Any:
    if not inspect.isawaitable(value):
        return value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(value))
    with TimeLimit(threading.TIMEOUT_MAX) as aside:  # this thread runs a loop, as in notebooks
        return aside.call(lambda resolve: resolve(value))


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


class _LateError(Exception):
    """The call has not returned."""


class _SharedLoop:
    """An event loop in a thread of its own, made when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for a coroutine that runs among those of other threads."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_serve, args=(self._loop,), name="assay-loop", daemon=True
                ).start()
            loop = self._loop
        try:
            return asyncio.run_coroutine_threadsafe(work, loop).result()
        finally:
            work.close()

    def leave(self) -> None:
        """Let the loop end, with what still runs in it; the next coroutine gets a new one."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    left = asyncio.all_tasks(loop)
    for one in left:
        one.cancel()
    loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


class _Worker:
    """One thread that makes one call after the other; coroutines share its event loop."""

    def __init__(self, seconds: float, shared: _SharedLoop | None = None) -> None:
        self._seconds = seconds
        self._shared = shared
        self._jobs: SimpleQueue[tuple[Callable[[Resolve], Any], Future[Any]] | None] = SimpleQueue()
        self.awaiting = False
        self.busy = False
        self._thread = threading.Thread(target=self._run, name="assay-call", daemon=True)
        self._thread.start()

    def call(self, work: Callable[[Resolve], T]) -> T:
        done: Future[T] = Future()
        self.busy = True
        self._jobs.put((work, done))
        try:
            return done.result(self._seconds)
        except TimeoutError:
            if done.done():  # the work's own, or it ended this very moment
                return done.result()
        if self.awaiting:  # it is being cancelled, and its loop can be used again
            try:
                return done.result(CANCEL_S)
            except TimeoutError:
                if done.done():
                    return done.result()
        raise _LateError

    def end(self) -> None:
        self._jobs.put(None)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        with asyncio.Runner() as loop:
            while (job := self._jobs.get()) is not None:
                work, done = job
                try:
                    value = work(lambda value: self._resolve(value, loop))
                except BaseException as problem:  # belongs to whoever waits, whatever it is
                    self.busy = False
                    done.set_exception(problem)
                else:
                    self.busy = False
                    done.set_result(value)
                    del value
                del job, work, done  # nothing is kept alive while the thread waits

    def _resolve(self, value: Any, loop: asyncio.Runner) -> Any:
        if not inspect.isawaitable(value):
            return value
        self.awaiting = True
        try:
            if self._shared is None:
                return loop.run(self._within(value))
            return self._shared.run(self._within(value))
        finally:
            self.awaiting = False
            if inspect.iscoroutine(value):
                value.close()  # where its loop ended before it began

    async def _within(self, value: Awaitable[Any]) -> Any:
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                return await value
        except TimeoutError:
            if limit.expired():
                raise TimeoutError(f"no answer within {self._seconds:g} s") from None
            raise
