"""Did a system get better, or only better at the queries it was tuned on?

Two runs of one system, before and after, are compared on both sides of the split: on the evaluation
queries and on the held-out ones. If the former improve and the latter do not, or clearly less, the
system may be overfitted. Ten held-out queries show only large differences, so the result
distinguishes likely overfitting (the gains differ by more than chance, Welch 1947) from possible
overfitting. If the gains have no spread, their sign decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from assay.evaluation.scores import rounded
from assay.model.sampling import DEFAULT_LEVEL
from assay.stats.defaults import DEFAULT_ALPHA
from assay.stats.distributions import t_cdf, t_quantile
from assay.stats.interval import Interval
from assay.stats.paired import PairedT, paired_t
from assay.stats.power import minimum_detectable_effect

FEW = 30
NO_SPREAD = 1e-12


class Fit(StrEnum):
    """What the two sides of the split show together."""

    NO_GAIN = "no_gain"
    GENERAL = "general"
    POSSIBLE = "possible_overfitting"
    LIKELY = "likely_overfitting"


@dataclass(frozen=True, slots=True)
class Overfitting:
    """The gain on both sides, the gap between the gains, and what follows."""

    measure: str
    fit: Fit
    evaluation: PairedT
    held_out: PairedT
    gap: float | None
    gap_interval: Interval
    gap_p: float | None
    detectable: float | None
    notes: tuple[str, ...] = ()

    @property
    def alarm(self) -> bool:
        """Whether the evaluation queries improved and the held-out ones did not, or far less."""
        return self.fit in (Fit.POSSIBLE, Fit.LIKELY)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "measure": self.measure,
            "fit": self.fit.value,
            "alarm": self.alarm,
            "evaluation": _gain(self.evaluation),
            "held_out": _gain(self.held_out),
            "gap": rounded(self.gap),
            "gap_ci": [rounded(self.gap_interval.low), rounded(self.gap_interval.high)],
            "gap_p": rounded(self.gap_p),
            "smallest_detectable": rounded(self.detectable),
            "notes": list(self.notes),
        }


def overfitting(
    evaluation: Mapping[str, tuple[float, float]],
    held_out: Mapping[str, tuple[float, float]],
    measure: str,
    *,
    alpha: float = DEFAULT_ALPHA,
) -> Overfitting:
    """Compare the gain on held-out queries with that on the others; pairs are (before, after)."""
    open_side = _paired(evaluation, alpha)
    kept_side = _paired(held_out, alpha)
    gains = [_differences(side) for side in (evaluation, held_out)]
    gap, interval, p = _welch(gains[0], gains[1])
    detectable = minimum_detectable_effect(kept_side.n, sd=kept_side.sd).difference
    fit = _fit(open_side, kept_side, _ahead(gap, interval, p, alpha))
    notes = []
    if kept_side.n < FEW:
        least = f", so gains below {detectable:.2f} mostly go unseen" if detectable else ""
        notes.append(f"{kept_side.n} held-out queries are few{least}")
    if fit is Fit.POSSIBLE:
        notes.append("the two sides differ by no more than chance can explain")
    if fit is Fit.LIKELY and _rose(kept_side):
        notes.append("the held-out queries improved, but by clearly less")
    for name, one in (("evaluation", open_side), ("held-out", kept_side)):
        if one.reason:
            notes.append(f"{name} queries: {one.reason}")
    return Overfitting(
        measure, fit, open_side, kept_side, gap, interval, p, detectable, tuple(notes)
    )


def _fit(open_side: PairedT, kept_side: PairedT, ahead: bool) -> Fit:
    """The conclusion; ``ahead`` says whether the gain on evaluation queries is clearly larger."""
    constant = open_side.significant is None and open_side.sd == 0.0
    if not _rose(open_side) or not (open_side.significant or constant):
        return Fit.NO_GAIN
    if ahead:
        return Fit.LIKELY
    return Fit.GENERAL if _rose(kept_side) else Fit.POSSIBLE


def _rose(side: PairedT) -> bool:
    return side.difference is not None and side.difference > 0.0


def _ahead(gap: float | None, interval: Interval, p: float | None, alpha: float) -> bool:
    """Whether the gap is positive beyond chance; without spread, its sign decides."""
    if gap is None or gap <= NO_SPREAD:
        return False
    return p < alpha if p is not None else interval.defined


def _paired(side: Mapping[str, tuple[float, float]], alpha: float) -> PairedT:
    return paired_t([a for a, _ in side.values()], [b for _, b in side.values()], alpha=alpha)


def _differences(side: Mapping[str, tuple[float, float]]) -> list[float]:
    return [b - a for a, b in side.values()]


def _welch(a: Sequence[float], b: Sequence[float]) -> tuple[float | None, Interval, float | None]:
    """Welch's test: the difference of two means with unequal variances, with interval and p."""
    blank = Interval(
        low=None, high=None, level=DEFAULT_LEVEL, method="welch", n=len(a) + len(b), reason=None
    )
    if len(a) < 2 or len(b) < 2:
        gap = float(np.mean(a) - np.mean(b)) if a and b else None
        return gap, blank, None
    gap = float(np.mean(a) - np.mean(b))
    parts = [float(np.var(side, ddof=1)) / len(side) for side in (a, b)]
    error = math.sqrt(sum(parts))
    if error < NO_SPREAD:  # on each side, every query changed by the same amount
        return gap, replace(blank, low=gap, high=gap, reason="the gains have no spread"), None
    df = sum(parts) ** 2 / sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, (a, b), strict=True)
    )
    p = 2.0 * t_cdf(df, -abs(gap) / error)
    reach = t_quantile(df, (1.0 + DEFAULT_LEVEL) / 2.0) * error
    interval = Interval(
        low=gap - reach,
        high=gap + reach,
        level=DEFAULT_LEVEL,
        method="welch",
        n=len(a) + len(b),
    )
    return gap, interval, p


def _gain(side: PairedT) -> dict[str, Any]:
    return {
        "n": side.n,
        "difference": rounded(side.difference),
        "ci": [rounded(side.interval.low), rounded(side.interval.high)],
        "p": rounded(side.p),
    }
