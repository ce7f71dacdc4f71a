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
from assay.search.fusion.fused import Evidence, Fused
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
    blank: list[Evidence | None] = [None] * len(names)
    rows: dict[int, list[Evidence | None]] = {}
    ids: dict[int, str] = {}
    for at, name in enumerate(names):
        hits = _distinct(lists[name])
        values = _values(name, hits, options)
        weight = weights[name]
        for rank, (hit, value) in enumerate(zip(hits, values, strict=True), start=1):
            key = hit.key
            row = rows.get(key)
            if row is None:
                row = rows[key] = blank.copy()
                ids[key] = hit.chunk_id
            row[at] = Evidence(rank, hit.score, value, weight * value)
    found = [Fused(key, ids[key], _total(row), names, tuple(row)) for key, row in rows.items()]
    return _sorted(found, names)


def _values(name: str, hits: Sequence[Hit], options: SearchOptions) -> list[float]:
    """What every hit of a list is worth before its weight."""
    scores = [hit.score for hit in hits]
    if not all(map(math.isfinite, scores)):
        bad = next(hit for hit in hits if not math.isfinite(hit.score))
        raise InputError(f"{name} gave {bad.chunk_id} the score {bad.score}, which has no order")
    if options.fusion_method is FusionMethod.RRF:
        return reciprocal_ranks(len(hits), options.rrf_k)
    return normalized_scores(scores, options.normalization)


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


def _total(row: list[Evidence | None]) -> float:
    total = 0.0
    for found in row:
        if found is not None:
            total += found.contribution
    return total


def _sorted(found: list[Fused], names: tuple[str, ...]) -> list[Fused]:
    if PRIMARY not in names:
        return sorted(found, key=lambda one: (-one.score, one.chunk_id))
    at = names.index(PRIMARY)

    def order(one: Fused) -> tuple[float, float, str]:
        primary = one.evidence[at]
        return -one.score, math.inf if primary is None else primary.rank, one.chunk_id

    return sorted(found, key=order)
