"""Where do the chunks of a component's list stand, and which judged things are among them?

A run keeps ids only of what its components found. The document and the characters of such a chunk
are those of the run's own results where it is one of them, else those that the corpus has of it,
else its document is what the id says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from assay.evaluation.match import Place, document_id, enough
from assay.model.judgments import Span
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import Judgment, TestSet

LookUp: TypeAlias = Callable[[Iterable[str]], Mapping[str, Place]]
"""Where did these chunks stand when the run was made?"""


def places_of(
    test_set: TestSet, outcomes: Sequence[QueryOutcome], look_up: LookUp | None = None
) -> dict[str, Place]:
    """The places of listed chunks that are known; only ids that do not tell enough are looked up.

    An id in our form names its document, so that such a chunk is looked up only where characters of
    that document were judged.
    """
    known = {
        one.chunk_id: Place(one.doc_id, one.spans)
        for outcome in outcomes
        for one in outcome.results
    }
    if look_up is None:
        return known
    spanned = {
        name
        for query in test_set.queries
        for one in query.relevant_docs
        if one.spans
        for name in (one.id, one.doc_id or document_id(one.id))
    }
    lacking = {
        chunk_id
        for outcome in outcomes
        for listed in (*outcome.component_lists.values(), outcome.fused)
        for chunk_id in listed
        if chunk_id not in known
        and ((document := document_id(chunk_id)) == chunk_id or document in spanned)
    }
    return {**look_up(sorted(lacking)), **known} if lacking else known


def listed_result(
    chunk_id: str, places: Mapping[str, Place], score: float | None = None
) -> RankedResult:
    """A listed chunk as a result."""
    place = _place(chunk_id, places)
    return RankedResult(chunk_id, place.doc_id, score, place.spans)


class Listed:
    """A list of chunks in which judged things are looked up, as the rule ``EXACT`` has it."""

    def __init__(self, ids: Sequence[str], places: Mapping[str, Place]) -> None:
        self._named: dict[str, list[tuple[int, Sequence[Span]]]] = {}
        for rank, chunk_id in enumerate(ids, 1):
            place = _place(chunk_id, places)
            self._named.setdefault(chunk_id, []).append((rank, ()))
            if place.doc_id != chunk_id:
                self._named.setdefault(place.doc_id, []).append((rank, place.spans))

    def ranks(self, judgment: Judgment) -> list[int]:
        """The ranks, from 1, of all that bring what was judged."""
        found = self._named.get(judgment.id, ())
        return [rank for rank, spans in found if enough(judgment.spans, spans)]

    def rank(self, judgment: Judgment) -> int | None:
        """The best of them."""
        return next(iter(self.ranks(judgment)), None)


def _place(chunk_id: str, places: Mapping[str, Place]) -> Place:
    return places.get(chunk_id) or Place(document_id(chunk_id))
