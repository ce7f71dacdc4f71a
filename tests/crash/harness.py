"""Kill a writer at random points and see whether anything that was acknowledged is gone.

``python -m tests.crash.harness --kills 50 --mode ingest`` prints the figures; the smoke test does
a few. With ``--postgres`` the writer uses a PostgreSQL server of its own, which is killed in every
other round instead of the writer.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assay.index.reader import open_generation
from assay.index.writer import update
from assay.store.corpus import CorpusStore
from assay.store.runs import SqlRunStore
from assay.testing.run_store import FULL, PLAIN
from tests.crash.child import document
from tests.postgres import crashing_server
from tests.unit.index.helpers import DENSE, ENCODERS, SPARSE


@dataclass
class Figures:
    """What a series of kills showed."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    bad_opens: int = 0


def kill_series(
    home: Path,
    mode: str,
    kills: int,
    seed: int,
    database: str | None = None,
    crash: Callable[[], None] | None = None,
) -> Figures:
    """Kill the writer so often; every other time, ``crash`` ends its database first."""
    rng = random.Random(seed)
    figures = Figures()
    for number in range(kills):
        first = crash if number % 2 else None
        acknowledged = _run_and_kill(home, mode, rng.uniform(0.0, 0.25), database, first)
        figures.kills += 1
        figures.acknowledged += len(acknowledged)
        try:
            figures.lost += LOOKS[mode](home, acknowledged, database or home / "assay.db")
        except Exception as problem:  # any failure to open is what we are looking for
            print(f"bad open: {problem!r}")
            figures.bad_opens += 1
    return figures


def _run_and_kill(
    home: Path,
    mode: str,
    delay: float,
    database: str | None = None,
    crash: Callable[[], None] | None = None,
) -> list[int]:
    command = [sys.executable, "-m", "tests.crash.child", str(home), mode]
    command += [database] if database else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline()]  # it is at work now
        time.sleep(delay)
        if crash is not None:
            crash()
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.readlines()
    # the last line may be half written, and then it was not read as acknowledged either
    whole = [line for line in lines if line.endswith("\n")]
    return [int(line) for line in whole if line.strip().isdigit()]


def _missing(home: Path, acknowledged: list[int], database: Path | str) -> int:
    """Open what the crash left, let the index catch up, and look for what was acknowledged."""
    open_generation(home / "index")
    store = CorpusStore(database)
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


def _missing_runs(home: Path, acknowledged: list[int], database: Path | str) -> int:
    """Runs that were saved are complete, with every outcome; none is there in part."""
    runs = SqlRunStore(database)
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
    parser.add_argument("--postgres", action="store_true", help="on a server that is killed too")
    options = parser.parse_args()
    given = (options.mode, options.kills, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        if options.postgres:
            with crashing_server() as (database, crash):
                print(kill_series(Path(folder), *given, database, crash))
        else:
            print(kill_series(Path(folder), *given))


if __name__ == "__main__":
    main()
