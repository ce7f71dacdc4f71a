"""How fast is scoring beside pytrec_eval, ir_measures and ranx?

``python -m bench.score [--quick] [--only A,B,cli,...] [--repeat 3] [--report] [--write]``

Every measurement is a fresh process; the tools take turns, round after round. Results are kept in
``bench/work/results.json``; ``--write`` turns them into BENCHMARKS.md. ``--quick`` is for trying
the benchmark itself: small workloads, one round, nothing kept.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
from typing import Any

from bench import many, runner
from bench.document import write_part
from bench.machine import describe
from bench.score_report import render
from bench.tools import IR_MEASURES, OURS, tools_for
from bench.workloads import QUICK_SIZES, SIZES, WORK, WORKLOADS, size_name

SECTIONS = ("A", "B", "cli", "size", "stats", "many")
SOURCES = ("files", "dicts", "frames")
RESULTS = os.path.join(WORK, "results.json")
SHORT_S = 1.0  # what is shorter is run three times a round
ENOUGH_S = 45.0  # what has taken longer is not repeated
DATA_LIMIT = 400 << 20


def main() -> None:
    options = _options()
    chosen = options.only.split(",") if options.only else list(SECTIONS)
    if options.report:
        chosen = []
    unknown = set(chosen) - set(SECTIONS)
    if unknown:
        raise SystemExit(f"--only takes {', '.join(SECTIONS)}, not {', '.join(unknown)}")
    os.makedirs(WORK, exist_ok=True)
    results: dict[str, Any] = {} if options.quick else _stored()
    for section in chosen:
        measured = _section(section, options.quick, 1 if options.quick else options.repeat)
        measured["when"] = datetime.datetime.now(datetime.UTC).date().isoformat()
        results[section] = measured
        results["machine"] = describe()
        if not options.quick:
            with open(RESULTS, "w") as kept:
                json.dump(results, kept, indent=1)
    small = results.pop("many", None)
    parts = {"bench.score": render(results, quick=options.quick)} if len(results) > 1 else {}
    if small is not None:
        parts["bench.score many"] = many.render(small)
    for name, text in parts.items():
        print(text)
        if options.write and not options.quick:
            write_part(name, text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.score", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small workloads, one round")
    parser.add_argument("--only", help=f"sections, parted by commas: {','.join(SECTIONS)}")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    parser.add_argument("--report", action="store_true", help="measure nothing, show what is kept")
    parser.add_argument("--write", action="store_true", help="write BENCHMARKS.md")
    return parser.parse_args()


def _stored() -> dict[str, Any]:
    try:
        with open(RESULTS) as kept:
            found: dict[str, Any] = json.load(kept)
    except OSError:
        return {}
    return found


def _section(name: str, quick: bool, rounds: int) -> dict[str, Any]:
    if name in {"A", "B"}:
        return _compare(f"{name}-quick" if quick and name == "A" else name, rounds)
    if name == "cli":
        return _programs("A-quick" if quick else "A", rounds)
    if name == "many":
        return many.measure(rounds, quick=quick, say=_say)
    if name == "size":
        return _sizes(QUICK_SIZES if quick else SIZES, rounds)
    return {"rows": None if quick else runner.statistics_rows()}


def _compare(workload: str, rounds: int) -> dict[str, Any]:
    """Every tool on every source, in turns."""
    runner.ensure(workload, "A-warm", "B")
    cold = runner.ranx_compiled()
    cases = [(source, tool) for source in SOURCES for tool in tools_for(source)]
    taken: dict[tuple[str, str], list[dict[str, Any]]] = {case: [] for case in cases}
    for turn in range(rounds):
        for source, tool in cases:
            for _ in range(_times(taken[source, tool])):
                _say(f"{workload} {source}, round {turn + 1}: {tool}")
                taken[source, tool].append(runner.measure(tool, workload, source))
    sources = {
        source: {tool: taken[source, tool] for tool in tools_for(source)} for source in SOURCES
    }
    size = os.path.getsize(WORKLOADS[workload].run)
    return {"workload": workload, "file_bytes": size, "sources": sources, "ranx_cold": cold}


def _times(taken: list[dict[str, Any]]) -> int:
    """How often to measure in this round, given what was measured before."""
    if any("error" in one for one in taken):
        return 0
    spent = sum(one["import_s"] + one["wall_s"] for one in taken)
    if spent > ENOUGH_S:
        return 0
    return 3 if taken and spent / len(taken) < SHORT_S else 1


def _programs(large: str, rounds: int) -> dict[str, Any]:
    """Whole programs as a shell starts them."""
    runner.ensure(large, "B")
    ours = {
        name: ["assay", "score", "-q", w.qrels, "-r", w.run, "-m", OURS]
        for name, w in ((large, WORKLOADS[large]), ("B", WORKLOADS["B"]))
    }
    commands = {f"assay score, {name}": command for name, command in ours.items()}
    b = WORKLOADS["B"]
    commands["ir_measures, B"] = ["ir_measures", b.qrels, b.run, " ".join(IR_MEASURES)]
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
    for turn in range(2 * rounds):
        for name, command in commands.items():
            _say(f"program, round {turn + 1}: {name}")
            taken[name].append(runner.command_line(command))
    return {"programs": taken}


def _sizes(millions: tuple[float, ...], rounds: int) -> dict[str, Any]:
    """Cost against size; the largest once more with less memory than the file has bytes."""
    rows = []
    for size in millions:
        name = size_name(size)
        runner.ensure(name)
        _say(f"size {size} M rows")
        taken = [runner.measure("assay", name, "files") for _ in range(rounds)]
        row = {"rows": WORKLOADS[name].rows, "taken": taken}
        row["file_bytes"] = os.path.getsize(WORKLOADS[name].run)
        if size == max(millions):
            row["limited"] = runner.measure("assay", name, "files", DATA_LIMIT)
            row["limit_bytes"] = DATA_LIMIT
        rows.append(row)
        runner.remove(name)
    return {"sizes": rows}


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
