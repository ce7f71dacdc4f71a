"""What does a question take, and what does its answer say?"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from assay.http.wire.base import Answer


class Said(Answer):
    """What the answerer said; not grounded means that it refused, and why."""

    text: str
    citations: list[str] = Field(examples=[["PMC123:chunk_5"]])
    grounded: bool
    refusal_reason: str | None


class SourceBody(Answer):
    """What an answer cites; nulls where the search found no such chunk."""

    chunk_id: str
    doc_id: str | None
    title: str | None
    text: str | None


class AnswerAnswer(Answer):
    """An answer, who gave it and what it rests on."""

    question: str
    answerer: str
    answer: Said
    sources: list[SourceBody]
    degraded: bool
    component_errors: list[str]
    request_id: str


class QueryAnswer(Answer):
    """How a query is worded, and what it asks for."""

    query: str
    query_type: str = Field(examples=["exact_term"])
    intents: list[dict[str, Any]]
