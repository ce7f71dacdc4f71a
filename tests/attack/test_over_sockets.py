"""The attack of a key that may only read, over real sockets: who is harmed?"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

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
