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
    if usual := options.model_weights.get(options.fusion_method):
        return usual
    return DEFAULT_WEIGHTS if options.fusion_method is FusionMethod.WEIGHTED else {}


def by_model(options: SearchOptions) -> bool:
    """Whether the weights are those that suit the models, since nobody chose any."""
    chosen = options.weights or options.per_type_weights
    return not chosen and bool(options.model_weights.get(options.fusion_method))
