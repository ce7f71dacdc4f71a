"""What does one engine take to build, or to search, one index?

``python -m bench.index_worker build|search ENGINE KIND WORKLOAD [CORES]`` in a fresh process prints
one line of JSON. A search process is bound to its cores, whatever threads an engine may start. With
one core there is one caller and times are processor time of all threads, so that other work on the
machine does not count; with several there are as many callers as cores, and times are wall time.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.index_data import HERE, QUERIES, Workload
from bench.index_engines import ENGINES, Engine

ENOUGH_S = 4.0  # a phase ends after this long, or when every query was asked five times
ROUNDS = 5
WARM_UP = 20
RECALL = 0.95
SAMPLE = 100  # queries by which recall is measured and a graph's effort chosen


def index_folder(engine: str, kind: str, workload: str) -> Path:
    return HERE / "built" / f"{workload}-{kind}-{engine}"


def build(engine: Engine, folder: Path) -> dict[str, Any]:
    engine.load()
    wall, spent = time.perf_counter(), time.process_time()
    engine.build(folder)
    return {
        "build_s": time.perf_counter() - wall,
        "build_cpu_s": time.process_time() - spent,
        "build_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "disk_mb": sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6,
    }


def search(engine: Engine, folder: Path, cores: int) -> dict[str, Any]:
    _ = engine.data.groups
    before = _resident()
    loading = time.perf_counter()
    engine.load()
    start = time.perf_counter()
    engine.open(folder)
    opened = time.perf_counter()
    engine.search(0, filtered=False, effort=engine.efforts[0])
    first = time.perf_counter()
    found: dict[str, Any] = {
        "import_ms": 1e3 * (start - loading),
        "open_ms": 1e3 * (opened - start),
        "first_ms": 1e3 * (first - opened),
    }
    for name, filtered in (("plain", False), ("filtered", True)):
        effort = _effort(engine, filtered)
        found[name] = {
            "effort": effort,
            "recall": _recall(engine, effort, filtered),
            **_latency(_asker(engine, effort, filtered), cores),
        }
    found["rss_mb"] = _resident() - before
    return found


def _asker(engine: Engine, effort: int, filtered: bool) -> Callable[[int], Any]:
    return lambda query: engine.search(query, filtered=filtered, effort=effort)


def _effort(engine: Engine, filtered: bool) -> int:
    """The least effort with which a graph finds .95 of the best 100; the largest if none does."""
    if engine.kind != "graph":
        return engine.efforts[0]
    for effort in engine.efforts:
        if _share(engine, effort, filtered, SAMPLE) >= RECALL:
            return effort
    return engine.efforts[-1]


def _recall(engine: Engine, effort: int, filtered: bool) -> float | None:
    """None for words, where engines cut and weigh them differently."""
    return None if engine.kind == "bm25" else _share(engine, effort, filtered, SAMPLE)


def _share(engine: Engine, effort: int, filtered: bool, queries: int) -> float:
    truth = engine.data.truth(engine.kind, filtered=filtered)[:queries]
    found = 0
    for query, best in enumerate(truth):
        got = engine.search(query, filtered=filtered, effort=effort)
        found += len(np.intersect1d(best, np.asarray(got)))
    return found / truth.size


def _latency(ask: Callable[[int], Any], cores: int) -> dict[str, float]:
    clock = time.process_time if cores == 1 else time.perf_counter

    def timed(query: int) -> float:
        start = clock()
        ask(query)
        return clock() - start

    for query in range(WARM_UP):
        ask(query)
    taken: list[float] = []
    start = time.perf_counter()
    with ThreadPoolExecutor(cores) as pool:
        for batch in range(ROUNDS * QUERIES // SAMPLE):
            asked = [(batch * SAMPLE + query) % QUERIES for query in range(SAMPLE)]
            taken += list(pool.map(timed, asked) if cores > 1 else map(timed, asked))
            if time.perf_counter() - start > ENOUGH_S:
                break
    spent = sum(taken) if cores == 1 else time.perf_counter() - start
    p50, p95, p99 = np.percentile(np.array(taken) * 1e3, [50, 95, 99])
    return {"p50": p50, "p95": p95, "p99": p99, "qps": len(taken) / spent, "n": len(taken)}


def _resident() -> float:
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024


def main() -> None:
    act, name, kind, workload = sys.argv[1:5]
    engine = ENGINES[name](kind, Workload(workload))
    folder = index_folder(name, kind, workload)
    if act == "build":
        measured = build(engine, folder)
    else:
        cores = sorted(os.sched_getaffinity(0))[: int(sys.argv[5])]
        os.sched_setaffinity(0, cores)
        measured = search(engine, folder, len(cores))
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
