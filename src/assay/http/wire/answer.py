"""What does a question take, and what does its answer say?"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from assay.http.wire.base import Answer, Json, QueryText
from assay.http.wire.search import RetrievalParameters, SpeakerName
from assay.search.check import make_filters


class AnswerParameters(RetrievalParameters):
    """The parameters of ``GET /v1/answer``."""

    q: QueryText = Field(description="A question, in plain words.")
    speaker: list[SpeakerName] = Field([], max_length=3, description="Who speaks.")

    def changes(self) -> Json:
        """The options that were given, by the names of ``SearchOptions``."""
        return super().changes() | {"filters": make_filters(speaker_role=self.speaker)}


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
