"""Kill a writer at random points and see whether anything that was acknowledged is gone.

``python -m tests.crash.harness --kills 50 --mode ingest`` prints the figures; the smoke test does
a few.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from assay.index.reader import open_generation
from assay.index.writer import update
from assay.store.corpus import CorpusStore
from assay.store.runs import SqlRunStore
from assay.testing.run_store import FULL, PLAIN
from tests.crash.child import document
from tests.unit.index.helpers import DENSE, ENCODERS, SPARSE


@dataclass
class Figures:
    """What a series of kills showed."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    bad_opens: int = 0


def kill_series(home: Path, mode: str, kills: int, seed: int) -> Figures:
    rng = random.Random(seed)
    figures = Figures()
    for _ in range(kills):
        acknowledged = _run_and_kill(home, mode, rng.uniform(0.0, 0.25))
        figures.kills += 1
        figures.acknowledged += len(acknowledged)
        try:
            figures.lost += LOOKS[mode](home, acknowledged)
        except Exception as problem:  # any failure to open is what we are looking for
            print(f"bad open: {problem!r}")
            figures.bad_opens += 1
    return figures


def _run_and_kill(home: Path, mode: str, delay: float) -> list[int]:
    command = [sys.executable, "-m", "tests.crash.child", str(home), mode]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline()]  # it is at work now
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.readlines()
    # the last line may be half written, and then it was not read as acknowledged either
    whole = [line for line in lines if line.endswith("\n")]
    return [int(line) for line in whole if line.strip().isdigit()]


def _missing(home: Path, acknowledged: list[int]) -> int:
    """Open what the crash left, let the index catch up, and look for what was acknowledged."""
    open_generation(home / "index")
    store = CorpusStore(home / "assay.db")
    update(home / "index", store, ENCODERS)
    generation = open_generation(home / "index")
    words, terms, vectors = generation.bm25(), generation.splade(SPARSE), generation.dense(DENSE)
    missing = 0
    for number in acknowledged:
        (_, (chunk,)) = document(number)
        stored = store.document(chunk.doc_id) is not None
        found = all(
            chunk.chunk_id in {hit.chunk_id for hit in part.search(chunk.text, 50)}
            for part in (words, terms, vectors)
        )
        missing += not (stored and found)
    total = store.counts()["chunks"]
    store.close()
    assert sum(part.rows for part in generation.manifest.segments) == total
    return missing


def _missing_runs(home: Path, acknowledged: list[int]) -> int:
    """Runs that were saved are complete, with every outcome; none is there in part."""
    runs = SqlRunStore(home / "assay.db")
    try:
        return sum(
            runs.run(f"r{number}").aggregate != {"mrr": number}
            or runs.outcomes(f"r{number}") != (FULL, PLAIN)
            for number in acknowledged
        )
    finally:
        runs.close()


LOOKS = {"ingest": _missing, "compact": _missing, "save": _missing_runs}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--mode", choices=tuple(LOOKS), default="ingest")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(kill_series(Path(folder), options.mode, options.kills, options.seed))


if __name__ == "__main__":
    main()
