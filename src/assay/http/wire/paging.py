"""Which page of a list is asked for?"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Query

from assay.http.wire.base import Whole

Limit: TypeAlias = Annotated[int, Whole, Query(ge=1, le=1_000, description="How many.")]
Offset: TypeAlias = Annotated[
    int, Whole, Query(ge=0, le=10_000_000, description="How many to pass over.")
]
