"""What does the corpus say to a question, and where does each source of the answer stand?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.model.answers import Answer
from assay.model.codec import as_json, encode
from assay.search.response import SearchResponse

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.search.request import SearchOptions


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """What an answer cites; only the id where the search found no such chunk."""

    chunk_id: str
    doc_id: str | None = None
    title: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, who gave it and what it rests on; ``response`` is the search behind it."""

    question: str
    answerer: str
    answer: Answer
    sources: tuple[AnswerSource, ...]
    degraded: bool = False
    component_errors: tuple[str, ...] = ()
    response: SearchResponse | None = field(default=None, metadata=as_json(None))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        plain: dict[str, Any] = encode(self)
        return plain


def answer(
    workspace: Workspace, question: str, options: SearchOptions | None = None, **changes: Any
) -> Answered:
    """Search, and let the configured answerer answer from what was found."""
    return answer_from(workspace, question, workspace.search(question, options, **changes))


def answer_from(workspace: Workspace, question: str, response: SearchResponse) -> Answered:
    """The same from a search that was made already."""
    answerer = workspace.answerer
    answered = answerer.answer(question, response.passages())
    chunks = {hit.chunk.chunk_id: hit.chunk for hit in response.results}
    sources = tuple(
        AnswerSource(name, chunk.doc_id, chunk.title, chunk.text)
        if (chunk := chunks.get(name))
        else AnswerSource(name)
        for name in answered.citations
    )
    return Answered(
        question,
        answerer.name,
        answered,
        sources,
        response.degraded,
        response.component_errors,
        response,
    )
