"""Here are the lists of every component: what is the fused order?

Order: score descending, then BM25's rank (candidates that BM25 did not find come after those it
did), then chunk id. The order in which components are given changes nothing, not even a last digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from assay.errors import InputError
from assay.model.query import Hit
from assay.model.testset import QueryType
from assay.search.fusion.fused import Column, Pool
from assay.search.fusion.rrf import reciprocal_ranks
from assay.search.fusion.weighted import normalized_scores
from assay.search.fusion.weights import effective_weights
from assay.search.request import COMPONENTS, FusionMethod, SearchOptions

PRIMARY = "bm25"  # whose rank breaks ties


def fuse(
    lists: Mapping[str, Sequence[Hit]],
    options: SearchOptions,
    query_type: QueryType | None = None,
) -> Pool:
    """All candidates of all lists, best first; a candidate is known by its key."""
    names = _in_order(lists)
    weights = effective_weights(options, names, query_type)
    columns = [_column(name, lists[name], options, weights[name]) for name in names]
    scores: dict[int, float] = {}
    for column in columns:
        for key, share in zip(column.ranks, column.contributions, strict=True):
            scores[key] = scores.get(key, 0.0) + share
    if len(columns) > 2:
        for key in set(columns[0].ranks).intersection(*(column.ranks for column in columns[1:])):
            # the smallest first: equal shares make equal sums, in whatever lists they were got
            shares = [column.contributions[column.ranks[key] - 1] for column in columns]
            scores[key] = sum(sorted(shares))
    ids = {key: name for column in reversed(names) for key, name, _ in lists[column]}
    keys = [*scores]  # BM25's come first, in its order; of the others the ids decide
    primary = len(columns[0].ranks) if names[:1] == (PRIMARY,) else 0
    keys[primary:] = sorted(keys[primary:], key=ids.__getitem__)
    keys.sort(key=scores.__getitem__, reverse=True)  # stable: what ties stays as it is
    return Pool(keys, scores, ids, tuple(columns))


def _column(name: str, given: Sequence[Hit], options: SearchOptions, weight: float) -> Column:
    """What every hit of a list is worth; the first occurrence of a candidate counts."""
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
    return Column(name, ranks, scores, values, tuple([weight * value for value in values]))


def worth(scores: Sequence[float], options: SearchOptions) -> tuple[float, ...]:
    """What each place of a component's list is worth before its weight."""
    if options.fusion_method is FusionMethod.RRF:
        return reciprocal_ranks(len(scores), options.rrf_k)
    return tuple(normalized_scores(scores, options.normalization))


def _in_order(lists: Mapping[str, Sequence[Hit]]) -> tuple[str, ...]:
    """Known components in their usual order, others by name: sums must not depend on the caller."""
    known = [name for name in COMPONENTS if name in lists]
    return (*known, *sorted(lists.keys() - set(known)))
