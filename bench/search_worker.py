"""What does one engine take to store passages, or to answer hybrid queries?

``python -m bench.search_worker build|search|encode|fusion ENGINE WORKLOAD [CORES]`` in a fresh
process prints one line of JSON. A search process is bound to its cores, whatever threads an engine
may start. Every question is asked once a phase, and each phase opens the engine anew, so that no
answer comes from memory.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.index_data import HERE, Workload
from bench.machine import Busy
from bench.search_data import WARM_UP, Models, Questions
from bench.search_engines import ENGINES, Assay, Engine

ENOUGH_S = 6.0  # a phase ends after this long, or when every question was asked
LONGEST_S = 90.0  # the same for the phase that targets are about: every question has its turn
FUSED = 50
ROUNDS = 20
STAGES = (*("analysis", "bm25", "splade", "dense", "fusion", "boosts", "guard", "floor", "total"),)


def folder_of(engine: str, workload: str) -> Path:
    """Where an engine keeps a workload."""
    return HERE / "built" / f"{workload}-hybrid-{engine}"


def build(engine: Engine, folder: Path) -> dict[str, Any]:
    start = time.perf_counter()
    engine.build(folder)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {"build_s": time.perf_counter() - start, "disk_mb": size / 1e6}


def search(engine: Engine, folder: Path, cores: int) -> dict[str, Any]:
    """Latency of one caller, and with several cores the queries per second of as many callers."""
    found: dict[str, Any] = {}
    for mode in ("search", "together"):
        models = Models(engine.questions) if mode == "together" else None
        for callers in dict.fromkeys((1, cores)):
            engine.open(folder, models)
            headline = mode == "together" and callers == 1 < cores
            limit = LONGEST_S if headline else ENOUGH_S
            found[f"{mode}_{callers}"] = _phase(engine, callers, limit)
            engine.close()
    return found


def _phase(engine: Engine, callers: int, limit_s: float = ENOUGH_S) -> dict[str, Any]:
    count = engine.questions.asked
    for number in range(count, count + WARM_UP):
        engine.search(number)
    if isinstance(engine, Assay):
        engine.timings.clear()
    busy, start = Busy(), time.perf_counter()

    def timed(number: int) -> float | None:
        began = time.perf_counter()
        if began - start > limit_s:
            return None
        engine.search(number)
        return time.perf_counter() - began

    with ThreadPoolExecutor(callers) as pool:
        asked = range(count)
        every = list(pool.map(timed, asked) if callers > 1 else map(timed, asked))
    wall = time.perf_counter() - start
    taken = [one for one in every if one is not None]
    row: dict[str, Any] = {
        **_percentiles([1e3 * one for one in taken]),
        "qps": len(taken) / wall,
        "n": len(taken),
        "others": busy.cores_of_others(),
    }
    if isinstance(engine, Assay):
        row["stages"] = {
            stage: _percentiles([one[stage] for one in engine.timings]) for stage in STAGES
        }
    return row


def _percentiles(milliseconds: list[float]) -> dict[str, float]:
    p50, p95, p99 = np.percentile(milliseconds, [50, 95, 99]).tolist()
    return {"p50": p50, "p95": p95, "p99": p99}


def encode(questions: Questions) -> dict[str, Any]:
    """What the models take for a question, alone on a core."""
    models = Models(questions)
    for _ in range(WARM_UP):
        models.encode(0, sparse=True)
    return {name: _percentiles(taken) for name, taken in models.alone().items()}


def fusion(engine: Assay, folder: Path) -> dict[str, Any]:
    """Processor milliseconds from three lists of 100 to ten explained hits, by intent."""
    engine.open(folder, None)
    found = {}
    for name, ending in (
        ("no intent", ""),
        ("three intents", " adverse events dosage eligibility"),
    ):
        prepared = [
            engine.searcher.prepare(
                engine.questions.texts[number] + ending, query_type="exact_term"
            )
            for number in range(min(FUSED, engine.questions.asked))
        ]
        for one in prepared:
            one.fuse_again(one.options)
        rounds = []
        taken = []
        for _ in range(ROUNDS):
            began = time.thread_time()
            for one in prepared:
                start = time.thread_time()
                one.fuse_again(one.options)
                taken.append(1e3 * (time.thread_time() - start))
            rounds.append(1e3 * (time.thread_time() - began) / len(prepared))
        candidates = statistics.mean(one.fuse_again().total_candidates for one in prepared)
        found[name] = {
            **_percentiles(taken),
            "least": min(rounds),
            "most": max(rounds),
            "candidates": candidates,
            "n": len(taken),
        }
    engine.close()
    return found


def main() -> None:
    act, name, workload = sys.argv[1:4]
    data = Workload(workload)
    engine = ENGINES[name](data, Questions(data))
    folder = folder_of(name, workload)
    cores = sorted(os.sched_getaffinity(0))[: int(sys.argv[4]) if len(sys.argv) > 4 else None]
    os.sched_setaffinity(0, cores)
    measured: dict[str, Any]
    if act == "build":
        measured = build(engine, folder)
    elif act == "search":
        measured = search(engine, folder, len(cores))
    elif act == "encode":
        measured = encode(engine.questions)
    else:
        assert isinstance(engine, Assay)
        measured = fusion(engine, folder)
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
