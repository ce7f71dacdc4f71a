"""What do routes about annotation take?"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from assay import limits
from assay.http.wire.base import Id, Plain, Wire

GradeValue = Annotated[
    Annotated[int, Field(ge=0, le=limits.MAX_GOLDEN_GRADE)] | None,
    Field(description="0 to 3, or null if it cannot be judged."),
]
Comment = Annotated[str, Field(max_length=limits.MAX_COMMENT_CHARS), Plain]


class GradeRequest(Wire):
    """An annotator's grade of one passage."""

    annotator: Annotated[Id, Field(examples=["ann"])]
    query_id: Id
    chunk_id: Id
    grade: GradeValue
    comment: Comment = ""


class UndoRequest(Wire):
    """The annotator whose last grade is undone."""

    annotator: Annotated[Id, Field(examples=["ann"])]


class DecisionRequest(Wire):
    """The third person's decision about one passage."""

    person: Annotated[Id, Field(examples=["carol"])]
    query_id: Id
    chunk_id: Id
    grade: GradeValue
    comment: Comment = ""
