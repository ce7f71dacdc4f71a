"""How do the measurements of hybrid search read as tables?"""

from __future__ import annotations

import statistics
from typing import Any

from bench.machine import SEARCH_PACKAGES
from bench.search_data import DENSE_MODEL, SPLADE_MODEL
from bench.search_engines import ENGINES
from bench.targets import Target

PROSE = f"""
## Hybrid search

Written by `python -m bench.search --write`; `make bench-search` measures and prints the same
tables, `--only real` (or `fusion`, `large`) a part of them, `--quick` tries it on 1,500 passages.

A search takes a question to the ten best passages of what 100 candidates of each component make by
reciprocal rank fusion. assay does that as a user gets it: in a workspace, with texts from the
store, boosts, and an account of every score. Up to 1,000 questions are asked once each, and a phase
ends after 6 s (after 90 s with encoding on all cores); every phase opens the engine anew, so that
no answer is remembered. On one core there is one caller; on all cores latency is that of one
caller, QPS that of as many callers as cores. *Vectors given* leaves out the models; *with encoding*
counts them: `{DENSE_MODEL}` and `{SPLADE_MODEL}`, the same for every engine, side by side
in two threads.

The passages are 75,862 real ones of randomised trials (Evidence Inference) and its questions, or
made-up words where a table says synthetic. **Vectors are synthetic** (`bench/index_data.py`): the
models encode the real question, and the synthetic vector of that number is then searched for.
Dense search is exact up to 200,000 passages and uses a graph above, for every engine.

What the peers do: qdrant-edge prefetches words (its own BM25), SPLADE and dense vectors and fuses
them itself, and returns texts; nothing is boosted or explained. LanceDB has no index of sparse
vectors, so it fuses **two** components, words and dense; only ids are fetched of it. Chroma on
one's own machine answers "Search is not implemented for Local Chroma": it has no hybrid search
there. txtai cannot be imported without torch, which is larger than all the others together, and
fuses two components; it is left out.
"""
LIMITS = {"bm25": 100, "splade": 150, "dense": 50, "fusion": 10, "total": 500}
NAMED = {"total": "hybrid"}


def render(results: dict[str, Any]) -> str:
    """The part of BENCHMARKS.md, as far as it was measured."""
    parts = [PROSE.strip()]
    reached = targets(results)
    if reached:
        head = ["### Targets of hybrid search", "", "| figure | target | measured | |"]
        head.append("| :-- | --: | --: | :-- |")
        parts.append("\n".join([*head, *(target.row() for target in reached)]))
    if "fusion" in results:
        parts += [_fusion(results["fusion"]["rows"]), _encoding(results["fusion"]["rows"])]
    for section in ("real", "large"):
        if section in results:
            parts.append(_engines(results[section]["rows"]))
    if (ours := _ours(results)) is not None:
        parts.append(_stages(ours))
    if "machine" in results:
        parts.append(_machine(results))
    return "\n\n".join(parts) + "\n"


def targets(results: dict[str, Any]) -> list[Target]:
    """What search is to reach, and what it reached."""
    found = []
    for name, row in results.get("fusion", {}).get("rows", {}).get("fusion", {}).items():
        found.append(
            Target(f"fusion, boosts, account, {name}: P50", row["p50"], 1, "ms", at_least=False)
        )
    ours = _ours(results)
    if ours is None:
        return found
    stages = ours["stages"]
    found.append(Target("hybrid with encoding, P95", ours["p95"], 80, "ms", at_least=False))
    for stage, limit in LIMITS.items():
        name = f"{NAMED.get(stage, stage)} with encoding, P95, the contract's limit"
        found.append(Target(name, stages[stage]["p95"], limit, "ms", at_least=False))
    rows = results["real"]["rows"]
    for peer, row in rows.items():
        if peer != "assay" and "error" not in row:
            for mode in ("search", "together"):
                ratio = row["all"][f"{mode}_1"]["p50"] / rows["assay"]["all"][f"{mode}_1"]["p50"]
                found.append(Target(f"{_mode(mode)}, P50 of {peer} beside ours", ratio, 1))
    return found


def _ours(results: dict[str, Any]) -> dict[str, Any] | None:
    """One caller on all cores, encoding included, on the real passages."""
    row = results.get("real", {}).get("rows", {}).get("assay", {})
    found: dict[str, Any] | None = row.get("all", {}).get("together_1")
    return found


def _mode(mode: str) -> str:
    return "vectors given" if mode == "search" else "with encoding"


def _fusion(rows: dict[str, Any]) -> str:
    lines = []
    for name, row in rows["fusion"].items():
        spread = f"{row['least']:.2f}–{row['most']:.2f}"
        lines.append([name, f"{row['candidates']:.0f}", _times(row), spread, str(row["n"])])
    head = ["question with", "candidates", "P50 / P95 / P99 ms", "means of 20 rounds", "n"]
    return (
        "### Fusion, boosts and the account of ten hits\n\nProcessor time from three lists of 100 "
        f"to the finished response, on one core.\n\n{_table(head, lines)}"
    )


def _encoding(rows: dict[str, Any]) -> str:
    models = {"dense": DENSE_MODEL, "splade": SPLADE_MODEL}
    lines = [[models[name], _times(row)] for name, row in rows["encode"].items()]
    return (
        "### Encoding a question\n\nOne model alone on one core, wall time.\n\n"
        f"{_table(['model', 'P50 / P95 / P99 ms'], lines)}"
    )


def _engines(rows: dict[str, Any]) -> str:
    first = next(iter(rows.values()))
    made = "" if first["workload"] == "real" else " synthetic"
    parts = [f"### {first['passages']:,}{made} passages"]
    for mode in ("search", "together"):
        head = ["", "components", "build s", "disk MB", "one core: P50 / P95 / P99 ms", "QPS"]
        head += ["all cores: P50 / P95 / P99 ms", "n", "P50 / ours", "QPS, all cores"]
        lines = [_line(name, row, rows, mode) for name, row in rows.items()]
        parts.append(f"{_mode(mode).capitalize()}:\n\n{_table(head, lines)}")
    phases = [
        phase
        for row in rows.values()
        for on in ("one", "all")
        for phase in row.get(on, {}).values()
    ]
    others = [phase["others"] for phase in phases if phase["others"] is not None]
    if others:
        parts.append(
            f"Other processes used {min(others):.1f} to {max(others):.1f} cores meanwhile "
            f"({statistics.median(others):.1f} in the median phase)."
        )
    return "\n\n".join(parts)


def _line(name: str, row: dict[str, Any], rows: dict[str, Any], mode: str) -> list[str]:
    components = ENGINES[name].components
    if "error" in row:
        return [name, components, row["error"], *[""] * 7]
    one, every = row["one"][f"{mode}_1"], row["all"][f"{mode}_1"]
    callers = max(row["all"], key=lambda phase: int(phase.rpartition("_")[2])).rpartition("_")[2]
    ours = rows.get("assay", {}).get("all", {}).get(f"{mode}_1")
    ratio = f"{every['p50'] / ours['p50']:.2f}" if ours else "–"
    return [
        *(name, components, f"{row['build_s']:.0f}", f"{row['disk_mb']:,.0f}"),
        *(_times(one), f"{one['qps']:.0f}", _times(every), str(every["n"]), ratio),
        f"{row['all'][f'{mode}_{callers}']['qps']:.0f}",
    ]


def _stages(ours: dict[str, Any]) -> str:
    lines = [
        [NAMED.get(stage, stage), _times(row), f"{LIMITS.get(stage, '')}"]
        for stage, row in ours["stages"].items()
    ]
    head = ["stage", "P50 / P95 / P99 ms", "contract, P95"]
    return (
        f"### Where the time goes\n\nassay on all cores, one caller, {ours['n']:,} questions, "
        "encoding included; components run side by side and include their model, fusion and "
        f"boosts are wall time here.\n\n{_table(head, lines)}"
    )


def _times(row: dict[str, float]) -> str:
    return " / ".join(f"{row[name]:.2f}" for name in ("p50", "p95", "p99"))


def _table(head: list[str], lines: list[list[str]]) -> str:
    every = [head, [":--", *["--:"] * (len(head) - 1)], *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in every)


def _machine(results: dict[str, Any]) -> str:
    machine = results["machine"]
    versions = ", ".join(f"{name} {machine[name]}" for name in SEARCH_PACKAGES)
    days = sorted({results[name]["when"] for name in results if name != "machine"})
    return (
        f"Measured {' to '.join(dict.fromkeys((days[0], days[-1])))} on {machine['processor']}, "
        f"{machine['cores']} cores, {machine['memory']}, Python {machine['python']}, {versions}."
    )
