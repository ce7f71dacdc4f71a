"""Does a cancel reach the work, whoever does it and whenever it comes?"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.app.jobs import Control, Done, Jobs
from assay.http.edge.logs import service_log
from assay.store.jobs import ENDED, ClaimedJob, Job, JobState, JobStore
from tests.waiting import eventually

MakeJobs = Callable[[], Jobs]


def endless(job: ClaimedJob, control: Control) -> Done:
    """Work that goes on until it is told to stop."""
    del job
    for _ in range(2_000):
        threading.Event().wait(0.01)
        control.check()
    return Done({})


@pytest.fixture
def make_jobs(tmp_path: Path) -> Iterator[MakeJobs]:
    """The workers of services over one workspace."""
    made: list[Jobs] = []

    def make() -> Jobs:
        one = Jobs(
            JobStore(tmp_path / "assay.db"),
            endless,
            lock=tmp_path / "jobs",
            slots=1,
            log=service_log(io.StringIO()),
        )
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


def wait_for(jobs: Jobs, *states: JobState) -> Job:
    eventually(lambda: jobs.store.get("j").state in states)
    return jobs.store.get("j")


@pytest.mark.slow
def test_a_job_that_another_service_runs_is_cancelled(make_jobs: MakeJobs) -> None:
    worker, other = make_jobs(), make_jobs()
    worker.start()
    other.submit("j", "evaluation", {}, owner="o")
    wait_for(other, JobState.RUNNING)
    assert other.cancel("j").state is JobState.RUNNING  # until the worker has looked
    assert wait_for(other, *ENDED).state is JobState.CANCELLED


def test_a_cancel_between_taking_and_beginning_counts(
    make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = make_jobs()
    plain = jobs.store.take

    def take(kinds: Callable[[str], bool]) -> ClaimedJob | None:
        job = plain(kinds)
        if job is not None:
            jobs.cancel(job.job_id)
        return job

    monkeypatch.setattr(jobs.store, "take", take)
    jobs.submit("j", "evaluation", {}, owner="o")
    jobs.start()
    assert wait_for(jobs, *ENDED).state is JobState.CANCELLED


def test_a_cancelled_job_does_not_come_back_when_its_worker_dies(make_jobs: MakeJobs) -> None:
    first = make_jobs()
    first.submit("j", "evaluation", {}, owner="o")
    assert first.store.take() is not None  # by a process that ends here
    assert first.cancel("j").state is JobState.RUNNING
    make_jobs().start()
    assert wait_for(first, *ENDED).state is JobState.CANCELLED


def test_a_cancelled_job_is_not_interrupted_when_the_service_stops(make_jobs: MakeJobs) -> None:
    jobs = make_jobs()
    jobs.submit("j", "evaluation", {}, owner="o")
    jobs.store.take()
    jobs.store.cancel("j")
    assert jobs.store.end("j", JobState.INTERRUPTED).state is JobState.CANCELLED


def test_what_has_ended_stays_as_it_is(make_jobs: MakeJobs) -> None:
    jobs = make_jobs()
    jobs.submit("j", "evaluation", {}, owner="o")
    jobs.store.take()
    jobs.store.end("j", JobState.COMPLETE, result={})
    assert jobs.cancel("j").state is JobState.COMPLETE
