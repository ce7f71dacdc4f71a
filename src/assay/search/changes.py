"""Which options may a search name in Python, and what may each of them be?

``SearchOptions`` is the one description of a search. A type checker cannot read keywords off it,
so they stand here once more: ``search(fusin="rrf")`` fails before the program runs. A test holds
every name and type against the table of options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, TypedDict

from assay.model.conditions import Condition
from assay.model.document import IngestionMode, SpeakerRole
from assay.model.query import Filters
from assay.model.testset import QueryType
from assay.search.request import FusionMethod, GroupBy, Normalization

Texts: TypeAlias = str | Sequence[str]
Fusion: TypeAlias = FusionMethod | Literal["rrf", "weighted"]
Speaker: TypeAlias = SpeakerRole | Literal["PATIENT", "CLINICIAN", "UNKNOWN"]
Ingestion: TypeAlias = IngestionMode | Literal["OFFLINE", "LIVE"]


class SearchChanges(TypedDict, total=False):
    """Options of one search, by the names that they have on every surface."""

    k: int
    offset: int
    depth: int
    components: Texts
    fusion_method: Fusion
    rrf_k: int
    weights: Mapping[str, float]
    per_type_weights: bool
    type_weights: Mapping[str, Mapping[str, float]]
    normalization: Normalization | Literal["min-max", "z-score", "dbsf"]
    query_type: QueryType | Literal["exact_term", "paraphrase", "complex_clinical"] | None
    query_intent: str | None
    boosts: bool
    group_by: GroupBy | Literal["chunk", "document"]
    collapse: bool
    facets: Texts
    floor: bool
    synonyms: bool
    synonym_rules: str
    terms: bool
    highlights: bool
    rerank: bool
    reranker: str
    rerank_depth: int | None
    rerank_share: float | None
    component_timeout_ms: float | None
    rerank_timeout_ms: float | None
    speaker: Speaker | Sequence[Speaker]
    interview_id: Texts
    section: Texts
    ingestion_mode: Ingestion | Sequence[Ingestion]
    source: Texts
    doc_id: Texts
    is_table: bool | None
    filter: str | Condition | Sequence[str | Condition] | Mapping[str, object]
    filters: Filters | Mapping[str, object]
