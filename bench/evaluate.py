"""How much do evaluating and comparing cost, beyond the searches themselves?

``make bench-eval`` prints each figure with its target and ends with 1 where one is missed;
``python -m bench.evaluate --write`` also writes them into BENCHMARKS.md.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from assay.app.workspace import Workspace
from assay.evaluation.ab import ab
from assay.evaluation.compare import compare_runs, depth_for
from assay.evaluation.defaults import EVALUATION_MEASURES
from assay.evaluation.outcomes import score_outcomes
from assay.evaluation.parts import part_of
from assay.evaluation.record import RecordOptions, record
from assay.model.runs import QueryOutcome
from assay.model.system import System
from assay.model.testset import TestSet
from assay.settings import configure
from bench.document import write_part
from bench.evaluate_data import golden, prepared
from bench.evaluate_report import Figure, render
from bench.machine import Busy, own_seconds

QUERIES = 5_000
ROUNDS = 5
MORE_MEASURES = f"{EVALUATION_MEASURES} P@{{1,5,10}} MAP RR@10 Success@{{1,5}}"


def figure(
    name: str,
    work: Callable[[], object],
    target: float | None = None,
    *,
    unit: str = "s",
    scale: float = 1.0,
    rounds: int = ROUNDS,
    before: Callable[[], object] = lambda: None,
) -> Figure:
    """What some work takes, on the clock and of processors, its children included."""
    wall, processor = [], []
    gc.collect()
    gc.freeze()  # what was prepared for the benchmark is not looked through again and again
    for _ in range(rounds):
        before()
        begun, used = time.perf_counter(), own_seconds()
        work()
        wall.append(scale * (time.perf_counter() - begun))
        processor.append(scale * (own_seconds() - used))
    return Figure(name, tuple(wall), tuple(processor), target, unit)


def answering(answers: dict[str, QueryOutcome], name: str) -> System:
    """A system that knows all answers and takes no time."""
    return System(
        lambda query: answers[query.query_id], {"bench": name}, generation="1", keeps_time=True
    )


def overhead(workspace: Workspace) -> Figure:
    """Everything that recording does around a retriever that costs nothing."""
    test_set = golden(1000)
    system = answering(prepared(test_set, 1), "overhead")

    def run() -> None:
        record(system, part_of(test_set), workspace.runs, RecordOptions(use_cache=False))

    scale = 1000 / len(test_set.queries)
    return figure("overhead a query", run, 1.0, unit="ms", scale=scale)


def store_two(workspace: Workspace) -> TestSet:
    """Two runs of many queries, as an evaluation stores them."""
    test_set = golden(QUERIES)
    for name in ("a", "b"):
        system = answering(prepared(test_set, ord(name)), name)
        record(system, part_of(test_set), workspace.runs, RecordOptions(run_id=f"run-{name}"))
    return test_set


def compared(workspace: Workspace) -> list[Figure]:
    """The command from start to end, and what of it is neither start nor output."""
    words = (*_assay(workspace.home), "eval", "compare", "run-a", "run-b")
    a, b = (workspace.stored_run(f"run-{name}", depth=20) for name in "ab")

    def read_and_compare() -> None:
        compare_runs(*(workspace.stored_run(f"run-{n}", depth=depth_for("")) for n in "ab"))

    runs = f"two stored runs of {QUERIES:,} queries"
    return [
        figure(f"`assay eval compare`, {runs}", lambda: _quietly(words), 2.0),
        figure("of it: reading and comparing", read_and_compare),
        figure("`assay eval ab` on them, 10,000 resamples: statistics", lambda: ab(a, b)),
    ]


def intervals(workspace: Workspace, test_set: TestSet) -> Figure:
    """The intervals of every measure of a run, which share one matrix of resamples."""
    outcomes = workspace.runs.outcomes("run-a", stages=False)
    made = []

    def score() -> None:
        made.append(score_outcomes(test_set, outcomes, MORE_MEASURES))

    def draw() -> None:
        for measure in made[-1].measures:
            made[-1].interval(measure)

    score()
    name = f"10,000 resamples, {len(made[0].measures)} measures, {QUERIES:,} queries"
    return figure(name, draw, 1.0, before=score)


def demo(home: Path) -> Figure:
    """The whole command on the shipped corpus, which is read first unless it is there."""
    assay = _assay(home)
    if not home.exists():
        _quietly((*assay, "ingest", str(files("assay") / "data" / "corpus")))
    words = ["eval", "run", "-t", "test_set_v1", "--part", "all", "--per-component", "--no-cache"]
    name = "`assay eval run --per-component`, the demo's 50 queries"
    return figure(name, lambda: _quietly((*assay, *words)), 10.0)


def _assay(home: Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "assay", "--home", str(home))


def _quietly(words: tuple[str, ...]) -> None:
    subprocess.run(words, check=True, capture_output=True)


def main() -> None:
    """Measure, print, and write on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write BENCHMARKS.md")
    parser.add_argument("--demo", type=Path, help="workspace with the demo's documents")
    options = parser.parse_args()
    busy = Busy()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "runs"
        home.mkdir()
        with Workspace(configure({"home": home})) as workspace:
            found = [overhead(workspace)]
            test_set = store_two(workspace)
            found += [*compared(workspace), intervals(workspace, test_set)]
        found.append(demo(options.demo or Path(name) / "demo"))
    others = busy.cores_of_others()
    text = render(found, others)
    print(text)
    if options.write:
        write_part("bench.evaluate", text)
    sys.exit(0 if all(one.met(others) for one in found) else 1)


if __name__ == "__main__":
    main()
