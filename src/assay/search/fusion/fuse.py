"""Here are the lists of every component: what is the fused order?

Order: score descending, then BM25's rank (candidates that BM25 did not find come after those it
did), then chunk id. The order in which components are given changes nothing, not even a last digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from assay.errors import InputError
from assay.model.query import Hit
from assay.model.testset import QueryType
from assay.search.fusion.fused import Column, Pool
from assay.search.fusion.rrf import reciprocal_ranks
from assay.search.fusion.weighted import normalized_scores
from assay.search.fusion.weights import effective_weights
from assay.search.options import COMPONENTS, FusionMethod, SearchOptions

PRIMARY = "bm25"  # whose rank breaks ties
_FIRST_PLACE = 3  # where in a row the ranks begin


def fuse(
    lists: Mapping[str, Sequence[Hit]],
    options: SearchOptions,
    query_type: QueryType | None = None,
) -> Pool:
    """All candidates of all lists, best first; a candidate is known by its key."""
    names = _in_order(lists)
    weights = effective_weights(options, names, query_type)
    nowhere = (0,) * len(names)
    columns = []
    # A row is the score (negative), id, key, and the rank in each list: a list of mixed values,
    # since this runs hundreds of times for every query.
    rows: dict[int, list[Any]] = {}
    for at, name in enumerate(names, start=_FIRST_PLACE):
        hits = _distinct(lists[name])
        column = _column(name, hits, options, weights[name])
        columns.append(column)
        pairs = zip(hits, column.contributions, strict=True)
        for rank, ((key, chunk_id, _), share) in enumerate(pairs, start=1):
            row = rows.get(key)
            if row is None:
                row = rows[key] = [-0.0, chunk_id, key, *nowhere]
            row[0] -= share
            row[at] = rank
    for row in rows.values() if len(names) > 2 else ():
        if 0 not in row[_FIRST_PLACE:]:
            # the smallest first: equal shares make equal sums, in whatever lists they were got
            ranks = zip(columns, row[_FIRST_PLACE:], strict=True)
            row[0] = -sum(sorted(column.contributions[rank - 1] for column, rank in ranks))
    primary = len(columns[0].raw) if names[:1] == (PRIMARY,) else 0
    return Pool(_sorted(list(rows.values()), primary), tuple(columns))


def _sorted(rows: list[list[Any]], primary: int) -> list[list[Any]]:
    """Rows in order; the first ``primary`` of them are BM25's, which come in its own order."""
    rows[primary:] = sorted(rows[primary:], key=itemgetter(1))
    return sorted(rows, key=itemgetter(0))  # stable: what ties stays as it is


def _column(name: str, hits: Sequence[Hit], options: SearchOptions, weight: float) -> Column:
    """What every hit of a list is worth."""
    scores = tuple([hit.score for hit in hits])
    if not all(map(math.isfinite, scores)):
        bad = next(hit for hit in hits if not math.isfinite(hit.score))
        raise InputError(f"{name} gave {bad.chunk_id} the score {bad.score}, which has no order")
    values = worth(scores, options)
    return Column(name, scores, values, tuple([weight * value for value in values]))


def worth(scores: Sequence[float], options: SearchOptions) -> tuple[float, ...]:
    """What each place of a component's list is worth before its weight."""
    if options.fusion_method is FusionMethod.RRF:
        return reciprocal_ranks(len(scores), options.rrf_k)
    return tuple(normalized_scores(scores, options.normalization))


def _in_order(lists: Mapping[str, Sequence[Hit]]) -> tuple[str, ...]:
    """Known components in their usual order, others by name: sums must not depend on the caller."""
    known = [name for name in COMPONENTS if name in lists]
    return (*known, *sorted(lists.keys() - set(known)))


def _distinct(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The first occurrence of every candidate."""
    if len({hit.key for hit in hits}) == len(hits):
        return hits
    first: dict[int, Hit] = {}
    for hit in hits:
        first.setdefault(hit.key, hit)
    return [*first.values()]
