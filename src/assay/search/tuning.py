"""How would every query of a run have been ranked under any fusion settings, without searching?

The candidates of a query become a matrix of what each component says of each; a setting is then
a few array operations. The order is that of ``ranking.py``: fusion, then boosts, to the last digit.
A query's type and the factor that boosts give a candidate do not depend on fusion, so that they are
read once (``reading``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from assay.errors import UsageError
from assay.model.arrays import FloatArray, IntArray
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery, QueryType
from assay.search.fusion import effective_weights, worth
from assay.search.recorded import filters_of
from assay.search.request import FusionMethod, Normalization, SearchOptions
from assay.search.searcher import Searcher

RRF_KS = (5, 10, 20, 40, 60, 100)
NO_RANK = np.iinfo(np.int64).max
NOT_FOUND = 10**9  # the rank of what no component found that counts: below every cut


@dataclass(frozen=True)
class Pool:
    """The candidates of one query: where each stands in each component's list, from 0 (−1: not).

    ``ids`` are in ascending order, so that a stable sort breaks the last ties by id. ``factors``
    are those of the boosts, 1 where nothing is boosted.
    """

    ids: tuple[str, ...]
    place: IntArray
    scores: Mapping[str, tuple[float, ...]]
    factors: FloatArray
    query_type: QueryType | None = None

    @cached_property
    def _primary(self) -> IntArray:
        at = list(self.scores).index("bm25") if "bm25" in self.scores else None
        if at is None:
            return np.zeros(len(self.ids), dtype=np.int64)
        return np.where(self.place[:, at] < 0, NO_RANK, self.place[:, at])

    def worth(self, options: SearchOptions) -> FloatArray:
        """What each component's word on each candidate is worth, before weights."""
        values = np.zeros(self.place.shape)
        for at, scores in enumerate(self.scores.values()):
            there = self.place[:, at] >= 0
            values[there, at] = np.asarray(worth(scores, options))[self.place[there, at]]
        return values

    def ranks(self, worth: FloatArray, weights: Mapping[str, float]) -> IntArray:
        """The rank of each candidate, from 1, in the order of ``ids``.

        Components without a weight are left out, and so is what they alone found.
        """
        asked = [at for at, name in enumerate(self.scores) if name in weights]
        counted = np.array([weights[name] for name in self.scores if name in weights])
        shares = np.sort(worth[:, asked] * counted, axis=1)
        absent = (self.place[:, asked] < 0).all(axis=1)
        total = np.where(absent, -1.0, 0.0)
        for share in shares.T:  # the smallest first, as fusion adds them up
            total += share
        order = np.lexsort((self._primary, -total))
        order = order[np.argsort(-(total * self.factors)[order], kind="stable")]
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(1, len(order) + 1)
        ranks[absent] = NOT_FOUND
        return ranks


@dataclass(frozen=True, slots=True)
class Reading:
    """What a query is: its type, and the factor of each candidate that boosts lift."""

    query_type: QueryType | None = None
    factors: Mapping[str, float] = field(default_factory=dict)


def reading(searcher: Searcher, query: GoldenQuery, options: SearchOptions) -> Reading:
    """How a search would read this query under these options."""
    wanted = replace(options, filters=filters_of(query, options.filters))
    ranking = searcher.prepare(query.query_text, wanted).rank(wanted)
    lifted = (one for one in ranking.boosted if one.boosts) if ranking.detected else ()
    return Reading(
        ranking.query_type,
        {
            one.fused.chunk_id: max(boost.factor for boost in applied)
            for one in lifted
            if (applied := [boost for boost in one.boosts if boost.applied])
        },
    )


def pool(outcome: QueryOutcome, components: Sequence[str], read: Reading | None = None) -> Pool:
    """The candidates of a query, from the lists that its run kept."""
    read = read or Reading()
    lists = {name: found for name in components if (found := outcome.component_lists.get(name, ()))}
    for name in lists:
        if name not in outcome.component_list_scores:
            raise UsageError(
                "the run did not keep the scores of its components", hint="run it anew"
            )
    ids = tuple(sorted({one for found in lists.values() for one in found}))
    row = {one: at for at, one in enumerate(ids)}
    place = np.full((len(ids), len(lists)), -1, dtype=np.int64)
    for at, found in enumerate(lists.values()):
        place[[row[one] for one in found], at] = np.arange(len(found))
    return Pool(
        ids,
        place,
        {name: outcome.component_list_scores[name] for name in lists},
        np.array([read.factors.get(one, 1.0) for one in ids], dtype=np.float64),
        read.query_type,
    )


def weights_of(found: Pool, options: SearchOptions) -> dict[str, float]:
    """The weights that count for a query, of whose components some may have found nothing."""
    kind = options.query_type or found.query_type
    asked = tuple(name for name in found.scores if name in options.components)
    return effective_weights(options, asked, kind)


def alone(options: SearchOptions, component: str) -> SearchOptions:
    """The search with one component and no weights."""
    return replace(
        options, components=(component,), weights={}, per_type_weights=False, type_weights={}
    )


def grid(
    options: SearchOptions, methods: Sequence[FusionMethod], step: float
) -> Iterator[SearchOptions]:
    """Every setting to try: weights on a grid of this step, each k and each normalization."""
    combinations = list(weight_grid(options.components, step))
    plain = replace(options, per_type_weights=False, type_weights={})
    for method in methods:
        if method is FusionMethod.RRF:
            bases = [replace(plain, fusion_method=method, rrf_k=k) for k in RRF_KS]
        else:
            bases = [
                replace(plain, fusion_method=method, normalization=how) for how in Normalization
            ]
        for base in bases:
            for weights in combinations:
                yield replace(base, weights=weights)


def with_type_weights(
    options: SearchOptions, by_type: Mapping[str, SearchOptions]
) -> SearchOptions:
    """The options with weights of their own for these query types."""
    return replace(
        options, type_weights={str(kind): dict(one.weights) for kind, one in by_type.items()}
    )


def weight_grid(components: Sequence[str], step: float) -> Iterator[dict[str, float]]:
    """Weights that sum to 1 in steps; every component has some, or it would be another search."""
    parts = round(1 / step)
    if not components or parts < len(components):
        raise UsageError(f"a step of {step:g} leaves no weights", hint="such as 0.1")

    def shares(left: int, count: int) -> Iterator[tuple[int, ...]]:
        if count == 1:
            yield (left,)
            return
        for first in range(1, left - count + 2):
            for rest in shares(left - first, count - 1):
                yield (first, *rest)

    for chosen in shares(parts, len(components)):
        yield {
            name: round(share / parts, 6) for name, share in zip(components, chosen, strict=True)
        }
