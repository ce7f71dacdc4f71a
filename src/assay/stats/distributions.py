"""What is the chance of a value under the normal, Student's and the noncentral t-distribution?

Only what our tests and intervals need, so that whoever scores and compares installs no SciPy; the
tests hold every function to SciPy's figures.

    P(T <= t) = 1 - I(df / (df + t²); df/2, 1/2) / 2  for t >= 0, I the regularised incomplete beta
                function as a continued fraction (Lentz's method, Numerical Recipes 6.4); for
                many degrees of freedom the density is summed
    noncentral  ∫ Φ(t s - shift) f(s) ds, f the density of s = √(χ²/df), summed by the rule
                of Gauss and Legendre
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from assay.model.arrays import FloatArray

_TINY = 1e-300
_EXACT = 1e-16
_MANY = 100.0
_FAR = 10.0  # standard deviations beyond which less than 1e-22 of a normal distribution lies
_STIRLING = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224)


def normal_cdf(x: float) -> float:
    """Φ(x), the chance that a standard normal value is at most x."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def normal_quantile(share: float) -> float:
    """The x with Φ(x) = share; infinite at 0 and 1."""
    from statistics import NormalDist

    if share in (0.0, 1.0):
        return math.copysign(math.inf, share - 0.5)
    return NormalDist().inv_cdf(share)


def t_cdf(df: float, t: float) -> float:
    """The chance that Student's t with ``df`` degrees of freedom is at most t."""
    return 1.0 - _t_tail(df, t) if t > 0.0 else _t_tail(df, -t)


def t_quantile(df: float, share: float) -> float:
    """The t that is not exceeded with the chance ``share``; infinite at 0 and 1."""
    if share < 0.5:
        return -_t_exceeded_by(df, share)
    return _t_exceeded_by(df, 1.0 - share)


def noncentral_t_cdf(df: int, shift: float, t: float) -> float:
    """The chance that (Z + shift) / s is at most t, where Z is normal and df·s² is χ²."""
    mode, reach = math.sqrt((df - 1) / df), _FAR / math.sqrt(df)
    low, high = max(0.0, mode - reach), mode + reach
    turns = [(shift + far) / t for far in (-_FAR, _FAR)] if t else []  # Φ rises between them
    ends = sorted([low, high, *(turn for turn in turns if low < turn < high)])
    spread = np.concatenate([_nodes(a, b) for a, b in pairwise(ends)], axis=1)
    points, weights = spread
    weights = weights * _density(points, df, mode)
    below = np.array([normal_cdf(t * point - shift) for point in points.tolist()])
    return float(weights @ below / weights.sum())


def _t_tail(df: float, t: float) -> float:
    """The chance that T exceeds a t that is not negative."""
    if math.isinf(t):
        return 0.0
    square = t * t
    if square == 0.0:
        return 0.5
    if df > _MANY:
        return _summed_tail(df, t)
    a, ratio = 0.5 * df, square / df
    x, rest = 1.0 / (1.0 + ratio), ratio / (1.0 + ratio)
    # x^a (1 - x)^(1/2) / B(a, 1/2)
    factor = math.exp(-a * math.log1p(ratio)) * math.sqrt(rest / math.pi) * _gamma_ratio(a)
    if x < (a + 1.0) / (a + 2.5):
        return 0.5 * factor * _beta_fraction(x, a, 0.5) / a
    return 0.5 - factor * _beta_fraction(rest, 0.5, a)  # the factor 1/2 and 1/b cancel


def _summed_tail(df: float, t: float) -> float:
    """The same for many degrees of freedom, where a fraction needs many terms and loses digits."""
    end = math.sqrt(df * math.expm1(math.log1p(t * t / df) + 90.0 / (df + 1.0)))  # e^-45 is left
    points, weights = _nodes(t, end)
    scale = _gamma_ratio(0.5 * df) / math.sqrt(df * math.pi)
    return scale * float(weights @ np.exp(-0.5 * (df + 1.0) * np.log1p(points * points / df)))


def _gamma_ratio(a: float) -> float:
    """Γ(a + 1/2) / Γ(a), by Stirling's series where Γ itself would be too large."""
    if a < 20.0:
        return math.gamma(a + 0.5) / math.gamma(a)
    series = sum(term / a ** (2 * at + 1) for at, term in enumerate(_STIRLING))
    return math.sqrt(a) * math.exp(series)


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function."""
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value, m = d, 0
    while True:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + term * d)
            c = _away_from_zero(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) <= 2 * _EXACT:
            return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


@lru_cache(maxsize=256)
def _t_exceeded_by(df: float, tail: float) -> float:
    """The t >= 0 that is exceeded with the chance ``tail``, by Newton's steps within a bracket."""
    if not 0.0 < tail < 0.5:
        return 0.0 if tail else math.inf
    low, high = 0.0, 1.0
    while _t_tail(df, high) > tail:
        low, high = high, 2.0 * high
    t = 0.5 * (low + high)
    for _ in range(200):
        over = _t_tail(df, t)
        if over > tail:
            low = t
        else:
            high = t
        # in logarithms the curve is nearly straight, so that few steps are needed
        step = math.log(over / tail) * over / _t_density(df, t)
        following = t + step
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - t) <= 4 * _EXACT * t:
            return following
        t = following
    return t


def _t_density(df: float, t: float) -> float:
    a = 0.5 * df
    scale = _gamma_ratio(a) / math.sqrt(df * math.pi)
    return scale * math.exp(-(a + 0.5) * math.log1p(t * t / df))


def _density(points: FloatArray, df: int, mode: float) -> FloatArray:
    """The density of √(χ²/df), in units of its highest value."""
    if df == 1:
        return np.exp(-0.5 * points**2)
    away = points / mode - 1.0
    return np.exp((df - 1) * (np.log1p(away) - away - 0.5 * away**2))


def _nodes(low: float, high: float) -> FloatArray:
    """Points and weights of a sum over short pieces."""
    unit, weights = _rule()
    edges = np.linspace(low, high, 17)
    half = (edges[1:, None] - edges[:-1, None]) / 2.0
    points = edges[:-1, None] + half * (unit + 1.0)
    return np.stack([points.ravel(), (half * weights).ravel()])


@cache
def _rule() -> tuple[FloatArray, FloatArray]:
    points, weights = np.polynomial.legendre.leggauss(20)
    return points, weights
