"""How much does an evaluation cost beyond the searches themselves?

``make bench-eval`` prints four figures with their targets and ends with 1 where one is missed:

1. overhead a query: everything that recording does around a retriever that costs nothing
   (outcomes with 100 results and three lists of 100, committed ten at a time to a real disk);
2. the 50 queries of the demo, all components, as a command of its own, with cached vectors;
3. two stored runs of 5,000 queries, read and compared;
4. intervals of 10,000 resamples for all measures of such a run.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from assay.evaluation.compare_runs import compare_runs, depth_for
from assay.evaluation.parts import part_of
from assay.evaluation.recording import RecordOptions, record
from assay.evaluation.stored import EVALUATION_MEASURES, score_outcomes
from assay.evaluation.stored_run import read_run
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.system import System
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet
from assay.store.runs import SqlRunStore

QUERIES = 5_000
ROUNDS = 3
MORE_MEASURES = f"{EVALUATION_MEASURES} P@{{1,5,10}} MAP RR@10 Success@{{1,5}}"


@dataclass(frozen=True)
class Figure:
    name: str
    value: float
    target: float
    unit: str
    spread: str = ""

    @property
    def met(self) -> bool:
        return self.value <= self.target


def golden(count: int) -> TestSet:
    rng = random.Random(1)
    types = list(QueryType)
    return TestSet(
        "bench",
        "v1",
        tuple(
            GoldenQuery(
                f"q{at}",
                f"question {at}",
                types[at % 3],
                relevant_docs=tuple(
                    Judgment(
                        f"PMC{rng.randrange(300)}:chunk_{rng.randrange(10)}", rng.randrange(1, 4)
                    )
                    for _ in range(5)
                ),
            )
            for at in range(count)
        ),
    )


def prepared(test_set: TestSet, seed: int) -> dict[str, QueryOutcome]:
    """What a hybrid search would have found: 100 results, three lists of 100, with all scores."""
    rng = random.Random(seed)
    names = [f"PMC{n // 10}:chunk_{n % 10}" for n in range(3000)]
    found = {}
    for query in test_set.queries:
        ids = rng.sample(names, 200)
        for judgment in query.relevant_docs[: rng.randrange(4)]:
            ids[rng.randrange(20)] = judgment.id
        ids = list(dict.fromkeys(ids))
        lists = {
            name: tuple(ids[at * 40 : at * 40 + 100])
            for at, name in enumerate(("bm25", "splade", "dense"))
        }
        scores = {
            name: tuple(1 / (at + 1.7) for at in range(len(one))) for name, one in lists.items()
        }
        found[query.query_id] = QueryOutcome(
            query.query_id,
            tuple(
                RankedResult(
                    one,
                    one.split(":")[0],
                    0.1 / (rank + 3),
                    ((0, 900),),
                    "sections-v1",
                    {n: scores[n][ids_.index(one)] for n, ids_ in lists.items() if one in ids_},
                    {n: ids_.index(one) + 1 for n, ids_ in lists.items() if one in ids_},
                )
                for rank, one in enumerate(ids[:100])
            ),
            latency_ms=4.2,
            component_lists=lists,
            component_list_scores=scores,
            fused=tuple(ids),
        )
    return found


def answering(answers: dict[str, QueryOutcome], name: str) -> System:
    """A system that knows all answers and takes no time."""
    return System(lambda query: answers[query.query_id], {"bench": name}, generation="1")


def timed(work: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return seconds


def figure(
    name: str, seconds: list[float], target: float, unit: str = "s", scale: float = 1.0
) -> Figure:
    values = [scale * one for one in seconds]
    spread = f"{min(values):.3g} to {max(values):.3g}"
    return Figure(name, statistics.median(values), target, unit, spread)


def overhead(folder: Path) -> Figure:
    test_set = golden(1000)
    answers = prepared(test_set, 1)
    store = SqlRunStore(folder / "overhead.db")
    system = answering(answers, "overhead")

    def run() -> None:
        record(system, part_of(test_set), store, RecordOptions(use_cache=False))

    seconds = timed(run)
    store.close()
    return figure("overhead a query", seconds, 1.0, "ms", 1000 / len(test_set.queries))


def stored(folder: Path) -> tuple[SqlRunStore, TestSet]:
    test_set = golden(QUERIES)
    store = SqlRunStore(folder / "stored.db")
    for name in ("a", "b"):
        system = answering(prepared(test_set, ord(name)), name)
        record(system, part_of(test_set), store, RecordOptions(run_id=f"run-{name}"))
    return store, test_set


def compared(store: SqlRunStore) -> Figure:
    def compare() -> None:
        one, other = (
            read_run(store, f"run-{name}", {}, depth=depth_for("")) for name in ("a", "b")
        )
        compare_runs(one, other)

    return figure(f"compare two stored runs of {QUERIES:,} queries", timed(compare), 2.0)


def intervals(store: SqlRunStore, test_set: TestSet) -> Figure:
    outcomes = store.outcomes("run-a", stages=False)

    def draw() -> None:
        for measure in scores.measures:
            scores.interval(measure)

    seconds = []
    for _ in range(ROUNDS):
        scores = score_outcomes(test_set, outcomes, MORE_MEASURES)
        seconds += timed(draw, 1)
    return figure(f"10,000 resamples, {len(scores.measures)} measures", seconds, 1.0)


def demo(folder: Path) -> Figure:
    corpus = Path(str(files("assay") / "data" / "corpus"))
    assay = [sys.executable, "-m", "assay", "--home", str(folder / "home")]
    for part in ("trials", "labels", "articles", "interviews", "reviews.jsonl"):
        subprocess.run([*assay, "ingest", str(corpus / part)], check=True, capture_output=True)
    command = [
        *assay,
        "eval",
        "run",
        "-t",
        "test_set_v1",
        "--part",
        "all",
        "--per-component",
        "--no-cache",
    ]
    seconds = timed(lambda: subprocess.run(command, check=True, capture_output=True))
    return figure("the demo's 50 queries, every component", seconds, 10.0)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = [overhead(folder)]
        store, test_set = stored(folder)
        found += [compared(store), intervals(store, test_set)]
        store.close()
        found.append(demo(folder))
    for one in found:
        mark = "ok  " if one.met else "MISS"
        figures = f"{one.value:8.3f} {one.unit} (target {one.target:g}; {one.spread})"
        print(f"{mark} {one.name:50} {figures}")
    sys.exit(0 if all(one.met for one in found) else 1)


if __name__ == "__main__":
    main()
