"""What do all wire models have in common?"""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeAlias

from fastapi import Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from assay import limits
from assay.model.document import DOC_ID_FORM, ID_FORM


class Wire(BaseModel):
    """A strict, frozen model: no conversion between types, no unknown fields, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Answer(BaseModel):
    """A model of an answer; it documents the answer and is checked in tests."""

    model_config = ConfigDict(extra="forbid")


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain U+0000")
    return text


_WHOLE = re.compile(r"-?[0-9]{1,18}")


def _whole(value: object) -> object:
    """Plain digits only: no blanks, underscores, exponents or digits of other scripts."""
    if isinstance(value, str) and not _WHOLE.fullmatch(value):
        raise ValueError("must be a whole number in plain digits")
    return value


def _switch(value: object) -> object:
    if isinstance(value, str) and value not in {"true", "false"}:
        raise ValueError("must be true or false")
    return value


Plain = AfterValidator(_no_nul)
Id = Annotated[
    str, Field(pattern=rf"^{ID_FORM.pattern}$", max_length=128, examples=["nightly-2026"])
]
DocumentId = Annotated[
    str, Field(pattern=rf"^{DOC_ID_FORM.pattern}$", max_length=128, examples=["PMC123:chunk_5"])
]
QueryText = Annotated[
    str, Field(min_length=1, max_length=limits.MAX_QUERY_CHARS, examples=["heart attack"]), Plain
]
Text = Annotated[str, Field(max_length=limits.MAX_TEXT_CHARS), Plain]
Whole = BeforeValidator(_whole)
Switch = Annotated[bool, BeforeValidator(_switch)]
Json = dict[str, Any]
Limit: TypeAlias = Annotated[int, Whole, Query(ge=1, le=1_000, description="How many.")]
Offset: TypeAlias = Annotated[
    int, Whole, Query(ge=0, le=10_000_000, description="How many to skip.")
]


class FaultBody(Answer):
    """One thing that is wrong."""

    where: str = Field(examples=["query.k"])
    message: str = Field(examples=["input should be greater than or equal to 1"])


class ProblemBody(Answer):
    """An error as RFC 9457 has it, with a stable code, the id of the request and every fault.

    ``edge/problems.py`` writes it.
    """

    type: str = Field(examples=["urn:assay:problem:invalid"])
    title: str = Field(examples=["Unprocessable Content"])
    status: int = Field(examples=[422])
    detail: str
    code: str = Field(examples=["invalid"])
    request_id: str
    hint: str | None
    errors: list[FaultBody]
