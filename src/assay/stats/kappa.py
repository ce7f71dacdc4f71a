"""How far do two annotators agree beyond chance?

Cohen's kappa (Cohen 1960; weighted 1968). With p(i, j) the share of items that the first calls i
and the second calls j, row and column sums r(i) and c(j), and the disagreement v(i, j) = 0 or 1
(plain), |i - j| (linear) or (i - j)² (quadratic) over the ordered categories:

    kappa = 1 - Σ v p / Σ v r c

The interval is kappa ± z · error with the large-sample error of Fleiss, Cohen and Everitt (1969),
cut to [-1, 1]. ``kappa_bootstrap`` draws items instead; resamples in which both use one category
only have no kappa and are drawn again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from assay.errors import UsageError
from assay.stats.agreement import tabulate
from assay.stats.bounds import percentile_bounds
from assay.stats.defaults import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED, SAME
from assay.stats.inputs import check_sampling, check_share
from assay.stats.interval import Interval
from assay.stats.resample import BLOCK_CELLS, rows_per_block

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from assay.model.arrays import FloatArray
    from assay.stats.agreement import Agreement

Weights: TypeAlias = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Kappa with its interval, the raw share of agreement and the table behind both."""

    value: float | None
    weights: Weights
    n: int
    agreement: float | None
    standard_error: float | None
    interval: Interval
    categories: tuple[Hashable, ...]
    confusion: tuple[tuple[int, ...], ...]
    reason: str | None = None


def cohen_kappa(
    first: Iterable[Hashable],
    second: Iterable[Hashable],
    *,
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    level: float = DEFAULT_LEVEL,
) -> Kappa:
    """Kappa of two annotators' labels of the same items, with its large-sample interval.

    ``categories`` lists them from low to high; without it they are sorted.
    """
    check_share(level, "level")
    table = tabulate(first, second, categories=categories, ordered=weights != "none")
    disagreement = disagreement_of(len(table.categories), weights)
    value = _value(table, disagreement)
    error = None if value is None or table.n < 2 else _error(table, disagreement, value)
    reason = _reason(table, value, error)
    return Kappa(
        value=value,
        weights=weights,
        n=table.n,
        agreement=float(np.trace(table.counts)) / table.n if table.n else None,
        standard_error=error,
        interval=_interval(value, error, level, table.n, reason),
        categories=table.categories,
        confusion=tuple(tuple(row) for row in table.counts.tolist()),
        reason=reason,
    )


def kappa_bootstrap(
    first: Iterable[Hashable],
    second: Iterable[Hashable],
    *,
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    block_cells: int = BLOCK_CELLS,
) -> Interval:
    """The percentile interval of kappa over resampled items."""
    check_share(level, "level")
    check_sampling(resamples, seed)
    table = tabulate(first, second, categories=categories, ordered=weights != "none")
    disagreement = disagreement_of(len(table.categories), weights)
    blank = Interval(
        low=None,
        high=None,
        level=level,
        method="percentile",
        n=table.n,
        resamples=resamples,
        seed=seed,
    )
    reason = _reason(table, _value(table, disagreement), None)
    if reason:
        return replace(blank, reason=reason)
    low, high = percentile_bounds(
        _resampled(table, disagreement, resamples, seed, block_cells), level
    )
    same = "every resample gives the same value" if low == high else None
    return replace(blank, low=low, high=high, reason=same)


def disagreement_of(k: int, weights: str) -> FloatArray:
    """How bad it is that one says i and the other j, of k ordered categories."""
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    kinds = {"none": np.minimum(steps, 1.0), "linear": steps, "quadratic": steps**2}
    if weights not in kinds:
        raise UsageError(f"unknown weights {weights!r}", hint=f"use {', '.join(kinds)}")
    return kinds[weights]


def _value(table: Agreement, disagreement: FloatArray) -> float | None:
    """Kappa, or ``None`` where chance alone leaves no room to disagree."""
    expected = float(table.counts.sum(axis=1) @ disagreement @ table.counts.sum(axis=0))
    if expected == 0.0:
        return None
    return 1.0 - table.n * float(np.sum(disagreement * table.counts)) / expected


def _error(table: Agreement, disagreement: FloatArray, value: float) -> float:
    """The large-sample standard error, from weights of agreement 1 - v / max v."""
    agreement = 1.0 - disagreement / disagreement.max()
    shares = table.counts / table.n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = float(rows @ agreement @ columns)
    means = np.add.outer(agreement @ columns, rows @ agreement)
    spread = float(np.sum(shares * (agreement - means * (1.0 - value)) ** 2))
    spread -= (value - expected * (1.0 - value)) ** 2
    error = math.sqrt(max(spread, 0.0) / table.n) / (1.0 - expected)
    return 0.0 if error <= math.sqrt(SAME) else error


def _reason(table: Agreement, value: float | None, error: float | None) -> str | None:
    if table.n == 0:
        return "there are no items"
    if value is None:
        return "both annotators used one and the same category only"
    if table.n == 1:
        return "one item has no spread"
    return "the standard error is zero and says too little" if error == 0.0 else None


def _interval(
    value: float | None, error: float | None, level: float, n: int, reason: str | None
) -> Interval:
    from scipy.special import ndtri

    blank = Interval(low=None, high=None, level=level, method="asymptotic", n=n, reason=reason)
    if value is None or error is None:
        return blank
    reach = error * float(ndtri((1.0 + level) / 2.0))
    return replace(blank, low=max(-1.0, value - reach), high=min(1.0, value + reach))


def _resampled(
    table: Agreement, disagreement: FloatArray, resamples: int, seed: int, block_cells: int
) -> FloatArray:
    """Kappas of resampled items: how often each filled cell is drawn is multinomial."""
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(table.counts)
    shares = table.counts[i, j] / table.n
    in_row, in_column = np.eye(len(table.counts))[i], np.eye(len(table.counts))[j]
    rows = rows_per_block(max(i.size, len(table.counts)), block_cells)
    kept: list[FloatArray] = []
    missing = resamples
    while missing:
        drawn = rng.multinomial(table.n, shares, size=rows).astype(np.float64)
        expected = np.sum((drawn @ in_row @ disagreement) * (drawn @ in_column), axis=1)
        usable = np.flatnonzero(expected)[:missing]
        observed = drawn[usable] @ disagreement[i, j]
        kept.append(1.0 - table.n * observed / expected[usable])
        missing -= usable.size
    return np.concatenate(kept)
