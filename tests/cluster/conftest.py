"""One cluster for all tests of this folder; skipped with the reason where there can be none."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from assay.opensearch.transport import Transport
from tests.cluster.nodes import ClusterProcesses, unavailable

WANTED = "ASSAY_TEST_CLUSTER"


@pytest.fixture(scope="session")
def nodes() -> Iterator[ClusterProcesses]:
    if not os.environ.get(WANTED):
        pytest.skip("a cluster of three nodes takes minutes: make test-cluster")
    if reason := unavailable():
        pytest.skip(reason)
    cluster = ClusterProcesses()
    try:
        cluster.wait(nodes=3)
        yield cluster
    finally:
        cluster.close()


@pytest.fixture
def transport(nodes: ClusterProcesses) -> Iterator[Transport]:
    opened = Transport(" ".join(nodes.urls))
    yield opened
    opened.close()
