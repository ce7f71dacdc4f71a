"""After documents were chunked again: which chunks now hold what was judged?

A judgment refers to characters of a document: its own spans, else those of the judged chunk as
archived. The chunk that holds at least half of them inherits the judgment; if no single one does,
the fewest that do so together. Whatever did not stay exactly where it was is listed for review.

    kept     the same chunk still holds it
    moved    another chunk holds it
    split    several chunks hold it together; each inherits the grade
    merged   two judgments fell on one chunk; the higher grade counts
    unknown  its characters are not known; the id still exists and is kept
    lost     the document, the passage or the chunk is gone; the judgment is dropped
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from assay.evaluation.match import place_of
from assay.model.document import ChunkPlace
from assay.model.judgments import Span
from assay.model.ranking import ENOUGH_COVERED
from assay.model.testset import GoldenQuery, Judgment, TestSet

UNKNOWN = "its original position is unknown; the id may mean another passage now"


class Fate(StrEnum):
    """What happened to a judgment."""

    KEPT = "kept"
    MOVED = "moved"
    SPLIT = "split"
    MERGED = "merged"
    UNKNOWN = "unknown"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A current chunk: its id and its spans in the document."""

    chunk_id: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Anchor:
    """One judgment before and after; ``why`` explains the change."""

    query_id: str
    before: str
    after: tuple[str, ...]
    grade: int
    fate: Fate
    why: str = ""


@dataclass(frozen=True, slots=True)
class Reanchored:
    """The set with its judgments carried over, and what happened to each."""

    test_set: TestSet
    anchors: tuple[Anchor, ...]
    unanswered: tuple[str, ...]

    @property
    def review(self) -> tuple[Anchor, ...]:
        """The judgments to be reviewed."""
        return tuple(one for one in self.anchors if one.fate is not Fate.KEPT)


def reanchor(
    test_set: TestSet,
    chunks: Mapping[str, Sequence[NewChunk]],
    archive: Mapping[str, ChunkPlace],
) -> Reanchored:
    """Carry every judgment over to the current chunks.

    ``chunks`` are those of each document, in order; a document that is missing is gone.
    ``archive`` holds the positions of chunks that were judged without spans.
    """
    anchors: list[Anchor] = []
    queries: list[GoldenQuery] = []
    unanswered: list[str] = []
    for query in test_set.queries:
        carried: dict[str, Judgment] = {}
        for one in query.relevant_docs:
            found, anchor = _carried(query.query_id, one, chunks, archive)
            for new in found:
                known = carried.get(new.id)
                if known is not None and known.grade != new.grade:
                    why = f"{known.grade} and {new.grade} fell on one chunk"
                    anchor = replace(anchor, fate=Fate.MERGED, why=why)
                carried[new.id] = new if known is None else _merged(known, new)
            anchors.append(anchor)
        made = replace(query, relevant_docs=tuple(carried.values()))
        if query.judged and not made.judged:
            unanswered.append(query.query_id)
        queries.append(made)
    changed = replace(test_set, queries=tuple(queries))
    return Reanchored(changed, tuple(anchors), tuple(unanswered))


def _carried(
    query_id: str,
    one: Judgment,
    chunks: Mapping[str, Sequence[NewChunk]],
    archive: Mapping[str, ChunkPlace],
) -> tuple[tuple[Judgment, ...], Anchor]:
    place = place_of(one, archive)

    def anchor(after: tuple[str, ...], fate: Fate, why: str = "") -> Anchor:
        return Anchor(query_id, one.id, after, one.grade, fate, why)

    if place.doc_id not in chunks:
        return (), anchor((), Fate.LOST, f"the document {place.doc_id} is gone")
    if one.id == place.doc_id:  # the whole document, or spans of it, but no chunk
        return (one,), anchor((one.id,), Fate.KEPT)
    today = chunks[place.doc_id]
    if not place.spans:
        there = any(chunk.chunk_id == one.id for chunk in today)
        return ((one,), anchor((one.id,), Fate.UNKNOWN, UNKNOWN)) if there else _gone(anchor)
    holders = _holders(place.spans, today, one.id)
    after = tuple(chunk.chunk_id for chunk in holders)
    if after == (one.id,):
        return (one,), anchor(after, Fate.KEPT)
    if len(holders) == 1:
        return (replace(one, id=after[0], spans=place.spans),), anchor(after, Fate.MOVED)
    parts = tuple(_part(one, chunk, place) for chunk in holders)
    fate, why = (Fate.SPLIT, "") if parts else (Fate.LOST, "no chunk holds half of its characters")
    return parts, anchor(after, fate, why)


def _gone(anchor: Callable[..., Anchor]) -> tuple[tuple[Judgment, ...], Anchor]:
    return (), anchor((), Fate.LOST, "its chunk is gone and its characters are not known")


def _holders(
    judged: Sequence[Span], today: Sequence[NewChunk], before: str
) -> tuple[NewChunk, ...]:
    """The chunk that holds most of the characters, or the fewest that hold half together."""
    wanted = sum(end - start for start, end in judged)
    shares = [(_shared(judged, chunk.spans), chunk) for chunk in today]
    ranked = sorted(
        (row for row in shares if row[0]),
        key=lambda row: (-row[0], row[1].chunk_id != before, row[1].chunk_id),
    )
    chosen: list[NewChunk] = []
    covered = 0
    for share, chunk in ranked:
        chosen.append(chunk)
        covered += share
        if covered >= ENOUGH_COVERED * wanted:
            return tuple(one for one in today if one in chosen)
    return ()


def _shared(judged: Sequence[Span], spans: Sequence[Span]) -> int:
    return sum(
        max(0, min(end, high) - max(start, low)) for start, end in judged for low, high in spans
    )


def _part(one: Judgment, chunk: NewChunk, place: ChunkPlace) -> Judgment:
    """The judgment on one of several chunks, with the characters in that chunk."""
    inside = tuple(
        (max(start, low), min(end, high))
        for start, end in place.spans
        for low, high in chunk.spans
        if max(start, low) < min(end, high)
    )
    return replace(one, id=chunk.chunk_id, spans=inside)


def _merged(a: Judgment, b: Judgment) -> Judgment:
    best = a if a.grade >= b.grade else b
    spans = tuple(sorted({*a.spans, *b.spans})) if a.grade == b.grade else best.spans
    return replace(best, spans=spans)
