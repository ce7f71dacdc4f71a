"""How do build time, size, memory and latency grow with the corpus?

``python -m bench.growth [--sizes 100000,500000,2000000] [--folder DIR] [--write]``

For each size a workspace is built from made-up passages (``growth_data.py``), without a model: the
store, then the index. Both go on where they stopped if they are interrupted. Fresh processes then
open it and search with two cores: plain, with a filter of a quarter and of a hundredth, with ten
more live segments, and after a tenth was deleted. Exponents are fitted over the sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.document import write_part
from bench.growth_data import (
    ASKED,
    DENSE_MODEL,
    SECTIONS,
    SPARSE_MODEL,
    WARM_UP,
    Asked,
    Corpus,
    Given,
)
from bench.index_data import HERE
from bench.machine import SEARCH_PACKAGES, describe
from bench.process import run_worker

RESULTS = HERE.parent / "growth.json"
SIZES = "100000,500000,2000000"
CORES, K = 2, 100
LIVE, LIVE_ROWS = 10, 1_000  # segments that are added, and the rows of each
DELETED = 10  # one document in so many
DEADLINE_S = 4 * 3_600.0
WORKED_S = 1.0  # less is no building
PATIENCE_MS = 10_000  # a busy machine must not turn a slow answer into a smaller one
PARTS = ("bm25", "splade", "dense", "hybrid")
PHASES = {
    "plain": "",
    "quarter": ", filter of 25 %",
    "hundredth": ", filter of 1 %",
    "live": ", ten more live segments",
    "deleted": ", a tenth deleted",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--sizes", default=SIZES, help=f"passages, parted by commas: {SIZES}")
    parser.add_argument("--folder", default=str(HERE / "growth"), help="where workspaces are built")
    parser.add_argument("--queries", type=int, default=ASKED, help="questions a phase")
    parser.add_argument("--report", action="store_true", help="measure nothing, show what is kept")
    parser.add_argument("--write", action="store_true", help="write into BENCHMARKS.md")
    options = parser.parse_args()
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for size in [] if options.report else map(int, options.sizes.split(",")):
        print(f"{size:,} passages", file=sys.stderr, flush=True)
        folder = Path(options.folder) / str(size)
        kept[str(size)] = _measured(folder, size, options.queries)
        kept["machine"] = describe(SEARCH_PACKAGES)
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(kept, indent=1))
    text = render(kept)
    print(text)
    if options.write:
        write_part("bench.growth", text)


def _measured(folder: Path, size: int, queries: int) -> dict[str, Any]:
    """What a size took to build, and how it is searched; the copy that is changed is removed."""
    row = {"build": _worker("build", folder, size), "plain": _worker("search", folder, queries)}
    for filtered in ("quarter", "hundredth"):
        row[filtered] = _worker("search", folder, queries, filtered)
    changed = folder.with_name(f"{folder.name}-changed")
    shutil.rmtree(changed, ignore_errors=True)
    shutil.copytree(folder, changed)
    try:
        for change in ("live", "deleted"):
            row[f"{change}_build"] = _worker(change, changed, size)
            row[change] = _worker("search", changed, queries)
    finally:
        shutil.rmtree(changed, ignore_errors=True)
    return row


def _worker(act: str, folder: Path, *rest: object) -> dict[str, Any]:
    return run_worker("bench.growth", ("--act", act, str(folder), *map(str, rest)), DEADLINE_S)


def _workspace(folder: Path) -> Any:
    from assay.app.workspace import Workspace
    from assay.settings import configure

    folder.mkdir(parents=True, exist_ok=True)
    return Workspace(configure({"home": folder}, environ={}, folder=folder))


def _update(workspace: Any, corpus: Corpus) -> None:
    from assay.index.writer import update

    def tell(stage: str, done: int, total: int) -> None:
        print(f"{stage}: {done:,} of {total:,}", file=sys.stderr, flush=True)

    update(workspace.layout.index, workspace.store, Given(corpus).encoders(), progress=tell)


def build(folder: Path, size: int) -> dict[str, Any]:
    """Store and index as many passages; what an earlier attempt stored or indexed stays."""
    corpus, workspace = Corpus(), _workspace(folder)
    note = folder / "build.json"
    spent: dict[str, Any] = json.loads(note.read_text()) if note.exists() else {}
    present = workspace.store.counts()["documents"] if workspace.layout.index.parent.exists() else 0
    for name, work in (
        ("store", lambda: workspace.store_documents(corpus.documents(present, size))),
        ("index", lambda: _update(workspace, corpus)),
    ):
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            work()
        finally:
            for kind, taken in (
                ("s", time.perf_counter() - wall),
                ("cpu_s", time.process_time() - cpu),
            ):
                spent[f"{name}_{kind}"] = spent.get(f"{name}_{kind}", 0.0) + taken
            if time.perf_counter() - wall > WORKED_S:  # else it was there already
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                spent["peak_mb"] = max(peak, spent.get("peak_mb", 0.0))
            note.write_text(json.dumps(spent))
    workspace.close()
    files = [file for file in folder.rglob("*") if file.is_file()]
    inside = workspace.layout.index
    index = sum(file.stat().st_size for file in files if inside in file.parents)
    return {
        **spent,
        "index_mb": index / 1e6,
        "store_mb": sum(file.stat().st_size for file in files) / 1e6 - index / 1e6,
    }


def live(folder: Path, size: int) -> dict[str, Any]:
    """Ten more segments: each is larger than the one that follows, so that none is joined."""
    corpus, workspace = Corpus(), _workspace(folder)
    start, begin = size, time.perf_counter()
    for number in range(LIVE, 0, -1):
        workspace.store_documents(corpus.documents(start, start + LIVE_ROWS * number))
        _update(workspace, corpus)
        start += LIVE_ROWS * number
    workspace.close()
    return {"s": time.perf_counter() - begin, "rows": start - size}


def deleted(folder: Path, size: int) -> dict[str, Any]:
    """Delete one document in ten."""
    corpus, workspace = Corpus(), _workspace(folder)
    begin = time.perf_counter()
    workspace.store.delete([f"p{number}" for number in range(0, size, DELETED)])
    _update(workspace, corpus)
    workspace.close()
    return {"s": time.perf_counter() - begin}


def search(folder: Path, queries: int, filtered: str = "") -> dict[str, Any]:
    """Open it, and ask every component and all of them together."""
    from assay.model.query import Filters
    from assay.testing.encoders import GivenModels

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    corpus = Corpus()
    questions = corpus.questions()
    dense = Asked(DENSE_MODEL, questions, corpus.dense(1 << 40, len(questions)))
    sparse = Asked(SPARSE_MODEL, questions, corpus.sparse_queries())
    del corpus
    filters = {
        "": Filters(),
        "quarter": Filters(section_label=(SECTIONS[0],)),
        "hundredth": Filters(source=("g0",)),
    }[filtered]
    workspace = _workspace(folder)
    workspace.__dict__["opened_models"] = GivenModels(dense, sparse)
    index = workspace.layout.index
    (_, before), begin = _resident(index), time.perf_counter()
    generation = workspace.generation()
    row: dict[str, Any] = {
        "open_ms": 1e3 * (time.perf_counter() - begin),
        "segments": len(generation.segments),
    }
    del generation  # a searcher opens its own
    searcher = workspace.searcher
    components = searcher.snapshot.components

    def hybrid(text: str) -> None:
        found = searcher.search(
            text, k=10, depth=K, filters=filters, component_timeout_ms=PATIENCE_MS
        )
        if found.degraded:
            raise RuntimeError(f"degraded: {found.warnings}")

    warm_up, asked, others = (
        questions[:WARM_UP],
        questions[WARM_UP:][:queries],
        questions[-queries:],
    )
    for name in PARTS:
        ask = hybrid if name == "hybrid" else _asker(components[name], filters)
        for text in warm_up:
            ask(text)
        taken = [_timed(ask, text) for text in asked]
        p50, p95, p99 = np.percentile(taken, [50, 95, 99]).tolist()
        row[name] = {"p50": p50, "p95": p95, "p99": p99}
    begin = time.perf_counter()
    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(hybrid, others))
    row["qps"] = len(others) / (time.perf_counter() - begin)
    row["mapped_mb"], other = _resident(index)
    row["other_mb"] = other - before
    workspace.close()
    return row


def _asker(component: Any, filters: Any) -> Callable[[str], object]:
    return lambda text: component.search(text, K, filters)


def _timed(ask: Callable[[str], object], text: str) -> float:
    begin = time.perf_counter()
    ask(text)
    return 1e3 * (time.perf_counter() - begin)


def _resident(index: Path) -> tuple[float, float]:
    """The MB of memory that files of the index take, and all others."""
    found = {True: 0, False: 0}
    is_index = False
    with open("/proc/self/smaps") as maps:
        for line in maps:
            first = line.split(maxsplit=1)[0]
            if not first.endswith(":"):
                is_index = str(index) in line
            elif first == "Rss:":
                found[is_index] += int(line.split()[1])
    return found[True] / 1024, found[False] / 1024


def render(kept: dict[str, Any]) -> str:
    """The part of BENCHMARKS.md."""
    sizes = sorted(int(name) for name in kept if name.isdigit())
    every = [kept[str(size)] for size in sizes]
    machine = kept.get("machine", {})
    lines = [
        "## Growth",
        "",
        "Made-up passages of 81 words with topics, 384 numbers and about 250 weighted terms each;",
        f"{CORES} cores, vectors given (`python -m bench.growth`). An exponent of 1 is linear.",
        "",
        f"| | {' | '.join(f'{size:,}' for size in sizes)} | exponent |",
        f"|---|{'---|' * (len(sizes) + 1)}",
    ]

    def add(name: str, unit: Callable[[float], str], values: list[float]) -> None:
        slope = "–"
        if len(sizes) > 1 and min(values) > 0:
            slope = f"{np.polyfit(np.log(sizes), np.log(values), 1)[0]:.2f}"
        lines.append(f"| {name} | {' | '.join(map(unit, values))} | {slope} |")

    builds = [row["build"] for row in every]
    add("store, s", "{:.0f}".format, [one["store_s"] for one in builds])
    add("store, processor s", "{:.0f}".format, [one["store_cpu_s"] for one in builds])
    add("index, s", "{:.0f}".format, [one["index_s"] for one in builds])
    add("index, processor s", "{:.0f}".format, [one["index_cpu_s"] for one in builds])
    peaks = [one.get("peak_mb", 0.0) for one in builds]
    add("memory while building, MB", lambda peak: f"{peak:.0f}" if peak else "–", peaks)
    a_passage = [1e6 * one["index_mb"] / size for one, size in zip(builds, sizes, strict=True)]
    add("index on disk, bytes a passage", "{:.0f}".format, a_passage)
    a_passage = [1e6 * one["store_mb"] / size for one, size in zip(builds, sizes, strict=True)]
    add("texts on disk, bytes a passage", "{:.0f}".format, a_passage)
    plain = [row["plain"] for row in every]
    a_passage = [2**20 * one["mapped_mb"] / size for one, size in zip(plain, sizes, strict=True)]
    add("index in memory, shared by processes, bytes a passage", "{:.0f}".format, a_passage)
    add("other memory of a process, MB", "{:.0f}".format, [one["other_mb"] for one in plain])
    add("opening, ms", "{:.0f}".format, [one["open_ms"] for one in plain])
    for phase, told in PHASES.items():
        for part in PARTS:
            found = [row[phase][part] for row in every]
            told_by = [f"{one['p50']:.1f} / {one['p95']:.1f} / {one['p99']:.1f}" for one in found]
            p50 = [one["p50"] for one in found]
            add(f"{part}{told}, P50 / P95 / P99 ms", _each(told_by), p50)
        add(f"queries a second{told}", "{:.0f}".format, [row[phase]["qps"] for row in every])
    lines += ["", ", ".join(f"{name} {value}" for name, value in machine.items())]
    return "\n".join(lines)


def _each(texts: list[str]) -> Callable[[float], str]:
    """Gives these texts one after the other."""
    rest = iter(texts)
    return lambda _: next(rest)


ACTS: dict[str, Callable[..., dict[str, Any]]] = {
    "build": build,
    "live": live,
    "deleted": deleted,
    "search": search,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--act"]:
        act, folder, size, *rest = sys.argv[2:]
        print(json.dumps(ACTS[act](Path(folder), int(size), *rest)))
    else:
        main()
