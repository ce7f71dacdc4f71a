"""What came back for a query, and in which order?"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.model.judgments import Span


class Ties(Enum):
    """Who decides the order of two results with the same score?

    ``TREC``: the document id, descending by UTF-8 bytes, as trec_eval does for run files.
    ``GIVEN``: the engine: the rank it gave, else the place in its list, then the id.
    """

    TREC = "trec"
    GIVEN = "given"


class RankBy(Enum):
    """What ranks a list of results that an engine returned?

    ``ORDER``: the engine: the rank it gave, else the place in its list. Scores may be distances,
    which rise. ``SCORE``: the score, highest first, then the engine's order.
    """

    ORDER = "order"
    SCORE = "score"


RankByName: TypeAlias = Literal["order", "score"]


def falling(scores: Sequence[float | None]) -> bool:
    """Whether no score is higher than the one before it; where there are none, nothing rises."""
    known = [score for score in scores if score is not None]
    return all(map(operator.ge, known, known[1:]))


class Match(Enum):
    """When is a result the thing that was judged?

    ``EXACT``: it has the judged id. A judged document is also found by any of its chunks, and one
    judged by spans by a chunk that covers at least half of a span. ``DOC``: it belongs to the same
    document. ``SPAN``: it belongs to the same document and covers at least half of a judged
    passage, which is a span of a document or all spans of a chunk; where no characters are known,
    the document decides.
    ``chunk`` is an older word for ``exact``.
    """

    EXACT = "exact"
    CHUNK = EXACT
    DOC = "doc"
    SPAN = "span"

    @classmethod
    def _missing_(cls, value: object) -> Match | None:
        return cls.EXACT if value == "chunk" else None


MatchName: TypeAlias = Literal["exact", "chunk", "doc", "span"]
ENOUGH_COVERED = 0.5  # of the judged characters; less is a miss
CHUNK_SEPARATOR = ":chunk_"


def document_id(text: str, separator: str = CHUNK_SEPARATOR) -> str:
    """The document's part of a chunk's id, in this or the usual form; any other id as it is."""
    head, found, _ = text.rpartition(separator)
    if not found and separator != CHUNK_SEPARATOR:
        return document_id(text)
    return head if found else text


def unanimous(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The document of each chunk that is paired with one only."""
    found: dict[str, set[str]] = {}
    for chunk, document in pairs:
        found.setdefault(chunk, set()).add(document)
    return {chunk: min(named) for chunk, named in found.items() if len(named) == 1}


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a live ranking."""

    id: str
    score: float | None = None
    rank: int | None = None
    doc_id: str | None = None
    spans: tuple[Span, ...] = ()


LiveRun: TypeAlias = dict[str, list[Result]]
ScoreRun: TypeAlias = dict[str, dict[str, float]]
