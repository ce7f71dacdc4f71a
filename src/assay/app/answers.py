"""What does the corpus say to a question, and where does each source of the answer stand?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.model.answers import Answer
    from assay.model.document import Chunk
    from assay.search.response import SearchResponse


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, who gave it, and the search that it rests on."""

    question: str
    answerer: str
    answer: Answer
    response: SearchResponse

    def sources(self) -> list[dict[str, Any]]:
        """Each citation with what stands there; nulls where the search has no such chunk."""
        known = {hit.chunk.chunk_id: hit.chunk for hit in self.response.results}
        return [_source(name, known) for name in self.answer.citations]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "question": self.question,
            "answerer": self.answerer,
            "answer": {**asdict(self.answer), "citations": list(self.answer.citations)},
            "sources": self.sources(),
            "degraded": self.response.degraded,
            "component_errors": list(self.response.component_errors),
        }


def _source(chunk_id: str, known: Mapping[str, Chunk]) -> dict[str, Any]:
    chunk = known.get(chunk_id)
    return {
        "chunk_id": chunk_id,
        "doc_id": chunk.doc_id if chunk else None,
        "title": chunk.title if chunk else None,
        "text": chunk.text if chunk else None,
    }
