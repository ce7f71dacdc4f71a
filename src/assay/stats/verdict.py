"""In one word and one sentence: is b better than a?

    equivalent     the whole interval of the difference lies strictly inside ±margin, also where the
                   difference is significant: real, but too small to matter; identical runs too
    better, worse  otherwise, where the (adjusted) p-value is below alpha, by the difference's sign
    inconclusive   otherwise; the sentence names what a paired t-test could have been expected to
                   show, which is where the minimum detectable difference comes from

The word "significant" is left to the paired t-test (``paired.py``), which stands beside the
verdict; ``p_name`` says which p-value the verdict rests on.

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
    p_name: str = "p",
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
    real = p is not None and p < alpha
    if interval is not None and margin is not None and interval.lies_within(margin):
        return _equivalent(difference, interval, margin, real)
    evidence = "there is no p-value" if p is None else f"{_shown(p, p_name)}, alpha {alpha:g}"
    if real and difference != 0.0:
        return _decided(difference, evidence, higher_is_better)
    return _inconclusive(difference, evidence, detectable)


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


def _equivalent(difference: float, interval: Interval, margin: float, real: bool) -> Ruling:
    size = "is real but smaller than" if real else "is smaller than"
    return Ruling(
        Verdict.EQUIVALENT,
        f"Equivalent: the difference {difference:+.4f} {size} the margin ±{margin:g} "
        f"({interval.level:.0%} interval {interval.low:+.4f} to {interval.high:+.4f}).",
    )


def _decided(difference: float, evidence: str, higher_is_better: bool) -> Ruling:
    better = (difference > 0.0) == higher_is_better
    word = Verdict.BETTER if better else Verdict.WORSE
    return Ruling(
        word,
        f"{word.capitalize()}: the difference {difference:+.4f} is more than chance ({evidence}).",
    )


def _inconclusive(difference: float, evidence: str, detectable: float | None) -> Ruling:
    said = f"Inconclusive: the difference {difference:+.4f} could be chance ({evidence})"
    if detectable is None or abs(difference) >= detectable:
        return Ruling(Verdict.INCONCLUSIVE, f"{said}.")
    return Ruling(
        Verdict.INCONCLUSIVE,
        f"{said}; this many queries can be expected to show differences from {detectable:.4f} on.",
    )


def _shown(p: float, name: str) -> str:
    return f"{name} < 0.0001" if p < 0.0001 else f"{name} = {p:.4f}"
