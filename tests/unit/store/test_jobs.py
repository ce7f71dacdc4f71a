"""Are jobs listed and followed without what was uploaded for them?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

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
