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
from assay.search.fusion.fused import Column, Fused
from assay.search.fusion.rrf import reciprocal_ranks
from assay.search.fusion.weighted import normalized_scores
from assay.search.fusion.weights import effective_weights
from assay.search.options import COMPONENTS, FusionMethod, SearchOptions

PRIMARY = "bm25"  # whose rank breaks ties


def fuse(
    lists: Mapping[str, Sequence[Hit]],
    options: SearchOptions,
    query_type: QueryType | None = None,
) -> list[Fused]:
    """All candidates of all lists, best first; a candidate is known by its key."""
    names = _in_order(lists)
    weights = effective_weights(options, names, query_type)
    columns = []
    ids: dict[int, str] = {}
    totals: dict[int, float] = {}
    places: dict[int, list[int]] = {}
    nowhere = [0] * len(names)
    for at, name in enumerate(names):
        hits = _distinct(lists[name])
        column = _column(name, hits, options, weights[name])
        columns.append(column)
        for rank, hit in enumerate(hits, start=1):
            key = hit.key
            place = places.get(key)
            if place is None:
                place = places[key] = nowhere.copy()
                ids[key] = hit.chunk_id
                totals[key] = 0.0
            place[at] = rank
            totals[key] += column.contributions[rank - 1]
    primary = names.index(PRIMARY) if PRIMARY in names else None
    order = sorted(
        (-total, _primary_rank(places[key], primary), ids[key], key)
        for key, total in totals.items()
    )
    table = tuple(columns)
    return [Fused(key, ids[key], totals[key], table, tuple(places[key])) for *_, key in order]


def _primary_rank(place: list[int], primary: int | None) -> float:
    """Where the primary component has a candidate; last of all where it did not find it."""
    return 0 if primary is None else place[primary] or math.inf


def _column(name: str, hits: Sequence[Hit], options: SearchOptions, weight: float) -> Column:
    """What every hit of a list is worth."""
    scores = tuple(hit.score for hit in hits)
    if not all(map(math.isfinite, scores)):
        bad = next(hit for hit in hits if not math.isfinite(hit.score))
        raise InputError(f"{name} gave {bad.chunk_id} the score {bad.score}, which has no order")
    if options.fusion_method is FusionMethod.RRF:
        values = reciprocal_ranks(len(hits), options.rrf_k)
    else:
        values = normalized_scores(scores, options.normalization)
    return Column(name, scores, tuple(values), tuple(weight * value for value in values))


def _in_order(lists: Mapping[str, Sequence[Hit]]) -> tuple[str, ...]:
    """Known components in their usual order, others by name: sums must not depend on the caller."""
    known = [name for name in COMPONENTS if name in lists]
    return (*known, *sorted(lists.keys() - set(known)))


def _distinct(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The first occurrence of every candidate."""
    first: dict[int, Hit] = {}
    for hit in hits:
        first.setdefault(hit.key, hit)
    return hits if len(first) == len(hits) else [*first.values()]
