"""What came back for a query, and in which order?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from assay.model.judgments import Span


class Ties(Enum):
    """Who decides the order of two results with the same score?

    ``TREC``: the document id, descending by UTF-8 bytes, as trec_eval does for run files.
    ``GIVEN``: the engine: the rank it gave, else the place in its list, then the id.
    """

    TREC = "trec"
    GIVEN = "given"


class Match(Enum):
    """When is a result the thing that was judged?

    ``CHUNK``: same id. ``DOC``: same document. ``SPAN``: same document, and at least half of the
    judged characters are covered.
    """

    CHUNK = "chunk"
    DOC = "doc"
    SPAN = "span"


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
