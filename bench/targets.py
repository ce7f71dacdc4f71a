"""Which figures should be reached, and are they?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.summary import Summary, exponent, summarise

MB_PER_GB = 1000


@dataclass(frozen=True, slots=True)
class Target:
    """A figure that must be at least (or at most) some value."""

    what: str
    figure: float
    bound: float
    unit: str = "×"
    at_least: bool = True

    @property
    def reached(self) -> bool:
        return self.figure >= self.bound if self.at_least else self.figure <= self.bound

    def row(self) -> str:
        sign = "≥" if self.at_least else "≤"
        verdict = "reached" if self.reached else "**missed**"
        figure, bound = _number(self.figure), _number(self.bound)
        return f"| {self.what} | {sign} {bound} {self.unit} | {figure} {self.unit} | {verdict} |"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 20 or value == int(value) else f"{value:.2f}"


def targets(results: dict[str, Any]) -> list[Target]:
    """All targets for which there are measurements."""
    return [
        *(_on_a(results["A"]["sources"]) if "A" in results else []),
        *(_on_b(results["B"]["sources"]) if "B" in results else []),
        *(_size(results["size"]["sizes"]) if "size" in results else []),
        *(_statistics(results["stats"]["rows"] or []) if "stats" in results else []),
    ]


def _on_a(sources: dict[str, Any]) -> list[Target]:
    asked = (
        ("files", "pytrec_eval", 5),
        ("files", "ir_measures", 15),
        ("files", "ranx", 15),
        ("dicts", "pytrec_eval", 7),
        ("frames", "pytrec_eval", 60),
    )
    found = []
    for source, peer, bound in asked:
        ours, theirs = _pair(sources[source], peer)
        if ours and theirs:
            ratio = theirs.work.median / ours.work.median
            found.append(Target(f"A from {source}, beside {peer}", ratio, bound))
    ours, _ = _pair(sources["files"], "pytrec_eval")
    if ours:
        peak = ours.peak_mb / MB_PER_GB
        found.append(Target("A from files, peak memory", peak, 0.5, "GB", at_least=False))
    return found


def _on_b(sources: dict[str, Any]) -> list[Target]:
    ours, theirs = _pair(sources["files"], "ir_measures")
    if not ours or not theirs:
        return []
    ratio = theirs.total.median / ours.total.median
    return [Target("B from files with imports, beside ir_measures", ratio, 1)]


def _pair(tools: dict[str, Any], peer: str) -> tuple[Summary | None, Summary | None]:
    ours, theirs = summarise("assay", tools["assay"]), summarise(peer, tools[peer])
    return (
        ours if isinstance(ours, Summary) else None,
        theirs if isinstance(theirs, Summary) else None,
    )


def _size(rows: list[dict[str, Any]]) -> list[Target]:
    found = [(row, summarise("assay", row["taken"])) for row in rows]
    sound = [(row, s) for row, s in found if isinstance(s, Summary)]
    slope = exponent([row["rows"] for row, _ in sound], [s.work.median for _, s in sound])
    (small, least), (large, most) = sound[0], sound[-1]
    growth = (most.peak_mb - least.peak_mb) * 1024**2 / (large["file_bytes"] - small["file_bytes"])
    limited = rows[-1]["limited"]
    allowed = rows[-1]["limit_bytes"] / rows[-1]["file_bytes"]
    return [
        Target("cost against size, exponent", slope, 1.05, "", at_least=False),
        Target("bytes of memory for each byte more of file", growth, 0.05, "", at_least=False),
        Target(
            "data memory allowed / file size, still scored",
            float("inf") if "error" in limited else allowed,
            1,
            "",
            at_least=False,
        ),
    ]


def _statistics(rows: list[dict[str, Any]]) -> list[Target]:
    bounds = (("AUROC", 20), ("bootstrap", 5), ("sign flips", 30))
    found = []
    for row in rows:
        bound = next((b for word, b in bounds if word in row["case"]), None)
        if bound is not None:
            found.append(Target(row["case"], row["ratio"], bound))
    return found
