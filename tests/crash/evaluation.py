"""Kill an evaluation at random points, let it go on, and see what was lost or asked twice.

``python -m tests.crash.evaluation --kills 50`` prints the figures; the smoke test does a few.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from assay.model.run_store import BATCH
from tests.crash.evaluation_child import QUERIES


@dataclass
class Figures:
    """What a series of kills showed."""

    kills: int = 0
    digests: set[str] = field(default_factory=set)
    most_repeated: int = 0
    unanswered: int = 0


def kill_series(folder: Path, kills: int, seed: int) -> Figures:
    rng = random.Random(seed)
    figures = Figures()
    _, whole = _asked(folder / "whole.db", None)
    figures.digests.add(whole)
    for number in range(kills):
        database = folder / f"{number}.db"
        first, _ = _asked(database, rng.randrange(1, QUERIES))
        second, digest = _asked(database, None)
        asked = Counter(first + second)
        figures.kills += 1
        figures.digests.add(digest)
        figures.most_repeated = max(figures.most_repeated, sum(asked.values()) - len(asked))
        figures.unanswered += QUERIES - len(asked)
    return figures


def _asked(database: Path, kill_after: int | None) -> tuple[list[str], str]:
    """What one process asked; it is killed after so many queries, or ends with a digest."""
    command = [sys.executable, "-m", "tests.crash.evaluation_child", str(database)]
    asked: list[str] = []
    digest = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("done"):
                digest = line.split()[2]
            elif line.endswith("\n"):
                asked.append(line.strip())
            if len(asked) == kill_after:
                child.send_signal(signal.SIGKILL)
                kill_after = None
    return asked, digest


def check(figures: Figures) -> None:
    """The promise: nothing lost, one digest, one batch repeated at most."""
    assert len(figures.digests) == 1, figures
    assert "" not in figures.digests, figures
    assert figures.unanswered == 0, figures
    assert figures.most_repeated <= BATCH, figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = kill_series(Path(folder), options.kills, options.seed)
    print(figures)
    check(figures)


if __name__ == "__main__":
    main()
