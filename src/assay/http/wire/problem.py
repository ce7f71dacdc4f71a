"""What does a refusal look like? See ``serve/problems.py``, which makes it."""

from __future__ import annotations

from pydantic import Field

from assay.http.wire.base import Answer


class FaultBody(Answer):
    """One thing that is wrong."""

    where: str = Field(examples=["query.k"])
    message: str = Field(examples=["input should be greater than or equal to 1"])


class ProblemBody(Answer):
    """RFC 9457, with a stable code, the id of the request and every fault."""

    type: str = Field(examples=["urn:assay:problem:invalid"])
    title: str = Field(examples=["Unprocessable Content"])
    status: int = Field(examples=[422])
    detail: str
    code: str = Field(examples=["invalid"])
    request_id: str
    hint: str | None
    errors: list[FaultBody]
