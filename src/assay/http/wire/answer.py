"""How does the service read a query?"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from assay.http.wire.base import Answer


class QueryAnswer(Answer):
    """How a query is worded, and what it asks for."""

    query: str
    query_type: str = Field(examples=["exact_term"])
    intents: list[dict[str, Any]]
