"""How precise are AUROC and AUPRC?

``(label, score)`` pairs are drawn together, or whole clusters of them; a resample with one class
only has neither measure and is drawn again. With P positive and N negative draws, w(s) positive
draws of score s, A(s) negative draws above s and T(s) at or above s:

    AUROC = 1 - Σ w(s) (A(s) + T(s)) / (2 P N)               ties count one half
    AUPRC = Σ w(s) / P · C(s) / (C(s) + T(s)), C(s) = Σ w(u) over scores u >= s

The second is step-wise average precision with tied scores as one threshold. Scores are sorted once;
a resample is a row of counts, and A, T and C are running sums of it, exact because they are
integers.

Intervals are percentile or BCa intervals (``bounds.py``). The jackknife of BCa leaves out one pair,
or one cluster. For pairs it has a closed form: without one positive or negative of score s, w(s) is
one less, or A, T and C are from there on, so that prefix sums give all n values at once. Leaving
out the only one of a class leaves no measure, and no value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.model.sampling import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED
from assay.stats.bounds import bounded
from assay.stats.defaults import SAME
from assay.stats.inputs import (
    Method,
    check_method,
    check_sampling,
    cluster_codes,
    labels_and_scores,
)
from assay.stats.interval import Interval
from assay.stats.resample import BLOCK_CELLS, endless_counts, rows_per_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.stats.inputs import Clusters

JACKKNIFE_CELLS: Final = 300_000_000
"""Clusters times pairs: what a few seconds of a core leave out one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingQuality:
    """AUROC and AUPRC with their intervals; ``redrawn`` counts the one-class resamples."""

    auroc: float | None
    auprc: float | None
    auroc_interval: Interval
    auprc_interval: Interval
    redrawn: int = 0
    reason: str | None = None


def bootstrap_ranking_quality(
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    clusters: Clusters | None = None,
    method: Method = "percentile",
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    block_cells: int = BLOCK_CELLS,
) -> RankingQuality:
    """AUROC and AUPRC of the pairs, each with its interval."""
    check_method(method, level)
    check_sampling(resamples, seed)
    truth, points = labels_and_scores(labels, scores)
    codes, count = (None, None) if clusters is None else cluster_codes(clusters, truth.size)
    blank = Interval(
        low=None,
        high=None,
        level=level,
        method=method,
        n=truth.size,
        resamples=resamples,
        seed=seed,
        clusters=count,
    )
    if truth.all() or not truth.any():
        reason = "there is one class only" if truth.size else "there are no pairs"
        blank = replace(blank, reason=reason)
        return RankingQuality(
            auroc=None, auprc=None, auroc_interval=blank, auprc_interval=blank, reason=reason
        )
    ranking = _rank(truth, points, codes)
    (estimate,), _ = _quality(ranking, np.ones((1, truth.size), dtype=np.int64))
    blocks = endless_counts(count or truth.size, seed, rows_per_block(truth.size, block_cells))
    drawn, redrawn = _draw(ranking, blocks, resamples)
    left_out = np.zeros((0, 2))
    if method == "bca" and (count is None or count == truth.size):
        left_out = _without_pairs(ranking)
    elif method == "bca" and count is not None:
        if count * truth.size <= JACKKNIFE_CELLS:
            left_out = _without(ranking, count, rows_per_block(truth.size, block_cells))
        else:
            reason = f"percentile, since there are too many clusters for BCa: {count:,}"
            blank = replace(blank, method="percentile", reason=reason)
    auroc, auprc = (
        _interval(drawn[:, at], blank, float(estimate[at]), left_out[:, at]) for at in (0, 1)
    )
    return RankingQuality(
        auroc=float(estimate[0]),
        auprc=float(estimate[1]),
        auroc_interval=auroc,
        auprc_interval=auprc,
        redrawn=redrawn,
    )


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Pairs in order: positives from the best score down, then negatives from the best score down.

    Entry g of the last three belongs to the g-th distinct positive score: where its positives end,
    how many negatives score higher, and how many score at least as high.
    """

    positives: int
    negatives: int
    codes: IntArray | None
    ends: IntArray
    above: IntArray
    through: IntArray


def _rank(truth: BoolArray, points: FloatArray, codes: IntArray | None) -> _Ranking:
    order = np.lexsort((-points, ~truth))
    positives = int(truth.sum())
    downward = -points[order]
    hits, misses = downward[:positives], downward[positives:]
    ends = np.flatnonzero(np.append(hits[1:] != hits[:-1], True))
    return _Ranking(
        positives=positives,
        negatives=truth.size - positives,
        codes=None if codes is None else codes[order],
        ends=ends,
        above=np.searchsorted(misses, hits[ends], side="left"),
        through=np.searchsorted(misses, hits[ends], side="right"),
    )


def _quality(ranking: _Ranking, counts: IntArray) -> tuple[FloatArray, BoolArray]:
    """AUROC and AUPRC of each row of counts, and which rows hold both classes and so have them."""
    hits = counts[:, : ranking.positives]
    caught = np.cumsum(hits, axis=1)
    if ranking.ends.size < ranking.positives:
        caught = caught[:, ranking.ends]
        hits = np.diff(caught, axis=1, prepend=0)
    misses = np.zeros((len(counts), counts.shape[1] - ranking.positives + 1), dtype=np.int64)
    np.cumsum(counts[:, ranking.positives :], axis=1, out=misses[:, 1:])
    through = misses.take(ranking.through, axis=1)
    wrong = np.einsum("ij,ij->i", hits, through)
    if np.array_equal(ranking.above, ranking.through):
        wrong *= 2
    else:
        wrong += np.einsum("ij,ij->i", hits, misses.take(ranking.above, axis=1))
    total, pairs = caught[:, -1], 2 * caught[:, -1] * misses[:, -1]
    through += caught
    precision = caught / np.maximum(through, 1, out=through)
    auroc = (pairs - wrong) / np.maximum(pairs, 1)
    auprc = np.einsum("ij,ij->i", hits, precision) / np.maximum(total, 1)
    return np.stack((auroc, auprc), axis=1), pairs > 0


def _draw(ranking: _Ranking, blocks: Iterator[IntArray], resamples: int) -> tuple[FloatArray, int]:
    """The first ``resamples`` resamples with two classes, and how many had to be drawn again."""
    kept: list[FloatArray] = []
    missing, redrawn = resamples, 0
    while missing:
        counts = next(blocks)
        if ranking.codes is not None:
            counts = counts.take(ranking.codes, axis=1)
        quality, both_classes = _quality(ranking, counts)
        usable = np.flatnonzero(both_classes)[:missing]
        missing -= usable.size
        redrawn += (len(counts) if missing else int(usable[-1]) + 1) - usable.size
        kept.append(quality[usable])
    return np.concatenate(kept), redrawn


def _without(ranking: _Ranking, clusters: int, rows: int) -> FloatArray:
    """AUROC and AUPRC without each cluster, where both classes remain."""
    assert ranking.codes is not None
    kept = []
    for start in range(0, clusters, rows):
        left = np.arange(start, min(start + rows, clusters))
        counts = (ranking.codes[None, :] != left[:, None]).astype(np.int64)
        quality, both_classes = _quality(ranking, counts)
        kept.append(quality[both_classes])
    return np.concatenate(kept)


def _without_pairs(ranking: _Ranking) -> FloatArray:
    """AUROC and AUPRC without each pair, positives first, where both classes remain."""
    caught = ranking.ends + 1.0
    hits = np.diff(caught, prepend=0.0)
    above, through = ranking.above.astype(np.float64), ranking.through.astype(np.float64)
    positives, negatives = float(ranking.positives), float(ranking.negatives)
    beaten = negatives - (above + through) / 2.0  # by one positive of each score
    pairs = float(hits @ beaten)
    before = _sums_before(hits * caught / (caught + through))
    parts = []
    if positives > 1:
        fewer = caught - 1.0
        precision = fewer / np.maximum(fewer + through, 1.0)
        after = _sums_from(hits * precision)[1:]
        auprc = before[:-1] + (hits - 1.0) * precision + after
        quality = np.stack(((pairs - beaten) / negatives, auprc), axis=1) / (positives - 1.0)
        parts.append(np.repeat(quality, hits.astype(np.int64), axis=0))
    if negatives > 1:
        place = np.arange(ranking.negatives)
        # scores that beat the negative at this place, and those that beat it or tie with it
        higher = np.searchsorted(ranking.through, place, side="right")
        level = np.searchsorted(ranking.above, place, side="right")
        total = np.append(0.0, caught)
        lost = (total[higher] + total[level]) / 2.0
        fewer = _sums_from(hits * caught / np.maximum(caught + through - 1.0, 1.0))
        auprc = before[higher] + fewer[higher]
        quality = np.stack(((pairs - lost) / (negatives - 1.0), auprc), axis=1) / positives
        parts.append(quality)
    return np.concatenate(parts) if parts else np.zeros((0, 2))


def _sums_before(terms: FloatArray) -> FloatArray:
    """Entry g: the sum of the terms before g."""
    return np.append(0.0, np.cumsum(terms))


def _sums_from(terms: FloatArray) -> FloatArray:
    """Entry g: the sum of the terms from g on."""
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)


def _interval(
    values: FloatArray, blank: Interval, estimate: float, jackknife: FloatArray
) -> Interval:
    if blank.clusters == 1:
        return replace(blank, reason="one cluster has no spread")
    if values.min() == values.max():
        value = float(values[0])
        return replace(blank, low=value, high=value, reason="every resample gives the same value")
    return bounded(values, blank, estimate, jackknife, SAME)
