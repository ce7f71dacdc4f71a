"""Does a service that is asked for a while hold ever more? ``make soak`` asks for ten minutes."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from bench.load import Load
from bench.serve import usage
from tests.unit.http.process import ServiceProcess, wait_until_ready

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("ASSAY_SOAK_SECONDS", "2"))
GROWTH_KIB = 24 << 10
"""What caches may still take on after the warm-up; a leak of 10 KiB a search takes more."""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_memory_threads_and_files_stay_level(small_home: Path, tmp_path: Path) -> None:
    shutil.copytree(small_home, tmp_path / "home")
    with ServiceProcess(tmp_path / "home") as service:
        wait_until_ready(service)

        async def ask() -> tuple[dict[str, int], dict[str, int], Counter[int]]:
            load = Load(service.port, seed=3)
            await load.closed(4, SECONDS)
            before = usage(service.process.pid)
            statuses = Counter(one.status for one in await load.closed(4, 2 * SECONDS))
            after = usage(service.process.pid)
            load.close()
            return before, after, statuses

        before, after, statuses = asyncio.run(ask())
        assert set(statuses) <= {200, 503}
        assert statuses[200] > 50
        assert after["threads"] <= before["threads"] + 8  # pools may still fill
        assert after["files"] <= before["files"] + 2
        assert after["rss_kib"] <= before["rss_kib"] + GROWTH_KIB
