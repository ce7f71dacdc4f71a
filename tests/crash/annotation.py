"""Kill annotators at work at random points, and see whether a grade that was acknowledged is gone.

``python -m tests.crash.annotation --kills 50`` prints the figures; the smoke test does a few. Both
annotators work at the same time, on one database.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from assay.app.annotation import Desk
from tests.crash.annotation_child import open_round


@dataclass
class Figures:
    """What a series of kills showed."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    wrong: int = 0


def kill_series(folder: Path, kills: int, seed: int) -> Figures:
    """Kill both annotators again and again; after each time their grades are counted."""
    rng = random.Random(seed)
    figures = Figures()
    database = folder / "assay.db"
    at = open_round(database)
    said: dict[str, dict[tuple[str, str], int]] = {"ann": {}, "bob": {}}
    for _ in range(kills):
        threads = [
            threading.Thread(target=_work, args=(database, name, rng.uniform(0, 0.3), said[name]))
            for name in said
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
        figures.kills += len(threads)
        _count(at, said, figures)
    at.store.close()
    return figures


def _work(database: Path, name: str, delay: float, said: dict[tuple[str, str], int]) -> None:
    """Let one annotator work for a while; what it acknowledged is entered into ``said``."""
    command = [sys.executable, "-m", "tests.crash.annotation_child", str(database), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline()]  # it is at work now
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.readlines()
    for line in lines:
        if line.endswith("\n"):  # a half written line was not read as acknowledged either
            query_id, chunk_id, grade = line.split()
            said[query_id, chunk_id] = int(grade)


def _count(at: Desk, said: dict[str, dict[tuple[str, str], int]], figures: Figures) -> None:
    figures.acknowledged = figures.lost = figures.wrong = 0
    for name, grades in said.items():
        stored = {one.key: one.grade for one in at.grades(name)}
        figures.acknowledged += len(grades)
        figures.lost += sum(key not in stored for key in grades)
        figures.wrong += sum(stored.get(key, grade) != grade for key, grade in grades.items())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50, help="of each annotator")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = kill_series(Path(folder), options.kills, options.seed)
    print(figures)
    assert (figures.lost, figures.wrong) == (0, 0)


if __name__ == "__main__":
    main()
