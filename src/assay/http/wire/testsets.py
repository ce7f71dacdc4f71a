"""What do routes about test sets take?"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from assay.http.wire.base import Wire
from assay.http.wire.statistics import Seed


class SplitRequest(Wire):
    """How queries are drawn; ``by_group`` makes three sets, 80/10/10, that share no group."""

    share: Annotated[float, Field(gt=0, lt=1)] = 0.2
    seed: Seed = 13
    by_group: bool = False
