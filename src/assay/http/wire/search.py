"""What does a search take, and what does it answer?"""

from __future__ import annotations

import re
from itertools import permutations
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from assay import limits
from assay.http.wire.base import Answer, Json, QueryText
from assay.search.check import MAX_OFFSET, make_filters
from assay.search.options import COMPONENTS, read_weights

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_SELECTIONS = [",".join(one) for size in (1, 2, 3) for one in permutations(COMPONENTS, size)]


def _whole(value: object) -> object:
    """Plain digits only: no blanks, underscores, exponents or digits of other scripts."""
    if isinstance(value, str) and not _WHOLE.fullmatch(value):
        raise ValueError("must be a whole number in plain digits")
    return value


def _switch(value: object) -> object:
    if isinstance(value, str) and value not in {"true", "false"}:
        raise ValueError("must be true or false")
    return value


def _selection(value: str) -> str:
    if value not in _SELECTIONS:
        raise ValueError(f"must name each once, of {', '.join(COMPONENTS)}, as in bm25,dense")
    return value


Whole = BeforeValidator(_whole)
Switch = Annotated[bool, BeforeValidator(_switch)]
Components = Annotated[
    str,
    BeforeValidator(_selection),
    Field(json_schema_extra={"enum": _SELECTIONS}, description="Which components are asked."),
]
Label = Annotated[str, Field(min_length=1, max_length=200)]
Labels = Annotated[list[Label], Field(max_length=100)]
QueryTypeName = Literal["exact_term", "paraphrase", "complex_clinical"]
SpeakerName = Literal["PATIENT", "CLINICIAN", "UNKNOWN"]
ModeName = Literal["OFFLINE", "LIVE"]


class RetrievalParameters(BaseModel):
    """How components, fusion, boosts and the reranker work; what is not given is configured."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    components: Components | None = None
    fusion_method: Literal["rrf", "weighted"] | None = Field(
        None, description="How lists are fused."
    )
    rrf_k: Annotated[int, Whole, Field(ge=1, le=limits.MAX_RRF_K)] | None = Field(
        None, description="The constant of rrf."
    )
    weights: str | None = Field(
        None,
        max_length=200,
        description="A weight for each component.",
        examples=["bm25=0.3,splade=0.2,dense=0.5"],
    )
    per_type_weights: Switch | None = Field(None, description="Weights by type of query.")
    normalization: Literal["min-max", "z-score", "dbsf"] | None = Field(
        None, description="How scores are made comparable, for weighted fusion."
    )
    depth: Annotated[int, Whole, Field(ge=1, le=limits.MAX_DEPTH)] | None = Field(
        None, description="Candidates of each component."
    )
    rerank: Switch | None = Field(None, description="Let a cross-encoder have its say.")
    reranker: str | None = Field(
        None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="Which cross-encoder."
    )
    boosts: Switch | None = Field(None, description="Lift what the query asks for.")

    def changes(self) -> Json:
        """The options that were given, by the names of ``SearchOptions``."""
        given = {
            name: getattr(self, name)
            for name in RetrievalParameters.model_fields
            if getattr(self, name) is not None
        }
        if "weights" in given:
            given["weights"] = read_weights(given["weights"])
        return given


class SearchParameters(RetrievalParameters):
    """The parameters of ``GET /v1/search``."""

    q: QueryText = Field(description="What to look for, in plain words.")
    k: Annotated[int, Whole] = Field(
        10, ge=1, le=limits.MAX_RESULTS, description="How many results."
    )
    offset: Annotated[int, Whole] = Field(
        0, ge=0, le=MAX_OFFSET, description="Results to pass over, for the next page."
    )
    generation: str | None = Field(
        None,
        max_length=64,
        description="The generation of the first page; refused where the index has moved on.",
    )
    query_type: QueryTypeName | None = Field(None, description="Instead of the classifier's guess.")
    query_intent: str | None = Field(
        None,
        pattern=r"^[a-z_]{1,40}$",
        description="tabular, eligibility, ... or none, instead of what the query says.",
        examples=["tabular"],
    )
    speaker: list[SpeakerName] = Field([], max_length=3, description="Who speaks.")
    section: Labels = Field([], description="These sections only.")
    interview_id: Labels = Field([], description="These interviews only.")
    source: Labels = Field([], description="These sources only.")
    ingestion_mode: list[ModeName] = Field([], max_length=2, description="OFFLINE or LIVE only.")
    doc_id: Labels = Field([], description="These documents only.")
    is_table: Switch | None = Field(None, description="Only tables, or none.")

    def changes(self) -> Json:
        """The options that were given, by the names of ``SearchOptions``."""
        filters = make_filters(
            is_table=self.is_table,
            speaker_role=self.speaker,
            section_label=self.section,
            interview_id=self.interview_id,
            source=self.source,
            ingestion_mode=self.ingestion_mode,
            doc_id=self.doc_id,
        )
        given: Json = {"k": self.k, "offset": self.offset, "filters": filters}
        given |= {"query_type": self.query_type} if self.query_type else {}
        given |= {"query_intent": self.query_intent} if self.query_intent else {}
        return super().changes() | given


class WhyParameters(SearchParameters):
    """The parameters of ``GET /v1/search/why``."""

    document: str = Field(
        min_length=1, max_length=128, description="The document or chunk that is missed."
    )


class BoostBody(Answer):
    """One rule that matched a result; only the largest factor of a result is applied."""

    rule: str
    intent: str
    confidence: float
    factor: float
    matched: str
    applied: bool


class HitBody(Answer):
    """One result with the whole account of its score."""

    doc_id: str = Field(examples=["PMC123"])
    chunk_id: str = Field(examples=["PMC123:chunk_5"])
    score: float
    component_scores: dict[str, float | None] = Field(
        examples=[{"bm25": 12.5, "splade": 8.3, "dense": 0.89}]
    )
    rank: int
    ranks: dict[str, int | None]
    normalized: dict[str, float | None]
    contributions: dict[str, float | None] = Field(description="They sum to fused.")
    fused: float
    rank_fused: int
    boosts: list[BoostBody]
    boosted: float
    rank_boosted: int
    title: str
    section_label: str
    intent_hint: str
    is_table: bool
    text: str
    table_html: str = Field(description="Sanitised: table markup only.")
    speaker_role: SpeakerName
    ingestion_mode: ModeName
    interview_id: str
    start_time: float | None
    end_time: float | None
    source: str
    chunker_version: str
    spans: list[tuple[int, int]]
    metadata: dict[str, str]


class FusionBody(Answer):
    """How lists became one list."""

    method: Literal["rrf", "weighted"]
    weights: dict[str, float]
    k: int | None = Field(None, description="The constant of rrf.")
    normalization: str | None = None
    reranked: bool
    reranker_model: str | None
    reranker_error: str | None


class SearchAnswer(Answer):
    """The answer to one query; a degraded one says so and names what is missing."""

    query: str
    results: list[HitBody]
    fusion_metadata: FusionBody
    components_used: list[str]
    component_errors: list[str] = Field(examples=[["splade_timeout"]])
    degraded: bool
    reranked: bool
    reranker_model: str | None
    reranker_error: str | None
    query_type: str
    intents: list[dict[str, Any]]
    synonyms: list[str]
    offset: int
    next_offset: int | None = Field(description="Where the next page begins; null on the last.")
    total_candidates: int
    generation: str
    cached: bool
    timings_ms: dict[str, float]
    warnings: list[str]
    request_id: str


class WhyAnswer(BaseModel):
    """Where on its way a document fell out; see ``assay search --why``."""

    document: str
    verdict: str
    sentence: str
