"""How should one search be done?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum

from assay.config import Configuration
from assay.errors import UsageError
from assay.model.query import Filters
from assay.model.testset import QueryType

_NUMBER = re.compile(r"-?(\d{1,9}(\.\d{0,12})?|\.\d{1,12})")
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
    ``query_intent`` the intents that would be read from the query. Timeouts are in milliseconds;
    for the reranker None means what suits its model (``search/rerank.py``).
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
    rerank_depth: int | None = None
    filters: Filters = field(default_factory=Filters)
    component_timeout_ms: float = 300.0
    rerank_timeout_ms: float | None = None

    def identity(self) -> str:
        """The same text for options that give the same answer; waiting longer changes none."""
        values = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if not field.name.endswith("_timeout_ms")
        }
        values["filters"] = {name: sorted(each) for name, each in self.filters.active().items()}
        return json.dumps(values, sort_keys=True, default=dict)


def configured(config: Configuration) -> SearchOptions:
    """The options that the settings ask for."""
    parts = {name: getattr(config, f"{name}_model") for name in ("splade", "dense")}
    wanted = [name.strip() for name in config.components.split(",")]
    return SearchOptions(
        components=tuple(name for name in wanted if parts.get(name) != "none"),
        fusion_method=FusionMethod(config.fusion),
        rrf_k=config.rrf_k,
        weights=read_weights(config.weights),
        per_type_weights=config.per_type_weights == "on",
        normalization=Normalization(config.normalization),
        depth=config.depth,
        boosts=config.boosts == "on",
        synonyms=config.synonyms != "none",
        rerank=config.rerank == "on",
        reranker=config.reranker,
        component_timeout_ms=config.component_timeout_ms,
        rerank_timeout_ms=None if config.rerank_timeout_ms == 0 else config.rerank_timeout_ms,
    )


def read_weights(text: str) -> dict[str, float]:
    """``bm25=0.3,dense=0.7`` as a mapping; ``default`` stands for the method's own."""
    if text.strip() == "default":
        return {}
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, equals, number = (piece.strip() for piece in part.partition("="))
        if not equals or not name or name in weights or not _NUMBER.fullmatch(number):
            raise UsageError(
                f"weights: {part!r:.60} is not a component and its number, once each",
                hint="as in bm25=0.3,splade=0.2,dense=0.5",
            )
        weights[name] = float(number)
    return weights
