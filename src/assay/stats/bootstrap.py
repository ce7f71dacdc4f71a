"""How precise is the mean of each measure?

The bootstrap draws queries (or whole clusters of them) with replacement and looks at the spread of
the resampled means. Both intervals come from one count matrix that all columns share:

    percentile   the middle of the resampled means
    BCa          the same, corrected for bias and skewness (see ``bounds``), with an exact jackknife

A mean runs over a column's defined entries: it is the ratio of two sums, and stays one when
clusters are drawn. The jackknife leaves out one query, or one cluster where clusters are drawn.
Resamples in which a column has no defined entry are left out for that column, which is the same
distribution as drawing them again; ``Interval.resamples`` says how many remained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.model.sampling import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED
from assay.stats.bounds import bounded
from assay.stats.clustering import sum_by
from assay.stats.defaults import SAME
from assay.stats.inputs import (
    Method,
    check_method,
    check_sampling,
    cluster_codes,
    defined_mask,
    float_array,
    refuse_bad_entries,
    unusable,
)
from assay.stats.interval import Interval
from assay.stats.resample import count_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.stats.inputs import Clusters

ONE_THREAD: Final = 1_000_000
"""Products of fewer multiplications than this are not split over threads."""


def bootstrap_mean(
    values: ArrayLike,
    *,
    clusters: Clusters | None = None,
    method: Method = "percentile",
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Interval:
    """The interval of one column's mean."""
    column = float_array(values, "values", 1)[:, None]
    (interval,) = bootstrap_means(
        column, clusters=clusters, method=method, level=level, resamples=resamples, seed=seed
    )
    return interval


def bootstrap_means(
    values: ArrayLike,
    *,
    defined: ArrayLike | None = None,
    clusters: Clusters | None = None,
    method: Method = "percentile",
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> tuple[Interval, ...]:
    """The interval of each column's mean; rows are queries, ``defined`` masks missing entries."""
    check_method(method, level)
    check_sampling(resamples, seed)
    table = _read_table(values, defined, clusters)
    blocks = count_blocks(table.units, resamples, seed)
    blank = Interval(
        low=None,
        high=None,
        level=level,
        method=method,
        n=0,
        resamples=resamples,
        seed=seed,
        clusters=table.units if table.clustered else None,
    )
    return _intervals(table, blocks, blank)


@dataclass(frozen=True, slots=True)
class _Table:
    """Columns as sums per drawn unit (a query or a cluster), so that mean = Σ sums / Σ sizes."""

    values: FloatArray
    defined: BoolArray
    sums: FloatArray
    sizes: FloatArray
    clustered: bool

    @property
    def units(self) -> int:
        return len(self.sums)


def _read_table(values: ArrayLike, defined: ArrayLike | None, clusters: Clusters | None) -> _Table:
    matrix = float_array(values, "values", 2)
    mask = defined_mask(defined, matrix.shape)
    refuse_bad_entries(matrix, mask & unusable(matrix), "values")
    filled = np.where(mask, matrix, 0.0)
    ones = mask.astype(np.float64)
    if clusters is None:
        return _Table(filled, mask, filled, ones, clustered=False)
    codes, count = cluster_codes(clusters, len(matrix))
    return _Table(
        filled, mask, sum_by(codes, count, filled), sum_by(codes, count, ones), clustered=True
    )


def _intervals(table: _Table, blocks: Iterable[IntArray], blank: Interval) -> tuple[Interval, ...]:
    """Answer the columns that need no resamples, then resample the others together."""
    answers = [_without_resamples(table, j, blank) for j in range(table.values.shape[1])]
    waiting = [j for j, answer in enumerate(answers) if answer is None]
    if waiting:
        tops, bottoms = _resampled_sums(table.sums[:, waiting], table.sizes[:, waiting], blocks)
        for position, j in enumerate(waiting):
            usable = bottoms[:, position] > 0.0
            means = tops[usable, position] / bottoms[usable, position]
            answers[j] = _from_resamples(table, j, means, blank)
    return tuple(answer for answer in answers if answer is not None)


def _resampled_sums(
    sums: FloatArray, sizes: FloatArray, blocks: Iterable[IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Numerators and denominators of every resample's means, one row per resample."""
    complete = bool(np.all(sizes == 1.0))
    scratch, tops, bottoms = np.empty((0, 0)), [], []
    for counts in blocks:
        scratch = scratch if scratch.size >= counts.size else np.empty(counts.shape)
        weights = scratch[: len(counts)]
        weights[:] = counts
        tops.append(_product(weights, sums))
        drawn = float(counts[0].sum())
        same = np.full((len(counts), 1), drawn)
        bottoms.append(same if complete else _product(weights, sizes))
    above = np.concatenate(tops)
    return above, np.broadcast_to(np.concatenate(bottoms), above.shape)


def _product(weights: FloatArray, columns: FloatArray) -> FloatArray:
    """The matrix product in pieces small enough for a linear algebra library to use one thread.

    More threads would spend more time on waking up than on work, and could add in another order.
    """
    if columns.shape[1] == 1:
        only: FloatArray = np.einsum("ij,jk->ik", weights, columns)
        return only
    width = max(3, ONE_THREAD // weights.size)
    pieces = np.array_split(columns, -(-columns.shape[1] // width), axis=1)
    return np.concatenate([weights @ piece for piece in pieces], axis=1)


def _without_resamples(table: _Table, j: int, blank: Interval) -> Interval | None:
    """The answer for a column that is empty, alone or constant; ``None`` for any other."""
    values = table.values[table.defined[:, j], j]
    n = values.size
    if n == 0:
        return replace(blank, n=0, reason="no query has a defined value")
    if n == 1:
        return replace(blank, n=1, reason="one query has no spread")
    if table.clustered and np.count_nonzero(table.sizes[:, j]) == 1:
        return replace(blank, n=n, reason="one cluster has no spread")
    if values.min() == values.max():
        value = float(values[0])
        return replace(blank, low=value, high=value, n=n, reason="every value is the same")
    return None


def _from_resamples(table: _Table, j: int, means: FloatArray, blank: Interval) -> Interval:
    n = int(np.count_nonzero(table.defined[:, j]))
    answer = replace(blank, n=n, resamples=means.size)
    if means.size == 0:
        return replace(answer, reason="no resample has a defined value")
    total, size = table.sums[:, j].sum(), table.sizes[:, j].sum()
    left = size - table.sizes[:, j]
    jackknife = (total - table.sums[left > 0.0, j]) / left[left > 0.0]
    tolerance = SAME * float(np.abs(table.values[:, j]).max())
    return bounded(means, answer, float(total / size), jackknife, tolerance)
