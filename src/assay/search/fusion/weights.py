"""How much does each component count?

Weights are ratios: what is asked for is checked, cut down to the components that answered, and
scaled. For weighted fusion they sum to 1, so that a fused score lies in [0, 1]; for reciprocal
rank fusion their mean is 1, so that equal weights give the plain formula.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from assay import limits
from assay.errors import UsageError
from assay.model.testset import QueryType
from assay.search.options import COMPONENTS, FusionMethod, SearchOptions

DEFAULT_WEIGHTS: Mapping[str, float] = {"bm25": 0.4, "splade": 0.2, "dense": 0.4}
TYPE_WEIGHTS: Mapping[QueryType, Mapping[str, float]] = {
    QueryType.EXACT_TERM: {"bm25": 0.5, "splade": 0.3, "dense": 0.2},
    QueryType.PARAPHRASE: {"bm25": 0.2, "splade": 0.3, "dense": 0.5},
    QueryType.COMPLEX_CLINICAL: {"bm25": 0.3, "splade": 0.3, "dense": 0.4},
}


def check_fusion(options: SearchOptions) -> None:
    """Refuse options that fusion cannot work with; the message names the field."""
    _check_rrf_k(options.rrf_k)
    if options.weights:
        _check_weights(options.weights, options.components)


def effective_weights(
    options: SearchOptions, present: Sequence[str], query_type: QueryType | None = None
) -> dict[str, float]:
    """The weight of every component that answered, scaled as the module's docstring says.

    Weights that the caller gave come first, then those of the query's type where the options want
    them, then the method's own. Where every component with a weight has failed, the others count
    equally: some order is better than none.
    """
    wanted = _wanted(options, query_type)
    chosen = {name: wanted.get(name, 1.0) for name in present}
    total = math.fsum(chosen.values())
    if not total:
        chosen, total = dict.fromkeys(present, 1.0), float(len(chosen))
    aim = 1.0 if options.fusion_method is FusionMethod.WEIGHTED else float(len(chosen))
    return {name: weight * aim / total for name, weight in chosen.items()}


def _wanted(options: SearchOptions, query_type: QueryType | None) -> Mapping[str, float]:
    if options.weights:
        return options.weights
    if options.per_type_weights and query_type is not None:
        return TYPE_WEIGHTS[query_type]
    return DEFAULT_WEIGHTS if options.fusion_method is FusionMethod.WEIGHTED else {}


def _check_rrf_k(k: object) -> None:
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= limits.MAX_RRF_K:
        raise UsageError(
            f"rrf_k is {k!r:.40}", hint=f"a whole number from 1 to {limits.MAX_RRF_K}; 60 is usual"
        )


def _check_weights(weights: Mapping[str, float], components: Sequence[str]) -> None:
    known = dict.fromkeys((*COMPONENTS, *components))
    for name, weight in weights.items():
        if name not in known:
            raise UsageError(
                f"weights: there is no component {name!r:.40}", hint=f"known: {', '.join(known)}"
            )
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise UsageError(f"weights.{name} is {weight!r:.40}", hint="a number of 0 or more")
        if not math.isfinite(weight) or weight < 0:
            raise UsageError(f"weights.{name} is {weight}", hint="a finite number of 0 or more")
        if weight > limits.MAX_WEIGHT:
            raise UsageError(
                f"weights.{name} is {weight}",
                hint=f"at most {limits.MAX_WEIGHT}: only ratios count",
            )
    missing = [name for name in components if name not in weights]
    if missing:
        raise UsageError(
            f"weights: {', '.join(missing)} has no weight"
            if len(missing) == 1
            else f"weights: {', '.join(missing)} have no weight",
            hint="give every component a weight; 0 leaves it out of the score",
        )
    if not any(weights[name] for name in components):
        raise UsageError("weights: all are 0", hint="at least one must be larger")
