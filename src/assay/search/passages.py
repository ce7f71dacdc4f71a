"""What does an answerer see of a search?"""

from __future__ import annotations

from assay.model.answers import Passage
from assay.search.response import SearchResponse


def passages_of(response: SearchResponse) -> list[Passage]:
    """The results of a search as answerers see them."""
    return [Passage(hit.chunk, hit.score, hit.component_scores) for hit in response.results]
