"""What is the fused order of the components' lists?

By score descending, then BM25's rank (candidates that BM25 did not find come after those it did),
then chunk id. The order in which components are given changes nothing, not even the last digit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from assay.errors import InputError
from assay.model.query import Hit
from assay.model.testset import QueryType
from assay.search.fusion.fused import ComponentScores, FusedPool
from assay.search.fusion.rrf import reciprocal_ranks
from assay.search.fusion.weighted import normalized_scores
from assay.search.fusion.weights import effective_weights
from assay.search.request import COMPONENTS, FusionMethod, SearchOptions

PRIMARY = "bm25"  # whose rank breaks ties


def fuse(
    lists: Mapping[str, Sequence[Hit]],
    options: SearchOptions,
    query_type: QueryType | None = None,
) -> FusedPool:
    """All candidates of all lists, best first; a candidate is identified by its key."""
    names = _in_order(lists)
    weights = effective_weights(options, names, query_type)
    columns = [_column(name, lists[name], options, weights[name]) for name in names]
    scores: dict[int, float] = {}
    for column in columns:
        for key, share in zip(column.ranks, column.contributions, strict=True):
            scores[key] = scores.get(key, 0.0) + share
    if len(columns) > 2:
        for key in _in_three(columns):
            # smallest first: equal contributions make equal sums, whatever lists they come from
            there = (column for column in columns if key in column.ranks)
            scores[key] = sum(sorted(one.contributions[one.ranks[key] - 1] for one in there))
    ids = {key: name for column in reversed(names) for key, name, _ in lists[column]}
    keys = [*scores]  # BM25's candidates first, in its order; then the others by id
    primary = len(columns[0].ranks) if names[:1] == (PRIMARY,) else 0
    keys[primary:] = sorted(keys[primary:], key=ids.__getitem__)
    keys.sort(key=scores.__getitem__, reverse=True)  # stable: ties keep this order
    return FusedPool(keys, scores, ids, tuple(columns))


def _column(
    name: str, given: Sequence[Hit], options: SearchOptions, weight: float
) -> ComponentScores:
    """The scores of a component's list; the first occurrence of a candidate counts."""
    keys, _, scores = zip(*given, strict=True) if given else ((), (), ())
    if len(set(keys)) < len(keys):
        first = {key: score for key, _, score in reversed(given)}
        keys = tuple(dict.fromkeys(keys))
        scores = tuple(map(first.__getitem__, keys))
    if not all(map(math.isfinite, scores)):
        bad = next(hit for hit in given if not math.isfinite(hit.score))
        raise InputError(f"{name} gave {bad.chunk_id} the score {bad.score}, which has no order")
    values = worth(scores, options)
    ranks = dict(zip(keys, range(1, len(keys) + 1), strict=True))
    return ComponentScores(name, ranks, scores, values, tuple([weight * value for value in values]))


def worth(scores: Sequence[float], options: SearchOptions) -> tuple[float, ...]:
    """The unweighted contribution of each rank of a component's list."""
    if options.fusion_method is FusionMethod.RRF:
        return reciprocal_ranks(len(scores), options.rrf_k)
    return tuple(normalized_scores(scores, options.normalization))


def _in_three(columns: Sequence[ComponentScores]) -> Iterable[int]:
    """The candidates that three lists or more have."""
    if len(columns) == 3:
        return set(columns[0].ranks).intersection(*(column.ranks for column in columns[1:]))
    often = Counter(key for column in columns for key in column.ranks)
    return [key for key, count in often.items() if count > 2]


def _in_order(lists: Mapping[str, Sequence[Hit]]) -> tuple[str, ...]:
    """Known components in their usual order, then others by name, so that sums are reproducible."""
    known = [name for name in COMPONENTS if name in lists]
    return (*known, *sorted(lists.keys() - set(known)))
