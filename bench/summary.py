"""What do several measurements of the same thing say together?"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

TOLERANCE = 1e-6
EXACT = 1e-9
PRINTED = 0.6e-4
FOUR_DECIMALS = ("trec_eval", "assay score, the command")  # print that many


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some measurements, and between which values they lay."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def text(self, digits: int = 2) -> str:
        if self.low == self.high:
            return f"{self.median:.{digits}f}"
        return f"{self.median:.{digits}f} ({self.low:.{digits}f}–{self.high:.{digits}f})"


@dataclass(frozen=True, slots=True)
class Summary:
    """All measurements of one tool on one workload and source."""

    tool: str
    n: int
    imported: Spread
    work: Spread
    total: Spread
    wall: Spread
    peak_mb: float
    held_mb: float
    values: dict[str, float]


def summarise(tool: str, measured: list[dict[str, Any]]) -> Summary | str:
    """The summary, or the reason why there is none."""
    failed = [m["error"] for m in measured if "error" in m]
    if failed:
        return str(failed[0])
    return Summary(
        tool=tool,
        n=len(measured),
        imported=Spread.of([m["import_s"] for m in measured]),
        work=Spread.of([m["work_s"] for m in measured]),
        total=Spread.of([m["import_s"] + m["work_s"] for m in measured]),
        wall=Spread.of([m["wall_s"] for m in measured]),
        peak_mb=max(m["peak_mb"] for m in measured),
        held_mb=max(m["held_mb"] for m in measured),
        values=measured[0]["values"],
    )


def disagreement(ours: Summary, theirs: Summary) -> str:
    """``equal``, or else how far; beyond the tolerance, which measures and by how much."""
    if not theirs.values:
        return "–"
    tolerance = PRINTED if theirs.tool in FOUR_DECIMALS else TOLERANCE
    apart = {name: theirs.values[name] - value for name, value in ours.values.items()}
    wrong = {name: gap for name, gap in apart.items() if not abs(gap) <= tolerance}
    if not wrong:
        largest = max(map(abs, apart.values()))
        return "equal" if largest < EXACT else f"equal to {largest:.0e}"
    return ", ".join(f"{name} {gap:+.1e}" for name, gap in wrong.items())


def exponent(sizes: list[float], costs: list[float]) -> float:
    """The slope of log cost over log size, by least squares: 1 is linear."""
    x, y = [math.log(s) for s in sizes], [math.log(c) for c in costs]
    return statistics.linear_regression(x, y).slope


def line(sizes: list[float], costs: list[float]) -> tuple[float, float]:
    """(what nothing costs, what each further unit costs), by least squares."""
    fitted = statistics.linear_regression(sizes, costs)
    return fitted.intercept, fitted.slope
