"""Who does the long work, and how does it end well?

Workers of their own take jobs in line, so that evaluations never hold up searches. A job can be
cancelled; at shutdown it is interrupted and goes on when a service starts again. Of several
services over one workspace, one works; the others only enter jobs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, BusyError
from assay.http.edge.problems import internal, of_error
from assay.index.lock import write_lock
from assay.store.jobs import ENDED, ClaimedJob, Job, JobState, JobStore

if TYPE_CHECKING:
    from pathlib import Path

    from structlog.typing import FilteringBoundLogger

LOOK_EVERY_S = 2.0
CANCEL_LOOK_S = 0.5
"""How often running work asks whether somebody, maybe through another service, cancelled it."""
CLOSE_SECONDS = 10.0


class StoppedError(Exception):
    """The work was told to stop."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a piece of work came to."""

    result: Mapping[str, Any]
    run_id: str | None = None


class Control:
    """What running work is given: somewhere to tell how far it is, and whether to go on."""

    def __init__(self, store: JobStore, job_id: str) -> None:
        self._store = store
        self._job_id = job_id
        self.stop = threading.Event()
        self._look_at = 0.0

    def tell(self, done: int, total: int, run_id: str | None = None) -> None:
        """Note the progress; raises ``StoppedError`` where the work should end."""
        self._store.progress(self._job_id, done, total, run_id)
        self.check()

    def check(self) -> None:
        """Raise where the work should end: the service stops, or somebody cancelled the job."""
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + CANCEL_LOOK_S
            if self._store.cancelling(self._job_id):
                self.stop.set()
        if self.stop.is_set():
            raise StoppedError


Perform = Callable[[ClaimedJob, Control], Done]


class Jobs:
    """The workers of one service."""

    def __init__(
        self,
        store: JobStore,
        perform: Perform,
        *,
        lock: Path,
        slots: int,
        log: FilteringBoundLogger,
        ended: Callable[[Job], None] = lambda job: None,
    ) -> None:
        self.store = store
        self._perform = perform
        self._lock = lock
        self._slots = slots
        self._log = log
        self._ended = ended
        self._news = threading.Condition()
        self._closing = False
        self._running: dict[str, Control] = {}
        self._watchers: dict[str, list[Future[Job]]] = {}
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to work, unless another service over this workspace does."""
        keeper = threading.Thread(target=self._keep, name="jobs", daemon=True)
        self._threads.append(keeper)
        keeper.start()

    def close(self) -> None:
        """Interrupt what runs and wait for it, within a deadline."""
        with self._news:
            self._closing = True
            for control in self._running.values():
                control.stop.set()
            self._news.notify_all()
        for thread in self._threads:
            thread.join(CLOSE_SECONDS)
        self.store.close()

    def submit(self, job_id: str, kind: str, request: Mapping[str, Any], **more: Any) -> Job:
        """Enter a job, or find the same one again."""
        job, new = self.store.create(job_id, kind, request, **more)
        if new:
            with self._news:
                self._news.notify_all()
        return job

    def cancel(self, job_id: str) -> Job:
        """End a job: at once where it waits, at its next step where it runs."""
        self.store.cancel(job_id)
        job = self.store.get(job_id)
        if job.state in ENDED:
            self._tell_watchers(job)
        elif self.store.cancelling(job_id):
            with self._news:
                control = self._running.get(job_id)
                if control is not None:
                    control.stop.set()
        return job

    def watch(self, job_id: str) -> Future[Job]:
        """A future that is done when the job has ended."""
        future: Future[Job] = Future()
        with self._news:
            self._watchers.setdefault(job_id, []).append(future)
        job = self.store.get(job_id)
        if job.state in ENDED:
            self._tell_watchers(job)
        return future

    def unwatch(self, job_id: str, future: Future[Job]) -> None:
        """Nobody waits for this future any longer."""
        with self._news:
            waiting = self._watchers.get(job_id, [])
            if future in waiting:
                waiting.remove(future)
            if not waiting:
                self._watchers.pop(job_id, None)

    def _keep(self) -> None:
        """Hold the lock of the workers as long as the service lives."""
        while not self._closing:
            try:
                with write_lock(self._lock):
                    self.store.requeue()
                    workers = [
                        threading.Thread(target=self._work, name=f"job-{number}", daemon=True)
                        for number in range(self._slots)
                    ]
                    for worker in workers:
                        worker.start()
                    for worker in workers:
                        worker.join()
            except BusyError:
                self._wait()
            except AssayError as error:
                self._log.warning("jobs", problem=str(error))
                self._wait()

    def _wait(self) -> None:
        with self._news:
            if not self._closing:
                self._news.wait(LOOK_EVERY_S)

    def _work(self) -> None:
        while not self._closing:
            try:
                job = self.store.take()
            except AssayError as error:
                self._log.warning("jobs", problem=str(error))
                job = None
            if job is None:
                self._wait()
            else:
                self._do(job)

    def _do(self, job: ClaimedJob) -> None:
        control = Control(self.store, job.job_id)
        with self._news:
            self._running[job.job_id] = control
            if self._closing:
                control.stop.set()
        try:
            ended = self._outcome(job, control)
        except AssayError as error:  # the store itself: the job is found again at the next start
            self._log.warning("jobs", job=job.job_id, problem=str(error))
            return
        finally:
            with self._news:
                self._running.pop(job.job_id, None)
        self._log.info("job", job=job.job_id, state=ended.state.value, run=ended.run_id)
        self._ended(ended)
        self._tell_watchers(ended)

    def _outcome(self, job: ClaimedJob, control: Control) -> Job:
        try:
            control.check()
            done = self._perform(job, control)
        except StoppedError:
            return self.store.end(job.job_id, JobState.INTERRUPTED)  # or cancelled, as it is noted
        except AssayError as error:
            problem = of_error(error)
        except Exception as error:
            self._log.exception("job failed", job=job.job_id, exc_info=error)
            problem = internal()
        else:
            return self.store.end(
                job.job_id, JobState.COMPLETE, run_id=done.run_id, result=done.result
            )
        plain = {
            "status": problem.status,
            "code": problem.code,
            "detail": problem.detail,
            "hint": problem.hint,
        }
        return self.store.end(job.job_id, JobState.FAILED, problem=plain)

    def _tell_watchers(self, job: Job) -> None:
        with self._news:
            waiting = self._watchers.pop(job.job_id, [])
        for future in waiting:
            if not future.done():
                future.set_result(job)
