"""Which jobs were requested, how far is each, and how did it end?

A job is identified by its id. Repeating an id or idempotency key with the same request returns the
existing job; with another request it is an error. Naming the id of a cancelled job starts it again.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    case,
    delete,
    func,
    insert,
    literal_column,
    null,
    select,
    update,
)

from assay import limits
from assay.errors import BusyError, ConflictError, MissingFileError
from assay.model.codec import as_json
from assay.model.moments import now
from assay.plural import counted
from assay.store.database import open_database, paged, writing
from assay.store.schema import jobs

SameRequest: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


class JobState(StrEnum):
    """The state of a job; an interrupted one resumes when a service starts again."""

    QUEUED = "queued"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    COMPLETE = "complete"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({JobState.COMPLETE, JobState.FAILED, JobState.CANCELLED})
_CANCELLING = "cancelling"
"""The state of a row that runs and is to end: whoever works on it looks; to others it runs."""
_ACTIVE = (JobState.QUEUED, JobState.RUNNING, JobState.INTERRUPTED, _CANCELLING)


@dataclass(frozen=True, slots=True)
class Job:
    """One job: how far it is and, once it has ended, what came of it.

    ``about`` says what it is done to, in a few words.
    """

    job_id: str
    kind: str
    state: JobState
    owner: str = field(metadata=as_json(None))
    done: int
    total: int
    run_id: str | None
    result: Mapping[str, Any] | None
    problem: Mapping[str, Any] | None
    created_at: str
    updated_at: str
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedJob(Job):
    """A job with its request, which holds all that is needed to run it, also after a restart."""

    request: Mapping[str, Any]


_RUNNING = JobState.RUNNING.value
_ENTERED: ColumnElement[int] = literal_column("jobs.rowid", Integer)
"""The order in which jobs came: clocks may be put back."""
_NAMES = ("test_set.name", "name", "round_id", "action", "a", "b", "baseline", "current")
"""What of a request says what it is about."""
_REQUEST = case((func.json_valid(jobs.c.request), jobs.c.request), else_="{}")
_ABOUT: tuple[ColumnElement[Any], ...] = (
    func.json_extract(_REQUEST, *(f"$.{name}" for name in _NAMES)).label("names"),
    func.json_array_length(_REQUEST, "$.documents").label("documents"),
    func.json_array_length(_REQUEST, "$.doc_ids").label("doc_ids"),
)
_DAMAGED: Mapping[str, Any] = {
    "code": "corruption",
    "detail": "what is stored of this job was damaged",
    "hint": "assay doctor names the row",
    "status": 500,
}
_SHOWN: tuple[ColumnElement[Any], ...] = (
    *(column for column in jobs.c if column.name not in {"request", "digest"}),
    *_ABOUT,
)
"""Without the request, which can be as large as an upload."""


class JobStore:
    """The jobs of one workspace. When a method returns, its changes are on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = open_database(path)
        self._latest = ""  # the owner of the job that was taken last

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def create(
        self,
        job_id: str,
        kind: str,
        request: Mapping[str, Any],
        *,
        owner: str,
        idempotency_key: str | None = None,
        total: int = 0,
        same: SameRequest | None = None,
        exact: bool = False,
    ) -> tuple[Job, bool]:
        """A job that waits from now on and True; for a repeated request, the known one and False.

        ``same`` says whether a stored request that is written otherwise means this one. ``exact``:
        the id was given by the caller, and an idempotency key does not answer for another one.
        """
        text = json.dumps(request, sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()
        with writing(self._engine) as connection:
            known = _known(connection, job_id, owner, idempotency_key)
            if known is None:
                _refuse_too_many(connection, owner)
                moment = now()
                connection.execute(
                    insert(jobs),
                    {
                        "job_id": job_id,
                        "kind": kind,
                        "state": JobState.QUEUED.value,
                        "request": text,
                        "digest": digest,
                        "owner": owner,
                        "idempotency_key": idempotency_key,
                        "done": 0,
                        "total": total,
                        "created_at": moment,
                        "updated_at": moment,
                    },
                )
                _forget_old(connection)
        if known is None:
            return self.get(job_id), True
        if known.digest != digest and (
            same is None or known.kind != kind or not same(json.loads(known.request), request)
        ):
            raise _other(known.job_id, job_id)
        if exact and known.job_id != job_id:
            raise _other(known.job_id, job_id)
        if known.job_id != job_id:  # an idempotency key: a request sent twice starts nothing
            return _job(known), False
        return self._again(known, owner, total)

    def _again(self, known: Row[Any], owner: str, total: int) -> tuple[Job, bool]:
        """The job, waiting again if it was cancelled; one that is being cancelled is refused."""
        if known.state == _CANCELLING:
            raise ConflictError(
                f"the job {known.job_id} is being cancelled",
                hint="start it again when its state is cancelled",
            )
        if known.state != JobState.CANCELLED.value:
            return _job(known), False
        with writing(self._engine) as connection:
            _refuse_too_many(connection, owner)
            started = connection.execute(
                update(jobs)
                .where(jobs.c.job_id == known.job_id, jobs.c.state == JobState.CANCELLED.value)
                .values(
                    state=JobState.QUEUED.value, owner=owner, done=0, total=total, updated_at=now()
                )
            )
        return self.get(known.job_id), bool(started.rowcount)

    def get(self, job_id: str) -> Job:
        """The job with this id."""
        with self._engine.connect() as connection:
            row = connection.execute(select(*_SHOWN).where(jobs.c.job_id == job_id)).one_or_none()
        if row is None:
            raise MissingFileError(f"there is no job {job_id!r:.140}")
        return _job(row)

    def page(self, limit: int, offset: int) -> tuple[list[Job], int]:
        """Jobs without their results, newest first, and the total number."""
        shown: list[Any] = [column for column in _SHOWN if column is not jobs.c.result]
        shown.append(null().label("result"))
        with self._engine.connect() as connection:
            rows = connection.execute(
                paged(select(*shown).order_by(_ENTERED.desc()), limit, offset)
            ).all()
            total = connection.execute(select(func.count()).select_from(jobs)).scalar_one()
        return [_job(row) for row in rows], total

    def take(self, kinds: Callable[[str], bool] = lambda kind: True) -> ClaimedJob | None:
        """Claim a queued job, which is running from now on; None if none of these kinds is queued.

        It is the oldest of whoever has the fewest running, and did not have the last one.
        """
        with writing(self._engine) as connection:
            running = Counter(
                connection.execute(
                    select(jobs.c.owner).where(jobs.c.state.in_([_RUNNING, _CANCELLING]))
                ).scalars()
            )
            queued = connection.execute(
                select(jobs.c.job_id, jobs.c.kind, jobs.c.owner)
                .where(jobs.c.state == JobState.QUEUED.value)
                .order_by(_ENTERED)
            ).all()
            row = min(
                (row for row in queued if kinds(row.kind)),
                key=lambda row: (running[row.owner], row.owner == self._latest),
                default=None,
            )
            if row is None:
                return None
            _set(connection, row.job_id, state=JobState.RUNNING.value)
            request = connection.execute(
                select(jobs.c.request).where(jobs.c.job_id == row.job_id)
            ).scalar_one()
        self._latest = row.owner
        job = self.get(row.job_id)
        return ClaimedJob(
            **{one.name: getattr(job, one.name) for one in fields(job)},
            request=json.loads(request),
        )

    def progress(self, job_id: str, done: int, total: int, run_id: str | None = None) -> None:
        """Record the progress of a job."""
        with writing(self._engine) as connection:
            extra = {} if run_id is None else {"run_id": run_id}
            _set(connection, job_id, done=done, total=total, **extra)

    def end(
        self,
        job_id: str,
        state: JobState,
        *,
        run_id: str | None = None,
        result: Mapping[str, Any] | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> Job:
        """Record how a job ended, or that it was interrupted or cancelled."""
        with writing(self._engine) as connection:
            if state is JobState.INTERRUPTED and _cancelling(connection, job_id):
                state = JobState.CANCELLED
            values: dict[str, Any] = {"state": state.value}
            if state is JobState.COMPLETE:
                values["done"] = jobs.c.total  # also where an equal run had the answer already
            values |= {} if run_id is None else {"run_id": run_id}
            values |= {} if result is None else {"result": json.dumps(result, allow_nan=False)}
            values |= {} if problem is None else {"problem": json.dumps(problem)}
            _set(connection, job_id, **values)
        return self.get(job_id)

    def cancel(self, job_id: str) -> None:
        """Cancel a queued job at once, and a running one when its worker checks ``cancelling``."""
        waits = [JobState.QUEUED.value, JobState.INTERRUPTED.value]
        changes = ((waits, JobState.CANCELLED.value), ([JobState.RUNNING.value], _CANCELLING))
        with writing(self._engine) as connection:
            for before, after in changes:
                connection.execute(
                    update(jobs)
                    .where(jobs.c.job_id == job_id, jobs.c.state.in_(before))
                    .values(state=after, updated_at=now())
                )

    def resume(self, job_id: str, owner: str) -> Job:
        """Let a job wait again that was cancelled or has failed; any other is refused."""
        ended = [JobState.CANCELLED.value, JobState.FAILED.value]
        with writing(self._engine) as connection:
            _refuse_too_many(connection, owner)
            changed = connection.execute(
                update(jobs)
                .where(jobs.c.job_id == job_id, jobs.c.state.in_(ended))
                .values(state=JobState.QUEUED.value, problem=None, updated_at=now())
            )
        job = self.get(job_id)
        if not changed.rowcount:
            raise ConflictError(
                f"the job {job_id} is {job.state}", hint="only what was cancelled or failed goes on"
            )
        return job

    def cancelling(self, job_id: str) -> bool:
        """Whether a running job is to be cancelled, whichever process requested it."""
        with self._engine.connect() as connection:
            return _cancelling(connection, job_id)

    def requeue(self) -> int:
        """Queue jobs again that were interrupted by a signal or a crash; returns how many.

        Jobs that were being cancelled when their worker died count as cancelled.
        """
        with writing(self._engine) as connection:
            connection.execute(
                update(jobs)
                .where(jobs.c.state == _CANCELLING)
                .values(state=JobState.CANCELLED.value, updated_at=now())
            )
            changed = connection.execute(
                update(jobs)
                .where(jobs.c.state.in_([JobState.RUNNING.value, JobState.INTERRUPTED.value]))
                .values(state=JobState.QUEUED.value, updated_at=now())
            )
        return changed.rowcount


def _known(
    connection: Connection, job_id: str, owner: str, idempotency_key: str | None
) -> Row[Any] | None:
    same = jobs.c.job_id == job_id
    if idempotency_key is not None:
        same |= (jobs.c.owner == owner) & (jobs.c.idempotency_key == idempotency_key)
    return connection.execute(select(jobs, *_ABOUT).where(same).limit(1)).one_or_none()


def _other(known: str, asked: str) -> ConflictError:
    what = f"the id {asked}" if known == asked else "the Idempotency-Key"
    return ConflictError(
        f"{what} stands for another request already", hint="use another one for other work"
    )


def _refuse_too_many(connection: Connection, owner: str) -> None:
    active = connection.execute(select(jobs.c.owner).where(jobs.c.state.in_(_ACTIVE))).scalars()
    owners = Counter(active)
    waiting = owners[owner]
    if waiting >= limits.MAX_WAITING_JOBS or owners.total() >= 10 * limits.MAX_WAITING_JOBS:
        raise BusyError(
            f"{counted(waiting, 'job', 'waits')} already", hint="try again when some have ended"
        )


def _forget_old(connection: Connection) -> None:
    ended = jobs.c.state.in_([state.value for state in ENDED])
    oldest = (
        select(jobs.c.job_id)
        .where(ended)
        .order_by(_ENTERED.desc())
        .limit(-1)
        .offset(limits.MAX_KEPT_JOBS)
    )
    connection.execute(delete(jobs).where(jobs.c.job_id.in_(oldest)))


def _cancelling(connection: Connection, job_id: str) -> bool:
    state = connection.execute(select(jobs.c.state).where(jobs.c.job_id == job_id)).scalar()
    return state == _CANCELLING


def _set(connection: Connection, job_id: str, **values: Any) -> None:
    connection.execute(
        update(jobs).where(jobs.c.job_id == job_id).values(updated_at=now(), **values)
    )


def _job(row: Row[Any]) -> Job:
    return Job(
        job_id=row.job_id,
        kind=row.kind,
        state=JobState.RUNNING if row.state == _CANCELLING else JobState(row.state),
        owner=row.owner,
        done=row.done,
        total=row.total,
        run_id=row.run_id,
        result=_object(row.result),
        problem=_object(row.problem),
        created_at=row.created_at,
        updated_at=row.updated_at,
        about=_about(row),
    )


def _object(text: str | None) -> Mapping[str, Any] | None:
    """An object as it was written; what is none hides no other job, and doctor names its row."""
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return _DAMAGED
    return found if isinstance(found, dict) else _DAMAGED


def _about(row: Row[Any]) -> str:
    """What a job is done to: names, or how many documents."""
    count = row.documents if row.documents is not None else row.doc_ids
    if count is not None:
        return counted(count, "document")
    return " · ".join(str(name) for name in json.loads(row.names or "[]") if name)
