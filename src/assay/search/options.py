"""How should one search be done?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from assay.model.query import Filters
from assay.model.testset import QueryType

COMPONENTS = ("bm25", "splade", "dense")


class FusionMethod(StrEnum):
    """How do lists become one list?"""

    RRF = "rrf"
    WEIGHTED = "weighted"


class Normalization(StrEnum):
    """How are scores of different components made comparable?"""

    MIN_MAX = "min-max"
    Z_SCORE = "z-score"
    DBSF = "dbsf"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Everything that changes an answer, beside the index and the query itself.

    ``depth`` is how many candidates each component gives; ``weights`` and ``rrf_k`` belong to
    fusion (an empty mapping means the method's default). ``query_type`` overrides the classifier,
    ``query_intent`` the intents that would be read from the query. Timeouts are in milliseconds.
    """

    k: int = 10
    offset: int = 0
    depth: int = 100
    components: tuple[str, ...] = COMPONENTS
    fusion_method: FusionMethod = FusionMethod.RRF
    rrf_k: int = 60
    weights: Mapping[str, float] = field(default_factory=dict)
    per_type_weights: bool = False
    normalization: Normalization = Normalization.MIN_MAX
    query_type: QueryType | None = None
    query_intent: str | None = None
    boosts: bool = True
    synonyms: bool = False
    rerank: bool = False
    reranker: str = ""
    rerank_depth: int = 100
    filters: Filters = field(default_factory=Filters)
    component_timeout_ms: float = 300.0
    rerank_timeout_ms: float = 200.0
