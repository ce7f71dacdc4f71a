"""How fast is the index beside LanceDB, qdrant-edge, Chroma and bm25s?

``python -m bench.index [--quick] [--only SECTIONS] [--report] [--write]``; the sections are bm25,
words (how good the results of bm25 are), splade, dense, graph, large and size.

Every measurement is a fresh process: one builds an index, others open and search it, on one core
and on all. Results are kept in ``bench/work/index.json``; ``--write`` turns them into a part of
BENCHMARKS.md. ``--quick`` is for trying the benchmark itself: 1,500 passages, nothing kept.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

from bench import index_quality
from bench.document import write_part
from bench.index_data import HERE, SPECS, available
from bench.index_engines import ENGINES, KINDS
from bench.index_plot import PLOT, plot
from bench.index_report import render
from bench.index_worker import index_folder
from bench.machine import INDEX_PACKAGES, describe
from bench.process import run_process, run_worker

SECTIONS = (KINDS[0], "words", *KINDS[1:], "large", "size")
SIZES = ("s10k", "s30k", "s100k", "s500k")
LARGE_PEERS = {
    "bm25": ("qdrant-edge",),
    "splade": ("qdrant-edge",),
    "dense": ("qdrant-edge",),  # LanceDB was not done with its exact search after ten minutes
    "graph": ("qdrant-edge",),
}
RESULTS = HERE.parent / "index.json"
DEADLINE_S = 600
ROUNDS = 3  # of searches on one core, the engines in turns; the median counts


def main() -> None:
    options = _options()
    chosen = options.only.split(",") if options.only else list(SECTIONS)
    if unknown := set(chosen) - set(SECTIONS):
        raise SystemExit(f"--only takes {', '.join(SECTIONS)}, not {', '.join(sorted(unknown))}")
    results: dict[str, Any] = {} if options.quick else _stored()
    for section in [] if options.report else chosen:
        day = datetime.datetime.now(datetime.UTC).date().isoformat()
        results[section] = {"rows": [], "when": day}
        results["machine"] = describe(INDEX_PACKAGES)
        for row in _section(section, options.quick):
            results[section]["rows"].append(row)
            if not options.quick:  # an interrupted benchmark keeps what it measured
                RESULTS.parent.mkdir(parents=True, exist_ok=True)
                RESULTS.write_text(json.dumps(results, indent=1))
    text = render(results)
    print(text)
    if options.write and not options.quick:
        write_part("bench.index", text)
        if "size" in results:
            PLOT.write_text(plot(results["size"]["rows"]), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.index", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,500 passages, nothing kept")
    parser.add_argument("--only", help=f"sections, parted by commas: {','.join(SECTIONS)}")
    parser.add_argument("--report", action="store_true", help="measure nothing, show what is kept")
    parser.add_argument("--write", action="store_true", help="write into BENCHMARKS.md")
    return parser.parse_args()


def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return found


def _section(name: str, quick: bool) -> Iterator[dict[str, Any]]:
    if name == "words":
        yield from _words()
        return
    if name == "size":
        cases = [("assay", kind, size) for size in SIZES for kind in KINDS]
    elif name == "large":
        cases = [
            (engine, kind, "s500k") for kind in KINDS for engine in ("assay", *LARGE_PEERS[kind])
        ]
    else:
        workload = "real" if available("real") else "s100k"
        cases = [(e.name, name, workload) for e in ENGINES.values() if name in e.kinds]
    if quick:
        cases = list(dict.fromkeys((engine, kind, "tiny") for engine, kind, _ in cases))
    if name in {"large", "size"}:
        for case in cases:
            yield from _measured([case], all_cores=name != "size", rounds=1)
    else:
        yield from _measured(cases, all_cores=True, rounds=1 if quick else ROUNDS)


def _words() -> Iterator[dict[str, Any]]:
    for engine in ENGINES.values() if index_quality.available() else ():
        if "bm25" in engine.kinds:
            print(f"how good words are: {engine.name}", file=sys.stderr, flush=True)
            found = run_worker("bench.index_quality", (engine.name,), DEADLINE_S)
            yield {"engine": engine.name, "found": found}


def _measured(
    cases: list[tuple[str, str, str]], *, all_cores: bool, rounds: int
) -> list[dict[str, Any]]:
    """Rows: what each build took, and the searches on one core, in turns, and on all."""
    rows = [_built(*case) for case in cases]
    taken: list[list[dict[str, Any]]] = [[] for _ in rows]
    for _ in range(rounds):
        for case, row, found in zip(cases, rows, taken, strict=True):
            _noted(row, lambda: found.append(_worker("search", *case, "1")))  # noqa: B023
    for case, row, found in zip(cases, rows, taken, strict=True):
        if "error" not in row:
            found.sort(key=lambda one: one["plain"]["p50"])
            row["one"] = found[len(found) // 2]
            row["p50s"] = [one["plain"]["p50"] for one in found]
        if all_cores:
            _noted(row, lambda: row.update(all=_worker("search", *case, str(os.cpu_count()))))  # noqa: B023
        shutil.rmtree(index_folder(*case), ignore_errors=True)
    return rows


def _built(engine: str, kind: str, workload: str) -> dict[str, Any]:
    print(f"{workload} {kind}: {engine}", file=sys.stderr, flush=True)
    row: dict[str, Any] = {
        "engine": engine,
        "kind": kind,
        "workload": workload,
        "passages": SPECS[workload].passages,
    }
    shutil.rmtree(index_folder(engine, kind, workload), ignore_errors=True)
    run_process(["-m", "bench.index_data", workload, kind], DEADLINE_S)
    _noted(row, lambda: row.update(_worker("build", engine, kind, workload)))
    return row


def _noted(row: dict[str, Any], act: Callable[[], object]) -> None:
    """Do it, unless something failed before; what fails is noted."""
    try:
        if "error" not in row:
            act()
    except RuntimeError as problem:
        row["error"] = str(problem)


def _worker(*arguments: str) -> dict[str, Any]:
    return run_worker("bench.index_worker", arguments, DEADLINE_S)


if __name__ == "__main__":
    main()
