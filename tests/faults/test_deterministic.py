"""One corpus, one configuration, one digest: whatever the hash seed, the threads, the order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = [(0, 0, 1), (4_242, 1, 3)]  # hash seed, order of documents, threads


@pytest.mark.req("12")
def test_one_digest(tmp_path: Path) -> None:
    running = []
    for hash_seed, order, threads in CASES:
        folder = tmp_path / str(order)
        folder.mkdir()
        variables = {"PYTHONHASHSEED": str(hash_seed), "OMP_NUM_THREADS": str(threads)}
        options = (str(folder), str(order), str(threads))
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", "tests.faults.digest_child", *options],
                env={**os.environ, **variables},
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    said = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert len({*said}) == 1
    assert len(said[0].strip()) == 64
