"""How do the measurements of a cluster read as tables?"""

from __future__ import annotations

import os
from typing import Any

from bench.cluster_worker import WAYS
from bench.targets import Target

PROSE = """
## Search on a cluster

Written by `python -m bench.cluster --write`; `make bench-cluster` measures and prints the same
tables, `--only ingest` (or `search`, `layer`) a part of them, `--quick` tries it on 1,500 passages.

Three OpenSearch nodes share this machine with the program that asks them, so these figures say what
the way through a cluster costs, and not what a cluster of three machines can do. Passages,
questions and vectors are those of *Hybrid search* above; vectors are given, so that no model is
part of any figure. Components return their best 100, hybrid search ten explained hits of the three
lists; every question is asked once. *Medians* is the least and the most of five consecutive parts.
"""
LAYER_MS = 3.0
NAMES = {
    "assay": "assay, the whole hybrid search",
    "three": "the three requests alone, side by side",
    "msearch": "the same three as one `_msearch`",
    "cost": "assay less the three requests, question by question",
    "outside": "**our layer**: of assay's time, that before its first request and after its last",
    "work": "**our layer** in processor time: assay's process less the raw client's",
    "msearch_less_three": "`_msearch` less the three requests",
}


def render(results: dict[str, Any]) -> str:
    """The part of BENCHMARKS.md, as far as it was measured."""
    parts = [PROSE.strip()]
    if "layout" in results:
        parts.append(_layout(results))
    if reached := targets(results):
        head = ["| figure | target | measured | |", "| :-- | --: | --: | :-- |"]
        parts.append("\n".join([*head, *(target.row() for target in reached)]))
    if "search" in results:
        parts.append(_search(results["search"]))
    if "layer" in results:
        parts.append(_layer(results["layer"]))
    if "ingest" in results:
        parts.append(_ingest(results["ingest"], results["passages"]))
    if "machine" in results:
        parts.append(_machine(results))
    return "\n\n".join(parts) + "\n"


def targets(results: dict[str, Any]) -> list[Target]:
    """What is to be reached."""
    if "layer" not in results:
        return []
    return [
        Target(
            f"our layer over the raw calls, {how}, P50", row["p50"], LAYER_MS, "ms", at_least=False
        )
        for how, row in (
            ("processor time", results["layer"]["work"]),
            ("elapsed", results["layer"]["outside"]),
        )
    ]


def _layout(results: dict[str, Any]) -> str:
    layout = results["layout"]
    made = "" if results["workload"] == "real" else " made-up"
    return (
        f"{results['passages']:,}{made} passages, {layout['shards']} shards with "
        f"{layout['replicas']} copy each, {layout['heap']} of heap a node."
    )


def _search(rows: dict[str, Any]) -> str:
    head = ["", "embedded: P50 / P95 ms", "medians", "cluster: P50 / P95 ms", "medians", "P50 ×"]
    lines = []
    for way in WAYS:
        here, there = rows["embedded"][way], rows["cluster"][way]
        ratio = f"{there['p50'] / here['p50']:.1f}"
        lines.append([way, _times(here), _range(here), _times(there), _range(there), ratio])
    both = "hybrid, 2 callers"
    rates = [f"{rows[engine][both]['qps']:.0f}" for engine in ("embedded", "cluster")]
    others = [row["others"] for engine in ("embedded",) for row in rows[engine].values()]
    busy = max((one for one in others if one is not None), default=0.0)
    return (
        f"### Searching\n\n{_table(head, lines)}\n\n"
        f"Two callers get {rates[0]} hybrid answers a second embedded and {rates[1]} of the "
        f"cluster. The embedded dense search is exact; the cluster's graph finds "
        f"{rows['nearest']:.1%} of the true 100 nearest. Other programs used at most {busy:.1f} "
        f"cores during the embedded searches. {_load(rows)}"
    )


def _layer(row: dict[str, Any]) -> str:
    lines = [
        [text, f"{row[name]['p50']:.2f}", f"{row[name]['p95']:.2f}", _range(row[name])]
        for name, text in NAMES.items()
    ]
    stages = ", ".join(f"{name} {value:.2f}" for name, value in row["stages"].items())
    return (
        "### Our layer\n\nThe raw calls are the same requests by the leanest client there is "
        "(standard library, connections kept, answers read as JSON and nothing more), question by "
        f"question in turn with ours; n = {row['assay']['n']:,}. The difference of two requests to "
        "a busy cluster varies by more than our layer takes, so that is measured within each "
        "search: from the question to the first request, and from the last answer to the hits. "
        f"{_load(row)}\n\n"
        f"{_table(['', 'P50 ms', 'P95 ms', 'medians'], lines)}\n\n"
        f"Medians of what assay says of itself, in ms: {stages}."
    )


def _load(row: dict[str, Any]) -> str:
    known = row.get("load")
    if not known:
        return ""
    cores = os.cpu_count() or 1
    busy = ": other programs made everything slower, so measure again when it is idle"
    return f"The load average was {known:.1f} on {cores} cores{busy if known > 3 * cores else ''}."


def _ingest(rows: dict[str, Any], passages: int) -> str:
    here, there = rows["embedded"], rows["cluster"]
    lines = [
        [name, f"{row['total_s']:.0f}", f"{passages / row['total_s']:,.0f}", f"{row['mb']:,.0f}"]
        for name, row in (("embedded", here), ("cluster", there))
    ]
    return (
        "### Loading\n\nFrom the store to the moment it can be searched, vectors given. Of the "
        f"cluster's time {there['sent_s']:.0f} s went by until everything was sent "
        f"({passages / there['sent_s']:,.0f} passages a second); the rest merges segments and "
        "makes the copies. Its size is that without copies.\n\n"
        f"{_table(['', 'seconds', 'passages a second', 'MB'], lines)}\n\n{_load(rows)}"
    )


def _machine(results: dict[str, Any]) -> str:
    machine = results["machine"]
    days = sorted(
        {results[name]["when"] for name in ("ingest", "search", "layer") if name in results}
    )
    known = ("processor", "cores", "memory", "system", "python")
    versions = ", ".join(f"{name} {one}" for name, one in machine.items() if name not in known)
    return (
        f"Measured {' to '.join(dict.fromkeys((days[0], days[-1])))} on {machine['processor']}, "
        f"{machine['cores']} cores, {machine['memory']}, Python {machine['python']}, {versions}, "
        "OpenSearch 2.19.1."
    )


def _times(row: dict[str, float]) -> str:
    return f"{row['p50']:.2f} / {row['p95']:.2f}"


def _range(row: dict[str, float]) -> str:
    return f"{row['least']:.2f}–{row['most']:.2f}"


def _table(head: list[str], lines: list[list[str]]) -> str:
    every = [head, [":--", *["--:"] * (len(head) - 1)], *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in every)
