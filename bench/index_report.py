"""How do the measurements of the index read as tables?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.machine import INDEX_PACKAGES
from bench.targets import Target

NAMES = {
    "bm25": "bm25: words",
    "splade": "splade: weighted terms, exact",
    "dense": "dense, exact",
    "graph": "dense, approximate",
}
PROSE = """
## Index and components

Written by `python -m bench.index --write`; `make bench-index` measures and prints the same tables,
`--only graph` (or another section) a part of them, `--quick` tries it on 1,500 passages.

Every row is an index built in one fresh process and searched in two others. The first is bound to
one core and has one caller: its times are processor time of all threads, so that other work on the
machine does not count. The second has all cores and as many callers, and counts wall time. Build is
processor time, too. Each of 300 queries asks for 100 results, up to five times. Up to 75,862
passages the engines take turns on one core, three times; the round with the median P50 is shown,
and the P50 of all rounds in brackets. *Filter* lets a
quarter of the passages through and applies before ranking. Open is reading the index in a process
that has imported what it needs; RSS is what the process of one core grew by, pages of mapped files
included. Disk and build time are those of one component; qdrant-edge lays out 145 MB in advance.

The passages are 75,862 real ones of randomised trials (Evidence Inference), or made-up words where
a table says synthetic. **Vectors are synthetic**, with the spectrum, neighbourhoods and term
frequencies that the shipped models give to real abstracts (`bench/index_data.py`). Recall is the
share of the true best 100 that came back. Engines that search approximately are run with the least
effort of a short list that reaches .95; assay as it comes. bm25 has no recall, since each engine
cuts and weighs words in its own way: bm25s does not stem, the others do.
"""


WORDS = """
How good is what is found by words? Test queries of two judged collections, title and abstract as
one text, every engine as it comes (`bench/index_quality.py`):
"""


def render(results: dict[str, Any]) -> str:
    """The part of BENCHMARKS.md, as far as it was measured."""
    parts = [PROSE.strip()]
    reached = targets(results)
    if reached:
        head = ["### Targets of the index", "", "| figure | target | measured | |"]
        head.append("| :-- | --: | --: | :-- |")
        parts.append("\n".join([*head, *(target.row() for target in reached)]))
    for kind, title in NAMES.items():
        if kind in results:
            rows = results[kind]["rows"]
            parts.append(f"### {title}, {_passages(rows)}\n\n{_table(rows)}")
        if kind == "bm25" and results.get("words", {}).get("rows"):
            parts.append(f"{WORDS.strip()}\n\n{_words(results['words']['rows'])}")
    for kind, title in NAMES.items():
        rows = [row for row in results.get("large", {}).get("rows", []) if row["kind"] == kind]
        if rows:
            parts.append(f"### {title}, {_passages(rows)}\n\n{_table(rows)}")
    if "size" in results:
        parts.append(_sizes(results["size"]["rows"]))
    if "machine" in results:
        parts.append(_machine(results))
    return "\n\n".join(parts) + "\n"


def targets(results: dict[str, Any]) -> list[Target]:
    """What the index is to reach, and what it reached, on one core."""
    bounds = {"bm25": 5.0, "splade": 5.0, "dense": 40.0, "graph": 5.0}
    found = []
    for kind, bound in bounds.items():
        rows = [row for row in results.get(kind, {}).get("rows", []) if "error" not in row]
        ours = next((row["one"]["plain"] for row in rows if row["engine"] == "assay"), None)
        if ours is None:
            continue
        found.append(Target(f"{NAMES[kind]}, P95", ours["p95"], bound, "ms", at_least=False))
        if kind == "graph":
            found.append(Target(f"{NAMES[kind]}, recall@100", ours["recall"], 0.95, ""))
        peers = {row["engine"]: row["one"]["plain"] for row in rows if row["engine"] != "assay"}
        fair = {name: one for name, one in peers.items() if (one["recall"] or 1) >= 0.945}
        if fair:
            best = min(fair, key=lambda name: fair[name]["p50"])
            ratio = ours["p50"] / fair[best]["p50"]
            found.append(
                Target(f"{NAMES[kind]}, P50 beside {best}", ratio, 1.1, "×", at_least=False)
            )
    return found


def _passages(rows: list[dict[str, Any]]) -> str:
    made = "" if rows[0]["workload"] == "real" else " synthetic"
    return f"{rows[0]['passages']:,}{made} passages"


def _table(rows: list[dict[str, Any]]) -> str:
    searched = ["P50 / P95 / P99 ms", "QPS", "QPS, all cores"]
    head = ["", "build s", "disk MB", "open ms", "RSS MB", "recall", *searched, "filter: recall"]
    head += searched
    lines = [head, [":--", *["--:"] * (len(head) - 1)]]
    for row in rows:
        if "error" in row:
            lines.append([row["engine"], row["error"], *[""] * (len(head) - 2)])
            continue
        one, every = row["one"], row.get("all", {})
        lines.append([
            row["engine"], f"{row['build_cpu_s']:.1f}", f"{row['disk_mb']:.0f}",
            f"{one['open_ms']:.0f}", f"{one['rss_mb']:.0f}",
            *_columns(one["plain"], every.get("plain"), row.get("p50s", ())),
            *_columns(one["filtered"], every.get("filtered")),
        ])  # fmt: skip
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _words(rows: list[dict[str, Any]]) -> str:
    cells = [(name, measure) for name, found in rows[0]["found"].items() for measure in found]
    head = ["", *(f"{name}: {measure}" for name, measure in cells)]
    lines = [head, [":--", *["--:"] * len(cells)]]
    lines += [[row["engine"], *(f"{row['found'][a][b]:.4f}" for a, b in cells)] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _columns(
    one: dict[str, Any], every: dict[str, Any] | None, rounds: Sequence[float] = ()
) -> list[str]:
    recall = "–" if one["recall"] is None else f"{one['recall']:.3f}"
    times = " / ".join(f"{one[name]:.2f}" for name in ("p50", "p95", "p99"))
    if len(rounds) > 1:
        times += f" ({min(rounds):.2f}–{max(rounds):.2f})"
    return [recall, times, f"{one['qps']:,.0f}", f"{every['qps']:,.0f}" if every else ""]


def _sizes(rows: list[dict[str, Any]]) -> str:
    head = ["passages", *NAMES]
    lines = [head, ["--:"] * len(head)]
    for passages in sorted({row["passages"] for row in rows}):
        cells = [f"{passages:,}"]
        for kind in NAMES:
            row = next((r for r in rows if (r["passages"], r["kind"]) == (passages, kind)), {})
            one = row.get("one", {}).get("plain")
            cells.append(f"{one['p50']:.2f} / {one['p95']:.2f}" if one else row.get("error", "–"))
        lines.append(cells)
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return (
        "### Cost against size, synthetic passages\n\nassay on one core, P50 / P95 in ms.\n\n"
        f"{table}\n\n![milliseconds against passages](bench/index-size.svg)"
    )


def _machine(results: dict[str, Any]) -> str:
    machine = results["machine"]
    versions = ", ".join(f"{name} {machine[name]}" for name in INDEX_PACKAGES)
    days = sorted({results[name]["when"] for name in results if name != "machine"})
    return (
        f"Measured {' to '.join(dict.fromkeys((days[0], days[-1])))} on {machine['processor']}, "
        f"{machine['cores']} cores, {machine['memory']}, Python {machine['python']}, {versions}."
    )
