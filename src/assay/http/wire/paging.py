"""Which page of a list is asked for?"""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from fastapi import Query
from pydantic import BeforeValidator

_WHOLE = re.compile(r"-?[0-9]{1,18}")


def _whole(value: object) -> object:
    """Plain digits only: no blanks, underscores, exponents or digits of other scripts."""
    if isinstance(value, str) and not _WHOLE.fullmatch(value):
        raise ValueError("must be a whole number in plain digits")
    return value


Whole = BeforeValidator(_whole)
Limit: TypeAlias = Annotated[int, Whole, Query(ge=1, le=1_000, description="How many.")]
Offset: TypeAlias = Annotated[
    int, Whole, Query(ge=0, le=10_000_000, description="How many to pass over.")
]
