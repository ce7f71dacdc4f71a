"""Which settings of fusion suit these documents and questions best?

Each part of the test set is searched once; then its candidates are fused and boosted again under
every setting, as a search would do it. Reranking comes after fusion and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from assay.app.evaluation import (
    EvaluationProgress,
    commit_hash,
    evaluate,
    joined_test_set,
    unwatched,
)
from assay.app.evaluation_request import EvaluationRequest
from assay.app.run_view import places_lookup
from assay.errors import UsageError
from assay.evaluation.match import places_of
from assay.evaluation.tuning import Judged, Rank, Tuning, best_by_group, judged
from assay.evaluation.tuning import tune as try_settings
from assay.measures.base import Measure
from assay.measures.parse import parse_measure
from assay.model.arrays import FloatArray, IntArray
from assay.search.request import FusionMethod, Normalization, SearchOptions
from assay.search.run_config import evaluation_options
from assay.search.tuning import Pool, alone, grid, pool, reading, weights_of, with_type_weights

if TYPE_CHECKING:
    from assay.app.workspace import Workspace

BOTH = "both"


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was found, and the options that are in force at present."""

    tuning: Tuning
    present: SearchOptions


def tune(
    workspace: Workspace,
    name: str,
    *,
    measure: str = "nDCG@10",
    fusion_method: str = BOTH,
    step: float = 0.1,
    by_type: bool = False,
    options: Mapping[str, Any] = MappingProxyType({}),
    holdout: bool = True,
    progress: EvaluationProgress = unwatched,
) -> Tuned:
    """Search for better settings of fusion, and see what is left of the gain on unseen queries.

    ``fusion_method`` is rrf, weighted or both, ``step`` the distance between weights. With
    ``by_type`` weights of their own for each type of query are tried as well. ``options`` are
    changes of the search by name. ``holdout`` reports on the held-out part, which is logged.
    """
    maximised = parse_measure(measure)
    test_set = joined_test_set([name], workspace.layout.test_sets)
    if holdout and test_set.held_out is None:
        raise UsageError(
            f"{test_set.name} has no held-out part to check the gain on",
            hint="assay testset split makes one; --no-holdout skips the check",
        )
    present = evaluation_options(workspace.searcher.defaults, **options)
    if len(present.components) < 2:
        raise UsageError("one component alone needs no fusion", hint="--components")
    methods = list(FusionMethod) if fusion_method == BOTH else [FusionMethod(fusion_method)]

    def searched(part: Literal["holdout"] | None) -> _Part:
        request = EvaluationRequest(
            test_set=test_set,
            part=part,
            options={**options, "rerank": False},
            name="tune",
            purpose="tune",
            commit_hash=commit_hash(),
        )
        return _searched(workspace, request, present, progress)

    evaluation = searched(None)
    settings = list(grid(present, methods, step))
    if by_type:
        settings += _by_type(settings, maximised, evaluation)
    tuning = try_settings(
        settings,
        present,
        maximised,
        evaluation=evaluation.scored,
        held_out=searched("holdout").scored if holdout else None,
        sampling=workspace.settings.sampling,
        kind=lambda one: str(one.fusion_method),
        others={f"{name} alone": alone(present, name) for name in present.components},
    )
    return Tuned(tuning, present)


@dataclass(frozen=True, slots=True)
class _Part:
    """The judged candidates of one part, how any setting would rank them, and the query types."""

    judged: Judged
    rank: Rank
    types: Mapping[str, str]

    @property
    def scored(self) -> tuple[Judged, Rank]:
        """What it takes to score a setting."""
        return self.judged, self.rank


def _by_type(
    settings: Sequence[SearchOptions], measure: Measure, part: _Part
) -> Iterator[SearchOptions]:
    """For each method and constant, the best weights of every query type in one setting."""
    if len({*part.types.values()}) < 2:
        return
    families: dict[tuple[str, int, str], list[SearchOptions]] = {}
    for one in settings:
        families.setdefault((one.fusion_method, one.rrf_k, one.normalization), []).append(one)
    for family in families.values():
        best = best_by_group(family, measure, part.scored, part.types)
        if best:
            everywhere = dict.fromkeys(part.judged.queries, "all")
            (overall,) = best_by_group(family, measure, part.scored, everywhere).values()
            yield with_type_weights(overall, best)


def _searched(
    workspace: Workspace,
    request: EvaluationRequest,
    options: SearchOptions,
    progress: EvaluationProgress,
) -> _Part:
    """One part of the test set, searched once."""
    (made,) = evaluate(workspace, request, progress).runs
    test_set, outcomes = made.result.test_set, made.result.outcomes
    queries = test_set.by_id
    pools = {
        outcome.query_id: pool(
            outcome,
            options.components,
            reading(workspace.searcher, queries[outcome.query_id], options),
        )
        for outcome in outcomes
    }
    names = {query: candidates.ids for query, candidates in pools.items()}
    places = places_of(test_set, outcomes, places_lookup(workspace, made.info))
    types = {
        query: str(kind)
        for query, one in pools.items()
        if (kind := options.query_type or one.query_type) is not None
    }
    return _Part(judged(test_set, names, places), ranker(pools), types)


def ranker(pools: dict[str, Pool]) -> Rank:
    """The ranks of a query's candidates; what does not depend on weights is worked out once."""

    @lru_cache(maxsize=4 * len(pools) or 1)
    def worth(query: str, method: str, rrf_k: int, normalization: str) -> FloatArray:
        options = SearchOptions(
            fusion_method=FusionMethod(method),
            rrf_k=rrf_k,
            normalization=Normalization(normalization),
        )
        return pools[query].worth(options)

    def rank(options: SearchOptions, query: str) -> IntArray:
        candidates = pools[query]
        values = worth(query, options.fusion_method, options.rrf_k, options.normalization)
        return candidates.ranks(values, weights_of(candidates, options))

    return rank
