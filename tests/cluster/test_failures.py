"""A node dies, as by a power cut: is anything lost, does search go on, is what is missing named?

Run with ``-rP`` to see the figures.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.errors import EngineError
from assay.ingest import read_corpus
from assay.opensearch import bulk as loading
from assay.opensearch import cluster as clusters
from tests.cluster.nodes import ClusterProcesses
from tests.cluster.test_workspace import CORPUS, PARTS, filled, opened

BEFORE_S, AFTER_S = 1.0, 6.0
ROWS = 40


@pytest.fixture
def whole(nodes: ClusterProcesses) -> Iterator[ClusterProcesses]:
    """The cluster; every node is back afterwards, whatever happened."""
    yield nodes
    for at, process in nodes.processes.items():
        if process.poll() is not None:
            nodes.start(at)
    nodes.wait(nodes=3)


def manager(nodes: ClusterProcesses) -> int:
    """Which node leads the cluster."""
    url = f"{nodes.urls[0]}/_cat/cluster_manager?format=json"
    with urllib.request.urlopen(url, timeout=30) as answer:
        name = json.load(answer)[0]["node"]
    return int(name.removeprefix("node"))


def holder(nodes: ClusterProcesses, index: str) -> int:
    """A node that has a shard of this index and does not lead the cluster."""
    url = f"{nodes.urls[0]}/_cat/shards/{index}?format=json"
    with urllib.request.urlopen(url, timeout=30) as answer:
        found = {int(row["node"].removeprefix("node")) for row in json.load(answer) if row["node"]}
    return min(found - {manager(nodes)})


@pytest.mark.req("R2")
def test_the_leading_node_killed_during_search(whole: ClusterProcesses, tmp_path: Path) -> None:
    """Every search answers while the cluster elects another, and what is degraded is named."""
    with filled(opened(tmp_path, whole, "searched")) as workspace:
        workspace.search("warm")
        slowest, seen = 0.0, Counter[str]()
        began = time.monotonic()
        killed = False
        asked = 0
        while time.monotonic() - began < BEFORE_S + AFTER_S:
            if not killed and time.monotonic() - began > BEFORE_S:
                whole.kill(manager(whole))
                killed = True
            at = time.perf_counter()
            answer = workspace.search(f"heart failure {asked}", component_timeout_ms=2_000)
            slowest = max(slowest, time.perf_counter() - at)
            asked += 1
            assert answer.results
            assert answer.degraded == bool(answer.component_errors)
            seen.update(answer.component_errors)
        last = workspace.search("heart failure at last", component_timeout_ms=2_000)
        assert not last.degraded, "the copies on the others answer"
    print(f"{asked} searches, slowest {1000 * slowest:.0f} ms, errors {dict(seen)}")


class Load:
    """A load in a thread of its own that tells when its second page is there."""

    def __init__(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        self.problem: BaseException | None = None
        self.second, self.go_on = threading.Event(), threading.Event()
        self._workspace = workspace
        monkeypatch.setattr("assay.store.corpus.PAGE", ROWS)
        real = loading.load_chunks

        def told(transport, index, pages, encoders, done):  # type: ignore[no-untyped-def]
            def heard(key: int, count: int) -> None:
                done(key, count)
                if count == 2 * ROWS:
                    self.second.set()
                    self.go_on.wait(60)

            return real(transport, index, pages, encoders, heard)

        monkeypatch.setattr(clusters, "load_chunks", told)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self.second.wait(60)

    def _run(self) -> None:
        try:
            self._workspace.update_index()
        except BaseException as problem:
            self.problem = problem

    def join(self) -> None:
        self._thread.join(180)
        assert not self._thread.is_alive()


def stored(home: Path, nodes: ClusterProcesses, prefix: str, replicas: int = 1) -> Workspace:
    """Everything in the store, nothing on the cluster yet."""
    workspace = opened(home, nodes, prefix, replicas=replicas)
    for part in PARTS:
        workspace.store_documents(read_corpus(CORPUS / part))
    return workspace


def test_a_node_killed_during_a_load_that_comes_back(
    whole: ClusterProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The load waits for it; what was acknowledged before is there."""
    with stored(tmp_path, whole, "returns") as workspace:
        load = Load(workspace, monkeypatch)
        victim = holder(whole, "returns-000001")
        whole.kill(victim)
        load.go_on.set()
        time.sleep(2)
        whole.start(victim)
        load.join()
        assert load.problem is None
        assert workspace.check_index() == []
        chunks = workspace.store.counts()["chunks"]
        assert workspace.index_card()["indexed_rows"] == chunks
    print(f"{chunks} chunks, {2 * ROWS} acknowledged before the kill, 0 lost")


def test_a_node_killed_during_a_load_for_good(
    whole: ClusterProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The load ends with an error, nothing half is served, and the next one fills it anew."""
    monkeypatch.setattr(loading, "PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr("assay.opensearch.transport.BULK", "/_bulk?timeout=1s")
    monkeypatch.setattr(clusters, "LOST_SECONDS", 2)
    with stored(tmp_path, whole, "lost") as workspace:
        load = Load(workspace, monkeypatch)
        whole.kill(holder(whole, "lost-000001"))
        load.go_on.set()
        load.join()
        assert isinstance(load.problem, EngineError)
        assert "did not take" in load.problem.message
        assert workspace.cluster is not None
        assert workspace.cluster.current().generation == 0, "half an index is never served"
        monkeypatch.undo()
        began = time.monotonic()
        workspace.update_index()
        took = time.monotonic() - began
        assert workspace.check_index() == []
        assert not workspace.search("heart failure").degraded
    print(f"filled anew on two nodes in {took:.1f} s; the load had said: {load.problem}")


def test_shards_without_a_living_copy_are_named(whole: ClusterProcesses, tmp_path: Path) -> None:
    """What the others have is found; the answer says that it is a part."""
    with stored(tmp_path, whole, "single", replicas=0) as workspace:
        workspace.update_index()
        before = workspace.search("heart failure", k=100, depth=1_000)
        victim = holder(whole, "single-000001")
        whole.kill(victim)
        whole.wait(nodes=2, status="red")
        answer = workspace.search("heart failure", k=100, depth=999)
        assert set(answer.component_errors) == {"bm25_partial", "splade_partial", "dense_partial"}
        assert answer.degraded
        assert 0 < answer.total_candidates < before.total_candidates
        assert "1 of 3 shards did not answer" in answer.warnings[0]
        with opened(tmp_path, whole, "single") as later:
            assert later.search("heart failure").degraded, "it can be opened in this state, too"
        assert workspace.check_index() == ["single-000001 has lost 1 shard"]
        whole.start(victim)
        whole.wait(nodes=3)
        again = workspace.search("heart failure", k=100, depth=999)
        assert not again.degraded
        assert again.total_candidates == before.total_candidates
        assert workspace.check_index() == []
