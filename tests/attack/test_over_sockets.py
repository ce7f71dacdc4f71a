"""The attack of a key that may only read, over real sockets: who is harmed?"""

from __future__ import annotations

import asyncio
import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from assay import limits
from assay.app.keys import create_key
from assay.app.layout import Layout
from tests.load.attack import large_at_once, measure, resident_mb
from tests.unit.http.process import ServiceProcess, wait_until_ready

pytestmark = pytest.mark.slow

MOST_MB = 700.0  # 1,200 were left by eight bodies before large ones waited in line


def test_others_are_served_while_one_key_attacks(home: Path) -> None:
    """Latency is measured where nothing else runs: ``python -m tests.load.attack``."""
    found = measure(home, 2.0, slow=60, large=2)
    assert set(found["statuses"]) == {200}
    assert found["searches"] >= 1
    assert found["most_resident_mb"] < MOST_MB


def test_large_bodies_wait_in_line_and_leave_no_memory_behind(home: Path) -> None:
    key = create_key(Layout(home), "reader", ["read"]).key
    with ServiceProcess(home) as service:
        wait_until_ready(service)
        statuses = asyncio.run(large_at_once(service.port, key, 8))
        # 0: refused while the body was still being sent
        assert set(statuses) <= {0, 400, 413, 422, 429, 503}
        assert resident_mb(service.process.pid) < MOST_MB


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /healthz HTTP/1.1\r\nhost:", b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"],
    ids=["silent", "half a head", "kept alive"],
)
def test_connections_without_a_request_keep_nobody_out(home: Path, sent: bytes) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4_096:
        pytest.skip("this system lets a process open few files")
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (1_024, hard))  # as most shells have it
        service = stack.enter_context(ServiceProcess(home))
        wait_until_ready(service)
        resource.setrlimit(resource.RLIMIT_NOFILE, (4_096, hard))
        for _ in range(limits.MAX_CONNECTIONS + 100):
            one = socket.create_connection(("127.0.0.1", service.port), timeout=10)
            stack.callback(one.close)
            one.sendall(sent)
        for path in ("/healthz", "/readyz", "/v1/search?q=asthma"):
            with socket.create_connection(("127.0.0.1", service.port), timeout=10) as other:
                head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
                other.sendall(head.encode())
                assert other.recv(100).startswith(b"HTTP/1.1 200"), path
