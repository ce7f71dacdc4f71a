"""What do routes about annotation take and answer?"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from assay import limits
from assay.http.wire.base import Answer, Id, Json, Plain, Wire

GradeValue = Annotated[
    Annotated[int, Field(ge=0, le=limits.MAX_GOLDEN_GRADE)] | None,
    Field(description="0 to 3, or null: cannot be judged."),
]
Comment = Annotated[str, Field(max_length=limits.MAX_COMMENT_CHARS), Plain]


class GradeRequest(Wire):
    """What an annotator says of one passage."""

    annotator: Annotated[Id, Field(examples=["ann"])]
    query_id: Id
    chunk_id: Id
    grade: GradeValue
    comment: Comment = ""


class UndoRequest(Wire):
    """Whose last grade is taken back."""

    annotator: Annotated[Id, Field(examples=["ann"])]


class DecisionRequest(Wire):
    """What the third person says of a difference."""

    person: Annotated[Id, Field(examples=["carol"])]
    query_id: Id
    chunk_id: Id
    grade: GradeValue
    comment: Comment = ""


class RoundBody(Answer):
    """One round, without anything that could sway an annotator."""

    round_id: str
    purpose: str
    test_set: str
    version: str
    annotators: list[str]
    passages: int
    created_at: str
    closed_at: str | None


class RoundsAnswer(Answer):
    """Rounds, newest first."""

    rounds: list[RoundBody]


class TaskBody(Answer):
    """A question and a passage."""

    round_id: str
    query_id: str
    query_text: str
    chunk_id: str
    title: str
    section_label: str
    text: str
    table_html: str
    number: int
    total: int


class ProgressBody(Answer):
    """How far an annotator is."""

    done: int
    total: int


class NextAnswer(Answer):
    """The next passage; null where everything is judged."""

    task: TaskBody | None
    progress: ProgressBody


class GradeBody(Answer):
    """A grade that is on the disk."""

    query_id: str
    chunk_id: str
    annotator: str
    grade: int | None
    comment: str
    at: str


class GradedAnswer(Answer):
    """The grade, and how far the annotator is now."""

    grade: GradeBody
    progress: ProgressBody


class UndoneAnswer(Answer):
    """The grade that was taken back; null where there was none."""

    undone: GradeBody | None
    progress: ProgressBody


class DisputeBody(Answer):
    """A passage about which the annotators differ; the grades tell no names."""

    task: TaskBody
    grades: list[int | None]
    comments: list[str]


class DisputesAnswer(Answer):
    """What waits for the third person."""

    disputes: list[DisputeBody]


class DecidedAnswer(Answer):
    """The decision is on the disk."""

    query_id: str
    chunk_id: str
    grade: int | None
    by: str
    open: int


AgreementAnswer = Json
