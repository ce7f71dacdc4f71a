"""Are jobs listed and followed without what was uploaded for them?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.errors import ConflictError
from assay.store import jobs as module
from assay.store.jobs import JobState, JobStore

REQUEST = {"documents": [{"doc_id": "d1", "text": "words"}]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    store = JobStore(tmp_path / "assay.db")
    yield store
    store.close()


def test_only_who_does_a_job_reads_its_request(
    store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def loads(text: str) -> Any:
        read.append(text)
        return json.loads(text)

    monkeypatch.setattr(module, "json", SimpleNamespace(dumps=json.dumps, loads=loads))
    made, _ = store.create("j", "ingest", REQUEST, owner="o")
    again, new = store.create("j", "ingest", REQUEST, owner="o")
    assert (again, new) == (made, False)
    assert store.get("j") == made
    assert store.page(10, 0) == ([made], 1)
    assert read == []
    task = store.take()
    assert task is not None
    assert task.request == REQUEST
    assert task.state is JobState.RUNNING
    assert len(read) == 1


def test_a_listing_comes_without_results(store: JobStore) -> None:
    store.create("j", "ingest", REQUEST, owner="o")
    ended = store.end("j", JobState.COMPLETE, result={"written": 1})
    assert ended.result == {"written": 1}
    (listed,), total = store.page(10, 0)
    assert (listed.result, listed.state, total) == (None, JobState.COMPLETE, 1)


def test_a_cancelled_job_starts_again_under_its_id(store: JobStore) -> None:
    store.create("j", "ingest", REQUEST, owner="o", idempotency_key="k", total=2)
    assert store.take() is not None
    store.progress("j", 1, 2)
    store.cancel("j")
    with pytest.raises(ConflictError, match="is being cancelled"):
        store.create("j", "ingest", REQUEST, owner="o", total=2)
    assert store.end("j", JobState.INTERRUPTED).state is JobState.CANCELLED
    with pytest.raises(ConflictError, match="another request"):
        store.create("j", "ingest", {"documents": []}, owner="o", total=0)
    sent_twice, new = store.create("other", "ingest", REQUEST, owner="o", idempotency_key="k")
    assert (sent_twice.job_id, sent_twice.state, new) == ("j", JobState.CANCELLED, False)
    again, new = store.create("j", "ingest", REQUEST, owner="p", total=2)
    assert (again.state, again.owner, again.done, new) == (JobState.QUEUED, "p", 0, True)
    task = store.take()
    assert task is not None
    assert task.request == REQUEST


@pytest.mark.parametrize(
    ("state", "done"), [(JobState.COMPLETE, 5), (JobState.FAILED, 2), (JobState.INTERRUPTED, 2)]
)
def test_a_complete_job_has_done_everything(store: JobStore, state: JobState, done: int) -> None:
    """Also where an equal run had the answer, so that nobody reported progress."""
    store.create("j", "evaluation", REQUEST, owner="o", total=5)
    assert store.take() is not None
    store.progress("j", 2, 5)
    ended = store.end("j", state)
    assert (ended.done, ended.total) == (done, 5)
