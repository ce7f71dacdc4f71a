"""How long does it take to compare two stored runs of 5,000 queries?

    python -m bench.compare [--queries 5000] [--depth 100]

Runs are made up, stored in SQLite as an evaluation stores them, and then timed: reading both with
their test sets, comparing them, and the A/B statistics of five measures with 10,000 resamples.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from assay.config import configure
from assay.evaluation.ab import ab
from assay.evaluation.compare_runs import HIT_DEPTH, compare_runs
from assay.model.runs import QueryOutcome, RankedResult, RunInfo
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet
from assay.workspace import Workspace

TYPES = tuple(QueryType)


def made_up(queries: int) -> TestSet:
    """Queries with three judged chunks each."""
    return TestSet(
        "made_up",
        "v1",
        tuple(
            GoldenQuery(
                f"q{at:05}",
                f"question {at}",
                TYPES[at % 3],
                relevant_docs=tuple(Judgment(f"D{at}:chunk_{n}", 3 - n) for n in range(3)),
            )
            for at in range(queries)
        ),
    )


def outcomes(tests: TestSet, depth: int, seed: int) -> list[QueryOutcome]:
    """Rankings in which the judged chunks stand somewhere."""
    draw = random.Random(seed)
    found = []
    for at, query in enumerate(tests.queries):
        ids = [f"D{draw.randrange(100_000)}:chunk_{draw.randrange(20)}" for _ in range(depth)]
        for judged in range(3):
            ids[min(depth - 1, int(draw.expovariate(0.2)))] = f"D{at}:chunk_{judged}"
        results = tuple(
            RankedResult(chunk, chunk.split(":")[0], 1.0 / rank, ((0, 900),), "bench-1")
            for rank, chunk in enumerate(ids, 1)
        )
        found.append(QueryOutcome(query.query_id, results, latency_ms=draw.uniform(5, 50)))
    return found


def store(workspace: Workspace, name: str, tests: TestSet, depth: int, seed: int) -> None:
    """One stored run."""
    info = RunInfo(
        run_id=name,
        suite=tests.name,
        test_set_version=tests.version,
        test_set_checksum=tests.checksum,
        config={"seed": seed},
        config_hash=name,
        cache_key=name,
        created_at="2024-01-01T00:00:00Z",
        chunker_versions=("bench-1",),
        queries=len(tests.queries),
    )
    workspace.runs.begin(info, tests)
    workspace.runs.append(name, outcomes(tests, depth, seed))
    workspace.runs.finish(name, {})


def timed(what: str, act: Callable[[], object], times: int = 5) -> None:
    """Print the median and the range of several measurements, and the processor's time."""
    taken, used = [], []
    for _ in range(times):
        begun, spent = time.perf_counter(), _processor()
        act()
        taken.append(time.perf_counter() - begun)
        used.append(_processor() - spent)
    print(
        f"{what:44} {statistics.median(taken):6.2f} s  ({min(taken):.2f} to {max(taken):.2f}), "
        f"processor {statistics.median(used):.2f} s"
    )


def _processor() -> float:
    """Seconds of this process and of those it waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main() -> None:
    """Make up two runs, store them, time what is done with them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--depth", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / ".assay"
        home.mkdir()
        with Workspace(configure({"home": home})) as workspace:
            tests = made_up(options.queries)
            for seed, name in enumerate(("a", "b")):
                store(workspace, f"run-{name}", tests, options.depth, seed)
            print(f"{options.queries} queries, {options.depth} results each")

            def whole() -> None:
                compare_runs(
                    *(workspace.stored_run(f"run-{name}", depth=HIT_DEPTH) for name in "ab")
                )

            timed("read both and compare", whole)
            timed("assay eval compare, from start to end", lambda: command(home))
            a, b = (workspace.stored_run(f"run-{name}", depth=20) for name in "ab")
            timed("compare", lambda: compare_runs(a, b))
            timed("A/B: 5 measures, by type, 10,000 resamples", lambda: ab(a, b), 3)


def command(home: Path) -> None:
    """The same as a person would ask for it."""
    words = ["-m", "assay", "--home", str(home), "eval", "compare", "run-a", "run-b", "--json"]
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
