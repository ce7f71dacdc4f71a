"""In one word and one sentence: is b better than a?

    equivalent     the whole interval of the difference lies strictly inside ±margin, also where the
                   difference is significant: real, but too small to matter; identical runs too
    better, worse  otherwise, where the (adjusted) p-value is below alpha, by the difference's sign
    inconclusive   otherwise; the sentence names the smallest difference that could have been shown

An interval of level 1 - 2 alpha inside the margin is the two one-sided tests procedure at alpha
(Schuirmann 1987): pass a 90 % interval for alpha 0.05. A wider interval is merely cautious.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from assay.errors import InputError, UsageError
from assay.stats.defaults import DEFAULT_ALPHA
from assay.stats.inputs import check_share

if TYPE_CHECKING:
    from assay.stats.interval import Interval


class Verdict(StrEnum):
    """The outcome of comparing two runs."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict with the sentence that explains it."""

    verdict: Verdict
    sentence: str


def verdict(
    difference: float | None,
    p: float | None,
    interval: Interval | None = None,
    *,
    margin: float | None = None,
    alpha: float = DEFAULT_ALPHA,
    detectable: float | None = None,
    higher_is_better: bool = True,
) -> Ruling:
    """Judge the mean difference b - a.

    ``p`` is the p-value after any correction, ``detectable`` the minimum detectable difference in
    units of the measure, ``margin`` the largest difference that does not matter.
    """
    _check(difference, p, interval, margin, alpha)
    if difference is None:
        return Ruling(Verdict.INCONCLUSIVE, "Inconclusive: the difference is undefined.")
    if interval is not None and difference == interval.low == interval.high == 0.0:
        return Ruling(Verdict.EQUIVALENT, "Equivalent: no query differs between the runs.")
    significant = p is not None and p < alpha
    if interval is not None and margin is not None and interval.lies_within(margin):
        return _equivalent(difference, interval, margin, significant)
    if p is not None and significant and difference != 0.0:
        return _decided(difference, p, alpha, higher_is_better)
    return _inconclusive(difference, p, alpha, detectable)


def _check(
    difference: float | None,
    p: float | None,
    interval: Interval | None,
    margin: float | None,
    alpha: float,
) -> None:
    check_share(alpha, "alpha")
    if difference is not None and not math.isfinite(difference):
        raise InputError(f"difference is {difference}", hint="pass None for an undefined one")
    if p is not None and not 0.0 <= p <= 1.0:
        raise InputError(f"p is {p}", hint="p-values lie between 0 and 1")
    if margin is not None and not 0.0 < margin < math.inf:
        raise UsageError(f"margin is {margin}", hint="give a positive number, or none")
    if interval is not None and interval.level < 1.0 - 2.0 * alpha - 1e-9:
        raise UsageError(
            f"an interval of level {interval.level} cannot show equivalence at alpha {alpha}",
            hint=f"use level {1.0 - 2.0 * alpha:g} or more",
        )


def _equivalent(difference: float, interval: Interval, margin: float, significant: bool) -> Ruling:
    real = "is real but smaller than" if significant else "is smaller than"
    return Ruling(
        Verdict.EQUIVALENT,
        f"Equivalent: the difference {difference:+.4f} {real} the margin ±{margin:g} "
        f"({interval.level:.0%} interval {interval.low:+.4f} to {interval.high:+.4f}).",
    )


def _decided(difference: float, p: float, alpha: float, higher_is_better: bool) -> Ruling:
    better = (difference > 0.0) == higher_is_better
    word = Verdict.BETTER if better else Verdict.WORSE
    shown = "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
    return Ruling(
        word,
        f"{word.capitalize()}: the difference {difference:+.4f} is significant "
        f"({shown}, alpha {alpha:g}).",
    )


def _inconclusive(
    difference: float, p: float | None, alpha: float, detectable: float | None
) -> Ruling:
    why = "has no p-value" if p is None else f"is not significant (p = {p:.4f}, alpha {alpha:g})"
    limit = "unknown" if detectable is None else f"{detectable:.4f}"
    return Ruling(
        Verdict.INCONCLUSIVE,
        f"Inconclusive: the difference {difference:+.4f} {why}; "
        f"the smallest difference this test can be expected to show is {limit}.",
    )
