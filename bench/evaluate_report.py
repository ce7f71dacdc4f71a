"""How do the measurements of evaluating and comparing read?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.machine import describe
from bench.summary import Spread

PROSE = """
## Evaluating and comparing

Written by `python -m bench.evaluate --write`; `make bench-eval` measures and prints the same.

*Overhead* is all that recording does around a retriever which costs nothing: outcomes with 100
results and three lists of 100, scored, and committed ten at a time to a real disk. Commands are
whole processes, Python's own start included, on made-up runs of the same shape; the demo's
command searches with all components and both models. Seconds are those of the clock and, beside
them, of all processors: the median of five with the smallest and the largest in brackets.
"""
CALM_CORES = 0.3


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured several times; ``target`` is what it should not exceed, if anything."""

    name: str
    wall: tuple[float, ...]
    processor: tuple[float, ...]
    target: float | None
    unit: str

    def met(self, others: float | None) -> bool:
        """Whether the median keeps to the target, beside programs that used so many cores."""
        judged = self.wall if calm(others) else self.processor
        return self.target is None or Spread.of(list(judged)).median <= self.target

    def row(self, others: float | None) -> str:
        """One line of the table."""
        wall, processor = (Spread.of(list(v)).text(3) for v in (self.wall, self.processor))
        target = "" if self.target is None else f"≤ {self.target:g} {self.unit}"
        verdict = "" if self.target is None else "reached" if self.met(others) else "**missed**"
        return (
            f"| {self.name} | {wall} {self.unit} | {processor} {self.unit} | {target} | {verdict} |"
        )


def calm(others: float | None) -> bool:
    """Whether the clock tells what the work takes; else only processor seconds do."""
    return others is not None and others <= CALM_CORES


def render(figures: Sequence[Figure], others: float | None) -> str:
    """The part of BENCHMARKS.md."""
    told = describe(("assay", "numpy", "sqlalchemy"))
    machine = ", ".join(f"{name} {value}" for name, value in told.items())
    busy = "" if others is None else f" Other programs used {others:.2f} cores meanwhile"
    held = "the clock" if calm(others) else "processor seconds, as a clock tells little then"
    busy = f"{busy}: targets are held against {held}."
    return "\n".join(
        [
            PROSE.strip(),
            "",
            "| figure | clock | processor | target | |",
            "| :-- | --: | --: | --: | :-- |",
            *(one.row(others) for one in figures),
            "",
            f"Machine: {machine}.{busy}",
        ]
    )
