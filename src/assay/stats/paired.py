"""Is the mean difference between two runs more than chance, if differences are roughly normal?

Paired t-test (Student 1908) of the n differences d = b - a:

    t = mean(d) / (sd(d) / √n), df = n - 1, p = 2 P(T >= |t|)
    interval: mean(d) ± t(level, df) sd(d) / √n
    effect size d_z = mean(d) / sd(d) (Cohen 1988)

Defined answers for data without spread: identical runs differ by 0 with p = 1; a constant
difference other than 0 has no t, p or d_z (they would divide by zero), and its interval is that one
value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.sampling import DEFAULT_LEVEL
from assay.stats.defaults import DEFAULT_ALPHA
from assay.stats.distributions import t_cdf, t_quantile
from assay.stats.inputs import check_share
from assay.stats.interval import Interval
from assay.stats.pairs import read_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.stats.pairs import Pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedT:
    """The mean difference b - a with its test, effect size and interval."""

    n: int
    difference: float | None
    sd: float | None
    t: float | None
    df: int | None
    p: float | None
    significant: bool | None
    alpha: float
    effect_size: float | None
    interval: Interval
    reason: str | None = None


def paired_t(
    a: ArrayLike, b: ArrayLike, *, alpha: float = DEFAULT_ALPHA, level: float = DEFAULT_LEVEL
) -> PairedT:
    """Two-sided paired t-test of b against a."""
    check_share(alpha, "alpha")
    check_share(level, "level")
    pairs = read_pairs(a, b)
    sd = None if pairs.n < 2 else float(pairs.differences.std(ddof=1))
    if sd is None:
        reason = "one pair has no spread" if pairs.n else "there are no pairs"
        return _without_test(pairs, None, reason, alpha, level)
    if pairs.identical:
        return _without_test(pairs, 0.0, "the runs are identical", alpha, level)
    if pairs.constant or sd == 0.0:
        reason = "every pair differs by the same amount, so t is undefined"
        return _without_test(pairs, 0.0, reason, alpha, level)
    return _with_test(pairs, sd, alpha, level)


def _without_test(
    pairs: Pairs, sd: float | None, reason: str, alpha: float, level: float
) -> PairedT:
    """The answer for fewer than two pairs (``sd`` is None) or for pairs without spread."""
    same = sd is not None and pairs.identical
    end = None if sd is None else pairs.mean
    return PairedT(
        n=pairs.n,
        difference=pairs.mean,
        sd=sd,
        t=None,
        df=None if sd is None else pairs.n - 1,
        p=1.0 if same else None,
        significant=False if same else None,
        alpha=alpha,
        effect_size=0.0 if same else None,
        interval=Interval(low=end, high=end, level=level, method="t", n=pairs.n, reason=reason),
        reason=reason,
    )


def _with_test(pairs: Pairs, sd: float, alpha: float, level: float) -> PairedT:
    mean, df, error = float(pairs.differences.mean()), pairs.n - 1, sd / math.sqrt(pairs.n)
    t = mean / error
    p = 2.0 * t_cdf(df, -abs(t))
    reach = error * t_quantile(df, (1.0 + level) / 2.0)
    return PairedT(
        n=pairs.n,
        difference=mean,
        sd=sd,
        t=t,
        df=df,
        p=p,
        significant=p < alpha,
        alpha=alpha,
        effect_size=mean / sd,
        interval=Interval(low=mean - reach, high=mean + reach, level=level, method="t", n=pairs.n),
    )
