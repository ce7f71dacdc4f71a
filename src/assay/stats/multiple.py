"""Which p-values still count when several measures were tested?

Holm's step-down correction (Holm 1979) holds the chance of any false alarm among m tests at alpha
without assuming anything about their dependence. With p(1) <= ... <= p(m):

    adjusted p(i) = max over j <= i of min(1, (m - j + 1) p(j))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjusted p-values in the order of the input; ``None`` stays and is not counted as a test."""
    tests = sorted((_checked(p, i), i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for done, (p, i) in enumerate(tests):
        running = max(running, min(1.0, (len(tests) - done) * p))
        adjusted[i] = running
    return tuple(adjusted)


def _checked(p: float, place: int) -> float:
    if not 0.0 <= p <= 1.0:
        raise InputError(f"p_values[{place}] is {p}", hint="p-values lie between 0 and 1")
    return float(p)
