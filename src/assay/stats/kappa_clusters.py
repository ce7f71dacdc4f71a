"""How sure is kappa when the items come in groups?

Passages of one query are judged alike: whoever reads the question more strictly does so for all of
them. Drawing items would then promise too much, so whole queries are drawn and kappa is computed
over the items that they bring. Resamples without a kappa (one category only) are drawn again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from assay.model.arrays import FloatArray
from assay.stats.agreement import tabulate
from assay.stats.bounds import percentile_bounds
from assay.stats.defaults import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED
from assay.stats.inputs import check_sampling, check_share
from assay.stats.interval import Interval
from assay.stats.kappa import Weights, disagreement_of
from assay.stats.resample import endless_counts, rows_per_block

MOST_REDRAWN = 20  # times the resamples that were asked for


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
