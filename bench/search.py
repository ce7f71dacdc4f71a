"""How fast is hybrid search beside qdrant-edge and LanceDB, from the question to ten passages?

``python -m bench.search [--quick] [--only fusion,real,large] [--engine NAME] [--report] [--write]``

Every measurement is a fresh process: one builds, others search, on one core and on all. Results
are kept in ``bench/work/search.json``; ``--write`` turns them into a part of BENCHMARKS.md.
``--quick`` is for trying the benchmark itself: 1,500 passages, nothing kept.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import sys
from typing import Any

from bench.document import write_part
from bench.index_data import HERE, SPECS, available
from bench.machine import SEARCH_PACKAGES, describe
from bench.process import run_process, run_worker
from bench.search_engines import ENGINES
from bench.search_report import render
from bench.search_worker import folder_of

SECTIONS = ("fusion", "real", "large")
RESULTS = HERE.parent / "search.json"
DEADLINE_S = 1_200  # half a million passages take minutes to index


def main() -> None:
    options = _options()
    chosen = options.only.split(",") if options.only else list(SECTIONS)
    if unknown := set(chosen) - set(SECTIONS):
        raise SystemExit(f"--only takes {', '.join(SECTIONS)}, not {', '.join(sorted(unknown))}")
    if options.engine and options.engine not in ENGINES:
        raise SystemExit(f"--engine takes one of {', '.join(ENGINES)}")
    results: dict[str, Any] = {} if options.quick else _stored()
    if options.quick:
        chosen = [section for section in chosen if section != "large"]
    for section in [] if options.report else chosen:
        before = results.get(section, {}).get("rows", {})
        engines = [options.engine] if options.engine else [*ENGINES]
        results[section] = {
            "rows": {**before, **_section(section, engines, options.quick)},
            "when": datetime.datetime.now(datetime.UTC).date().isoformat(),
        }
        results["machine"] = describe(SEARCH_PACKAGES)
        if not options.quick:
            RESULTS.parent.mkdir(parents=True, exist_ok=True)
            RESULTS.write_text(json.dumps(results, indent=1))
    text = render(results)
    print(text)
    if options.write and not options.quick:
        write_part("bench.search", text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,500 passages, nothing kept")
    parser.add_argument("--only", help=f"sections, parted by commas: {','.join(SECTIONS)}")
    parser.add_argument("--engine", help="measure this engine only")
    parser.add_argument("--report", action="store_true", help="measure nothing, show what is kept")
    parser.add_argument("--write", action="store_true", help="write into BENCHMARKS.md")
    return parser.parse_args()


def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return found


def _section(name: str, engines: list[str], quick: bool) -> dict[str, Any]:
    real = "real" if available("real") else "s100k"
    workload = "tiny" if quick else "s500k" if name == "large" else real
    if name == "fusion":
        built("assay", workload)
        return {
            "encode": _worker("encode", "assay", workload, "1"),
            "fusion": _worker("fusion", "assay", workload, "1"),
        }
    return {engine: _measured(engine, workload) for engine in engines}


def _measured(engine: str, workload: str) -> dict[str, Any]:
    """One row: what the build took, and the searches on one core and on all."""
    print(f"{workload}: {engine}", file=sys.stderr, flush=True)
    row: dict[str, Any] = {"workload": workload, "passages": SPECS[workload].passages}
    try:
        row |= built(engine, workload)
        row["one"] = _worker("search", engine, workload, "1")
        row["all"] = _worker("search", engine, workload, str(os.cpu_count()))
    except RuntimeError as problem:
        row["error"] = str(problem)
    return row


def built(engine: str, workload: str) -> dict[str, Any]:
    """What building took; a folder that is complete is used again."""
    note = folder_of(engine, workload).with_suffix(".json")
    if not note.exists():
        folder = folder_of(engine, workload)
        shutil.rmtree(folder, ignore_errors=True)
        run_process(["-m", "bench.index_data", workload], DEADLINE_S)
        note.write_text(json.dumps(_worker("build", engine, workload)))
    found: dict[str, Any] = json.loads(note.read_text())
    return found


def _worker(*arguments: str) -> dict[str, Any]:
    return run_worker("bench.search_worker", arguments, DEADLINE_S)


if __name__ == "__main__":
    main()
