"""Where is something computed that takes long, so that it can be ended at any moment?

In processes of their own, which give way to searches and probes. A thread cannot be ended from
outside. A process can: when its client has left, its deadline has passed, or it has taken more of a
core than a request may. Each opens the workspace for itself, and is sent a function of a module
with its arguments; ``main`` is such a process. See design/082.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from types import MappingProxyType
from typing import Any, TypeVar

from assay import interrupt
from assay.app.workspace import Workspace
from assay.errors import AssayError
from assay.http.edge.problems import ProblemError
from assay.settings import Settings

T = TypeVar("T")

LOOK_S = 0.02
"""How often a waiting thread checks whether its client is still there."""
IDLE_S = 120.0
"""A process that was asked nothing for so long ends."""
MOST_KB = 400_000
"""A process whose peak of memory has grown by more than this ends after its answer."""
NICENESS = 5
PROGRAM = "from assay.http.workers import main; main()"


def _read_only(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)


# settings and values have such mappings, which cannot be sent by themselves
ForkingPickler.register(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))


class TooLongError(Exception):
    """A computation was ended because it took more of a core than it may."""


class _LeftError(ProblemError):
    """The process had ended by itself before it was asked."""


class Worker:
    """One process, seen from the service."""

    def __init__(self, settings: Settings) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-c", PROGRAM, str(theirs.fileno())]
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._pipe = Connection(ours.detach())
        self._pipe.send(settings)
        self._ending = threading.Lock()
        self._before = 0.0
        self.taken = 0.0

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not been ended."""
        return self._process.returncode is None

    def ask(self, most: float, function: Callable[..., T], given: tuple[Any, ...]) -> T:
        """What the function returns or raises; the process is ended if nobody waits any longer."""
        self.taken = 0.0
        try:
            self._pipe.send((most, function, given))
            while not self._pipe.poll(LOOK_S):
                interrupt.check()
            value, problem, used = self._pipe.recv()
        except (EOFError, ConnectionError):
            raise self._why_gone() from None
        except BaseException:
            self.end()
            raise
        self.taken, self._before = used - self._before, used
        if problem is not None:
            raise problem
        return value  # type: ignore[no-any-return]

    def kill(self) -> None:
        """End the process; whoever asked it gets a refusal."""
        with self._ending:
            if self.alive:
                os.kill(self.pid, signal.SIGKILL)

    def end(self) -> int:
        """End the process if it has not ended, and say how it did."""
        with self._ending:
            if self._process.returncode is None:
                os.kill(self.pid, signal.SIGKILL)
                _, status, usage = os.wait4(self.pid, 0)  # which says what it took, too
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self.taken = usage.ru_utime + usage.ru_stime - self._before
                self._pipe.close()
            return self._process.returncode

    def _why_gone(self) -> Exception:
        # its side of the pipe is closed: it has ended, or does so now
        os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        code = self.end()
        if code == -signal.SIGXCPU:
            return TooLongError()
        kind = ProblemError if code else _LeftError
        return kind(
            503,
            "computation_ended",
            "the process that computed this ended unexpectedly",
            hint="try again; if it happens again, ask for less",
        )


class Workers:
    """A few processes. Where there are several, one caller never has all of them."""

    def __init__(self, settings: Settings, most: int) -> None:
        self._settings, self._most = settings, most
        self._changed = threading.Condition()
        self._inside: Counter[str] = Counter()
        self._idle: list[Worker] = []
        self._every: set[Worker] = set()
        self._closed = False

    @property
    def pids(self) -> frozenset[int]:
        """The processes there are, busy or idle."""
        with self._changed:
            return frozenset(worker.pid for worker in self._every)

    def run(
        self,
        caller: str,
        most: float,
        charge: Callable[[float], None],
        function: Callable[..., T],
        *given: Any,
    ) -> T:
        """Call a function with the workspace and these arguments, in another process.

        It may take ``most`` seconds of a core. ``charge`` is told what it took, however it ended.
        """
        self._enter(caller)
        try:
            try:
                return self._asked(most, charge, function, given)
            except _LeftError:  # it had been idle for too long
                return self._asked(most, charge, function, given)
        finally:
            self._leave(caller)

    def _asked(
        self,
        most: float,
        charge: Callable[[float], None],
        function: Callable[..., T],
        given: tuple[Any, ...],
    ) -> T:
        worker = self._take()
        try:
            return worker.ask(most, function, given)
        finally:
            charge(worker.taken)
            self._put_back(worker)

    def close(self) -> None:
        """End every process."""
        with self._changed:
            self._closed = True
            idle, busy = self._idle, self._every.difference(self._idle)
            self._idle, self._every = [], busy
            self._changed.notify_all()
        for worker in busy:
            worker.kill()
        for worker in idle:
            worker.end()

    def _enter(self, caller: str) -> None:
        own = max(1, self._most - 1)
        with self._changed:
            while self._inside[caller] >= own or self._inside.total() >= self._most:
                self._changed.wait(LOOK_S)
                interrupt.check()
            self._inside[caller] += 1

    def _leave(self, caller: str) -> None:
        with self._changed:
            self._inside[caller] -= 1
            if not self._inside[caller]:
                del self._inside[caller]
            self._changed.notify_all()

    def _take(self) -> Worker:
        with self._changed:
            if self._closed:
                raise interrupt.GivenUpError
            if self._idle:
                return self._idle.pop()
        worker = Worker(self._settings)
        with self._changed:
            self._every.add(worker)
        return worker

    def _put_back(self, worker: Worker) -> None:
        with self._changed:
            if worker.alive and not self._closed:
                self._idle.append(worker)
                return
            self._every.discard(worker)
        worker.end()


def main() -> None:
    """Answer what comes through the pipe until it is closed, or nothing has come for a while."""
    pipe = Connection(int(sys.argv[1]))
    for number in (signal.SIGINT, signal.SIGTERM):  # the service decides when this one ends
        signal.signal(number, signal.SIG_IGN)
    os.nice(NICENESS)
    try:
        at_start = _peak_kb()
        with Workspace(pipe.recv()) as workspace:
            while pipe.poll(IDLE_S):
                pipe.send((*_answer(workspace, *pipe.recv()), time.process_time()))
                if _peak_kb() > at_start + MOST_KB:
                    return
    except (EOFError, ConnectionError):
        return  # the service has ended


def _peak_kb() -> int:
    """The peak of memory; a new process inherits that of the process that started it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _answer(
    workspace: Workspace, most: float, function: Callable[..., Any], given: tuple[Any, ...]
) -> tuple[Any, Exception | None]:
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    limit = math.ceil(time.process_time() + most)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
    try:
        return function(workspace, *given), None
    except Exception as problem:
        if not isinstance(problem, AssayError):
            problem.add_note(traceback.format_exc())  # the log of the service shows it
        return None, problem
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
