"""How much does each component count?

Weights are ratios: what is asked for is checked, cut down to the components that answered, and
scaled. For weighted fusion they sum to 1, so that a fused score lies in [0, 1]; for reciprocal
rank fusion their mean is 1, so that equal weights give the plain formula. Where nobody chose any,
the card of the models may know which suit them (``encode/catalog.py``); else those below hold, and
in reciprocal rank fusion all count equally.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from assay.model.testset import QueryType
from assay.search.request import FusionMethod, SearchOptions

DEFAULT_WEIGHTS: Mapping[str, float] = {"bm25": 0.4, "splade": 0.2, "dense": 0.4}
TYPE_WEIGHTS: Mapping[QueryType, Mapping[str, float]] = {
    QueryType.EXACT_TERM: {"bm25": 0.5, "splade": 0.3, "dense": 0.2},
    QueryType.PARAPHRASE: {"bm25": 0.2, "splade": 0.3, "dense": 0.5},
    QueryType.COMPLEX_CLINICAL: {"bm25": 0.3, "splade": 0.3, "dense": 0.4},
}


def effective_weights(
    options: SearchOptions, present: Sequence[str], query_type: QueryType | None = None
) -> dict[str, float]:
    """The weight of every component that answered, scaled as the module's docstring says.

    Weights for the query's type come first, then those for every query, then assay's own for the
    type where the options want them, then the method's own. There a component that has none counts
    as much as the others on average. Where every component with a weight has failed, the others
    count equally: some order is better than none.
    """
    wanted = _wanted(options, query_type)
    chosen = {name: wanted.get(name, _mean(wanted)) for name in present}
    total = math.fsum(chosen.values())
    if not total:
        chosen, total = dict.fromkeys(present, 1.0), float(len(chosen))
    aim = 1.0 if options.fusion_method is FusionMethod.WEIGHTED else float(len(chosen))
    return {name: weight * aim / total for name, weight in chosen.items()}


def default_weight(component: str) -> float:
    """What a component counts in weighted fusion where nobody chose weights."""
    return DEFAULT_WEIGHTS.get(component, _mean(DEFAULT_WEIGHTS))


def weighted_by_type(options: SearchOptions, query_type: QueryType) -> bool:
    """Whether queries of this type have weights of their own."""
    if query_type in options.type_weights:
        return True
    return options.per_type_weights and not options.weights


def _mean(weights: Mapping[str, float]) -> float:
    return math.fsum(weights.values()) / len(weights) if weights else 1.0


def _wanted(options: SearchOptions, query_type: QueryType | None) -> Mapping[str, float]:
    if query_type is not None and query_type in options.type_weights:
        return options.type_weights[query_type]
    if options.weights:
        return options.weights
    if options.per_type_weights and query_type is not None:
        return TYPE_WEIGHTS[query_type]
    if usual := options.model_weights.get(options.fusion_method):
        return usual
    return DEFAULT_WEIGHTS if options.fusion_method is FusionMethod.WEIGHTED else {}


def by_model(options: SearchOptions, query_type: QueryType) -> bool:
    """Whether the weights are those that suit the models, since nobody chose any."""
    chosen = options.weights or weighted_by_type(options, query_type)
    return not chosen and bool(options.model_weights.get(options.fusion_method))
