"""How far do two annotators agree beyond chance?

Cohen's kappa (Cohen 1960; weighted 1968). With p(i, j) the share of items that the first calls i
and the second calls j, row and column sums r(i) and c(j), and the disagreement v(i, j) = 0 or 1
(plain), |i - j| (linear) or (i - j)² (quadratic) over the ordered categories:

    kappa = 1 - Σ v p / Σ v r c

The interval is kappa ± z · error with the large-sample error of Fleiss, Cohen and Everitt (1969),
cut to [-1, 1].

Where items come in groups, that promises too much: passages of one query are judged alike, since a
strict reading of the question holds for all of them. ``kappa_by_cluster`` draws whole groups and
computes kappa over the items that they bring; resamples in which both use one category only have
no kappa and are drawn again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from assay.errors import UsageError
from assay.model.sampling import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED
from assay.stats.agreement import tabulate
from assay.stats.bounds import percentile_bounds
from assay.stats.defaults import SAME
from assay.stats.distributions import normal_quantile
from assay.stats.inputs import check_sampling, check_share
from assay.stats.interval import Interval
from assay.stats.resample import endless_counts, rows_per_block

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from assay.model.arrays import FloatArray
    from assay.stats.agreement import Agreement

MOST_REDRAWN = 20  # times the resamples that were asked for

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
    blank = Interval(low=None, high=None, level=level, method="asymptotic", n=n, reason=reason)
    if value is None or error is None:
        return blank
    reach = error * normal_quantile((1.0 + level) / 2.0)
    return replace(blank, low=max(-1.0, value - reach), high=min(1.0, value + reach))


def kappa_by_cluster(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    clusters: Sequence[Hashable],
    *,
    weights: Weights = "none",
    categories: Sequence[Hashable],
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Interval:
    """The percentile interval of kappa over resampled clusters."""
    check_share(level, "level")
    check_sampling(resamples, seed)
    members: dict[Hashable, list[int]] = {}
    for at, name in enumerate(clusters):
        members.setdefault(name, []).append(at)
    blank = Interval(
        low=None,
        high=None,
        level=level,
        method="percentile",
        n=len(first),
        resamples=resamples,
        seed=seed,
        clusters=len(members),
    )
    if len(members) < 2:
        return replace(blank, reason="fewer than two groups")
    tables = np.stack(
        [
            tabulate(
                [first[at] for at in rows], [second[at] for at in rows], categories=categories
            ).counts
            for rows in members.values()
        ]
    ).astype(np.float64)
    kappas = _resampled(tables, disagreement_of(len(categories), weights), resamples, seed)
    if len(kappas) < resamples:
        return replace(blank, reason="almost no resample has two categories")
    low, high = percentile_bounds(kappas, level)
    same = "every resample gives the same value" if low == high else None
    return replace(blank, low=low, high=high, reason=same)


def _resampled(
    tables: FloatArray, disagreement: FloatArray, resamples: int, seed: int
) -> FloatArray:
    count, k = len(tables), len(disagreement)
    rows = min(resamples, rows_per_block(max(count, k * k)))
    kept: list[FloatArray] = []
    have = drawn = 0
    for counts in endless_counts(count, seed, rows):
        summed = (counts @ tables.reshape(count, -1)).reshape(-1, k, k)
        observed = (summed * disagreement).sum(axis=(1, 2))
        expected = np.einsum("ri,ij,rj->r", summed.sum(axis=2), disagreement, summed.sum(axis=1))
        usable = np.flatnonzero(expected)[: resamples - have]
        totals = summed[usable].sum(axis=(1, 2))
        kept.append(1.0 - totals * observed[usable] / expected[usable])
        have += usable.size
        drawn += rows
        if have >= resamples or drawn > MOST_REDRAWN * resamples:
            break
    return np.concatenate(kept)
