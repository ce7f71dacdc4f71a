"""Who does the long work, how is each kind of it done, and how does it end well?

Workers of their own take jobs in line, so that evaluations never hold up searches. A job can be
cancelled; at shutdown it is interrupted and goes on when a service starts again. Of several
services over one workspace, one works; the others only enter jobs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app import comparison, corpus, first_set, gate, index, pool
from assay.app.engine import Progress
from assay.app.evaluation import evaluate
from assay.app.evaluation_request import EvaluationRequest, same_request
from assay.app.workspace import Workspace
from assay.errors import AssayError, BusyError
from assay.index.lock import write_lock
from assay.model.codec import decode, encode
from assay.store.jobs import ENDED, ClaimedJob, Job, JobState, JobStore, SameRequest

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

__all__ = [
    "AB",
    "ENDED",
    "EVALUATION",
    "FIRST_ROUND",
    "GATE",
    "ROUND",
    "ClaimedJob",
    "Control",
    "Done",
    "Job",
    "JobState",
    "Jobs",
    "open_jobs",
    "perform",
    "problem_of",
]

EVALUATION = "evaluation"
AB = "ab"
GATE = "gate"
ROUND = "round"
FIRST_ROUND = "first-round"
LOOK_EVERY_S = 2.0
CANCEL_LOOK_S = 0.5
"""How often running work asks whether somebody, maybe through another service, cancelled it."""
REPORT_EVERY_S = 0.2
"""How often running work says how far it is: each time is a commit."""
POLITE_SECONDS = 0.25
"""How long a query of an evaluation lets searches of people go first."""
CLOSE_SECONDS = 10.0


class StoppedError(Exception):
    """The work was told to stop."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a piece of work came to."""

    result: Mapping[str, Any]
    run_id: str | None = None


class Control:
    """What running work is given: somewhere to report how far it is, and whether to go on."""

    def __init__(self, store: JobStore, job_id: str) -> None:
        self._store = store
        self._job_id = job_id
        self.stop = threading.Event()
        self._look_at = 0.0
        self._report_at = 0.0

    def report(self, done: int, total: int) -> None:
        """Note the progress now and then; raises ``StoppedError`` where the work should end."""
        now = time.monotonic()
        if now >= self._report_at or done == total:
            self._report_at = now + REPORT_EVERY_S
            self._store.progress(self._job_id, done, total)
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


def open_jobs(
    workspace: Workspace,
    log: FilteringBoundLogger,
    *,
    busy: Callable[[], bool],
    ended: Callable[[Job], None],
) -> Jobs:
    """The jobs of a workspace; ``busy`` says whether people wait for searches."""
    return Jobs(
        JobStore(workspace.layout.database),
        lambda job, control: perform(workspace, job, control, busy),
        lock=workspace.layout.jobs_lock,
        slots=workspace.settings.evaluation_slots,
        log=log,
        ended=ended,
        same=lambda stored, request: same_request(workspace.settings, stored, request),
    )


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
        same: SameRequest | None = None,
    ) -> None:
        self.store = store
        self._perform = perform
        self._lock = lock
        self._slots = slots
        self._log = log
        self._ended = ended
        self._same = same
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

    def submit_evaluation(
        self,
        job_id: str,
        request: EvaluationRequest,
        *,
        owner: str,
        idempotency_key: str | None = None,
    ) -> Job:
        """Enter an evaluation, whose test set is a value: names may mean another one later."""
        assert request.test_set is not None
        return self.submit(
            job_id,
            EVALUATION,
            encode(request),
            owner=owner,
            idempotency_key=idempotency_key,
            total=len(request.test_set.queries),
            same=self._same,
            exact=request.run_id is not None,
        )

    def submit(self, job_id: str, kind: str, request: Mapping[str, Any], **more: Any) -> Job:
        """Enter a job, or find the same one again."""
        job, new = self.store.create(job_id, kind, request, **more)
        if new:
            with self._news:
                self._news.notify_all()
        return job

    def get(self, job_id: str) -> Job:
        """The job with this id."""
        return self.store.get(job_id)

    def page(self, limit: int, offset: int) -> tuple[list[Job], int]:
        """Jobs without their results, newest first, and how many there are in all."""
        return self.store.page(limit, offset)

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

    def resume(self, job_id: str, *, owner: str) -> Job:
        """Go on with a job that was cancelled or has failed; what it did so far stays."""
        job = self.store.resume(job_id, owner)
        with self._news:
            self._news.notify_all()
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
                    kinds = [*[_computes] * self._slots, _writes]
                    workers = [
                        threading.Thread(
                            target=self._work, args=(kind,), name=f"job-{number}", daemon=True
                        )
                        for number, kind in enumerate(kinds)
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

    def _work(self, kinds: Callable[[str], bool]) -> None:
        while not self._closing:
            try:
                job = self.store.take(kinds)
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
            problem = problem_of(error)
        except Exception as error:
            self._log.exception("job failed", job=job.job_id, exc_info=error)
            problem = problem_of(_DEFECT)
        else:
            return self.store.end(
                job.job_id, JobState.COMPLETE, run_id=done.run_id, result=done.result
            )
        return self.store.end(job.job_id, JobState.FAILED, problem=problem)

    def _tell_watchers(self, job: Job) -> None:
        with self._news:
            waiting = self._watchers.pop(job.job_id, [])
        for future in waiting:
            if not future.done():
                future.set_result(job)


# What each kind of job does


def perform(
    workspace: Workspace, job: ClaimedJob, control: Control, busy: Callable[[], bool]
) -> Done:
    """Do a job, whatever its kind; ``busy`` says whether people wait for searches."""
    if job.kind == EVALUATION:
        return _evaluate(workspace, job, control, busy)
    written = _VERBS[job.kind](
        workspace, job.request, lambda stage, done, total: control.report(done, total)
    )
    workspace.searcher.refresh()  # so that the next search sees it
    return Done(encode(written))


def _evaluate(
    workspace: Workspace, job: ClaimedJob, control: Control, busy: Callable[[], bool]
) -> Done:
    """Evaluate, or go on with an evaluation that was interrupted."""
    request = replace(decode(EvaluationRequest, job.request), run_id=job.job_id)
    made = evaluate(
        workspace,
        request,
        lambda step: control.report(step.done, step.total),
        lambda: _give_way(busy),
    )
    run_id = made.runs[0].info.run_id
    result = made.to_dict(per_query=request.per_query)
    return Done({**result, "evaluation_id": job.job_id}, run_id)


def _give_way(busy: Callable[[], bool]) -> None:
    """Let people go first; within a deadline, since an evaluation must end, too."""
    until = time.monotonic() + POLITE_SECONDS
    while busy() and time.monotonic() < until:
        time.sleep(0.005)


def _ingest(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    return corpus.add(
        workspace,
        request["documents"],
        profile=request["profile"],
        keep_going=request.get("keep_going", False),  # jobs of older versions have none
        progress=progress,
    )


def _file(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    return corpus.ingest_upload(workspace, request["file"], progress=progress)


def _delete(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    return corpus.remove_documents(workspace, request["doc_ids"], progress)


def _index(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    return index.write_index(workspace, request["action"], progress)


def _ab(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    asked = decode(comparison.AbRequest, request)
    return comparison.ab(workspace, asked, progress=progress).result.to_dict()


def _gate(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    return gate.gate(workspace, decode(gate.GateRequest, request), progress).to_dict()


def _round(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    asked = decode(pool.RoundRequest, request)
    return _opened(pool.pool_requested(workspace, asked, progress))


def _first_round(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    return _opened(first_set.new(workspace, decode(first_set.NewSet, request), progress))


def _opened(made: pool.PassagePool) -> dict[str, Any]:
    """The round that was opened, without its passages."""
    return {name: value for name, value in made.to_dict().items() if name != "items"}


Verb = Callable[[Workspace, Mapping[str, Any], Progress], object]
_VERBS: Mapping[str, Verb] = {
    "ingest": _ingest,
    "file": _file,
    "delete": _delete,
    "index": _index,
    AB: _ab,
    GATE: _gate,
    ROUND: _round,
    FIRST_ROUND: _first_round,
}


_WRITES = frozenset({"ingest", "file", "delete", "index"})


def _writes(kind: str) -> bool:
    """Whether a job changes the corpus: one worker does these, one after the other."""
    return kind in _WRITES


def _computes(kind: str) -> bool:
    """Whether a job only reads, however long."""
    return kind not in _WRITES


# How a job fails

_DEFECT = AssayError("the service failed unexpectedly", hint="report the request_id")


def problem_of(error: AssayError) -> dict[str, Any]:
    """What is kept of an error, for whoever asks for the job."""
    return {
        "status": error.http_status,
        "code": error.code,
        "detail": error.public_message,
        "hint": error.hint,
    }
