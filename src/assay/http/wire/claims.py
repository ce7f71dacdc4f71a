"""What do routes about claims of answers take?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Query
from pydantic import Field

from assay import limits
from assay.app.engine import GRADED_ANSWERS
from assay.http.wire.base import Id, Whole, Wire

ClaimId = Annotated[str, Field(pattern="^[0-9a-f]{64}$", examples=["0" * 64])]


@dataclass(frozen=True, slots=True)
class ClaimDraw:
    """Which answers of a run were drawn for people; the same draw has the same claims."""

    answers: int
    seed: int


async def _draw(
    answers: Annotated[
        int, Whole, Query(ge=1, le=limits.MAX_TEST_SET_QUERIES, description="Answers to draw.")
    ] = GRADED_ANSWERS,
    seed: Annotated[int, Whole, Query(ge=0, le=2**32 - 1, description="Random seed.")] = 0,
) -> ClaimDraw:
    return ClaimDraw(answers, seed)


DrawParameters = Annotated[ClaimDraw, Depends(_draw)]


class ClaimGradeRequest(Wire):
    """What a person says of one claim."""

    annotator: Annotated[Id, Field(examples=["ann"])]
    claim_id: ClaimId
    label: Literal["supported", "unsupported", "contradicted"]
