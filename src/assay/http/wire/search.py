"""What does a search take, and what does it answer?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    create_model,
)
from pydantic_core import PydanticCustomError

from assay.http.wire.base import Answer, Json, QueryText
from assay.options import Option, several
from assay.options import Switch as SwitchKind
from assay.search.request import ANSWER_NAMES, EVALUATION_NAMES, SEARCH_NAMES, SEARCH_OPTIONS

MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?")


def _switch(value: object) -> object:
    if isinstance(value, str) and value not in {"true", "false"}:
        raise ValueError("must be true or false")
    return value


Switch = Annotated[bool, BeforeValidator(_switch)]
SpeakerName = Literal["PATIENT", "CLINICIAN", "UNKNOWN"]
ModeName = Literal["OFFLINE", "LIVE"]


def _read(one: Option, value: Any) -> Any:
    """A parameter of an address, by the rule that holds on every surface."""
    is_switch = isinstance(getattr(one.kind, "of", one.kind), SwitchKind)
    try:
        if is_switch and value not in ("true", "false"):
            raise ValueError(value)
        if one.name == "reranker" and not MODEL_NAME.fullmatch(value):
            raise ValueError(value)  # a path of this machine is not for callers to name
        return one.kind.read(value) if isinstance(value, str) else one.kind.accept(value)
    except ValueError:
        form = "true or false" if is_switch else one.kind.form
        raise PydanticCustomError("not_allowed", "must be {form}", {"form": form}) from None


def parameters(options: Iterable[Option]) -> Any:
    """The fields of a model, one for each option."""
    return {
        one.name: (
            Annotated[
                list[str] if several(one.kind) else str | None,
                PlainValidator(partial(_read, one)),
                WithJsonSchema(one.kind.schema()),
            ],
            Field([] if several(one.kind) else None, description=one.help),
        )
        for one in options
    }


def _named(names: Sequence[str]) -> Any:
    return parameters(SEARCH_OPTIONS[name] for name in names)


class Parameters(BaseModel):
    """Options of a search in an address; what is not given is configured."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def changes(self) -> Json:
        """The options that were given, as ``search.request.changed`` takes them."""
        given = ((name, getattr(self, name, None)) for name in SEARCH_NAMES)
        return {name: value for name, value in given if value not in (None, [])}


if TYPE_CHECKING:

    class SearchParameters(Parameters):
        """The parameters of ``GET /v1/search``."""

        q: str
        generation: str | None
        k: int | None
        offset: int | None

    class WhyParameters(SearchParameters):
        """The parameters of ``GET /v1/search/why``."""

        document: str

    class AnswerParameters(Parameters):
        """The parameters of ``GET /v1/answer``."""

        q: str

    class RetrievalParameters(Parameters):
        """How a test set is searched."""

else:
    SearchParameters = create_model(
        "SearchParameters",
        __base__=Parameters,
        q=(QueryText, Field(description="What to look for, in plain words.")),
        generation=(
            str | None,
            Field(
                None,
                max_length=64,
                description="Generation of the first page; refused where the index has moved on.",
            ),
        ),
        **_named(SEARCH_NAMES),
    )
    WhyParameters = create_model(
        "WhyParameters",
        __base__=SearchParameters,
        document=(
            str,
            Field(min_length=1, max_length=128, description="The document or chunk to look for."),
        ),
    )
    AnswerParameters = create_model(
        "AnswerParameters",
        __base__=Parameters,
        q=(QueryText, Field(description="A question, in plain words.")),
        **_named(ANSWER_NAMES),
    )
    RetrievalParameters = create_model(
        "RetrievalParameters", __base__=Parameters, **_named(EVALUATION_NAMES)
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
