"""What do routes about test sets take?"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from assay import limits
from assay.app.suggestions import DEFAULT_COUNT, KINDS, Kind
from assay.http.wire.base import DocumentId, Id, QueryText, Wire
from assay.http.wire.statistics import Seed
from assay.model.testset import QueryType


class SuggestRequest(Wire):
    """How many questions are made from the corpus, and from what."""

    count: Annotated[int, Field(ge=1, le=limits.MAX_UPLOAD_QUERIES)] = DEFAULT_COUNT
    kinds: Annotated[list[Kind], Field(min_length=1, default_factory=lambda: list(KINDS))]
    model: Annotated[
        bool, Field(description="Have the language model in the judge setting write them.")
    ] = False
    seed: Seed = 13


class GradeRequest(Wire):
    """The grades of results for one question; null takes a grade back."""

    query_text: QueryText
    grades: Annotated[
        dict[DocumentId, Annotated[int, Field(ge=0, le=limits.MAX_GOLDEN_GRADE)] | None],
        Field(min_length=1, max_length=limits.MAX_BATCH_IDS, examples=[{"PMC123:chunk_5": 3}]),
    ]
    query_type: QueryType | None = None


class ForkRequest(Wire):
    """What the draft is called."""

    name: Id


class SplitRequest(Wire):
    """How queries are drawn; ``by_group`` makes three sets, 80/10/10, that share no group."""

    share: Annotated[float, Field(gt=0, lt=1)] = 0.2
    seed: Seed = 13
    by_group: bool = False
