"""What do routes about annotation take?"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay import limits
from assay.app.annotation import SECOND_SHARE
from assay.app.first_set import DEFAULT_DEPTH
from assay.http.wire.base import DocumentId, Id, Plain, Wire
from assay.http.wire.statistics import Seed

GradeValue = Annotated[
    Annotated[int, Field(ge=0, le=limits.MAX_GOLDEN_GRADE)] | None,
    Field(description="0 to 3, or null if it cannot be judged."),
]
Comment = Annotated[str, Field(max_length=limits.MAX_COMMENT_CHARS), Plain]


class QuestionRow(Wire):
    """A question; ``synthetic`` is the passage that it was made from, where nobody asked it."""

    query_text: Annotated[str, Field(min_length=1, max_length=limits.MAX_QUERY_CHARS), Plain]
    query_id: Id | None = None
    query_type: Literal["exact_term", "paraphrase", "complex_clinical"] | None = None
    synthetic: Id | None = None
    made_by: Annotated[str, Field(max_length=200), Plain] | None = None


class NewRoundRequest(Wire):
    """Questions for a first test set, who judges, and how far."""

    name: Annotated[Id, Field(examples=["ward"])]
    annotators: Annotated[list[Id], Field(min_length=1, max_length=2, examples=[["ann"]])]
    questions: Annotated[
        list[QuestionRow], Field(min_length=1, max_length=limits.MAX_UPLOAD_QUERIES)
    ]
    depth: Annotated[int, Field(ge=1, le=limits.MAX_POOL_DEPTH)] = DEFAULT_DEPTH
    budget: Annotated[int, Field(ge=1)] | None = None
    until: Annotated[float, Field(gt=0, lt=1)] | None = None
    order: Literal["queries", "active"] = "queries"
    runs: Annotated[int, Field(ge=0, le=100)] = 10
    others: Annotated[
        dict[Id, dict[Id, list[DocumentId]]],
        Field(
            default_factory=dict,
            description="Runs of other engines: for each query the ids of their results.",
        ),
    ]
    seed: Seed = 13


class SecondRequest(Wire):
    """Who checks a share of what the first person judged."""

    annotator: Annotated[Id, Field(examples=["bob"])]
    share: Annotated[float, Field(gt=0, le=1)] = SECOND_SHARE


class JudgeRequest(Wire):
    """The automatic judge that proposes grades, and whether annotators see them."""

    judge: Literal["words", "entailment", "configured"] = "configured"
    shown: bool = False


class FinishRequest(Wire):
    """Whether the round ends with that."""

    close: bool = False


class GradeRequest(Wire):
    """An annotator's grade of one passage."""

    annotator: Annotated[Id, Field(examples=["ann"])]
    query_id: Id
    chunk_id: DocumentId
    grade: GradeValue
    comment: Comment = ""


class UndoRequest(Wire):
    """The annotator whose last grade is undone."""

    annotator: Annotated[Id, Field(examples=["ann"])]


class DecisionRequest(Wire):
    """The third person's decision about one passage."""

    person: Annotated[Id, Field(examples=["carol"])]
    query_id: Id
    chunk_id: DocumentId
    grade: GradeValue
    comment: Comment = ""
