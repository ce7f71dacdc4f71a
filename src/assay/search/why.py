"""Why is this document not among the results?

A document is traced through every step of a search: in the index, past the filters and what the
query itself asks for (an identifier, phrases, exclusions), found by a component, through fusion and
boosts, into the first k, past the reranker and the floor. The first step at which it drops out is
the answer. If no component found it within its depth, a deeper search reports the
rank and score it would have had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from assay import limits
from assay.model.codec import encode
from assay.model.document import KeyedChunk
from assay.model.query import Component, Filters, Hit, PartialAnswerError, blocking
from assay.model.tabular import Records, Tabular
from assay.search.exact import RULE as EXACT
from assay.search.pipeline import Prepared, judged_page
from assay.search.ranking import Candidate, Ranking
from assay.search.reading import allowed
from assay.search.response import Boost
from assay.search.snapshot import Snapshot

NAMED = 5
"""Results that are named as having overtaken a document."""


class Verdict(StrEnum):
    """The step at which a document dropped out."""

    IN_RESULTS = "in_results"
    FOLDED = "folded"
    NOT_IN_INDEX = "not_in_index"
    FILTERED_OUT = "filtered_out"
    NOT_NAMED = "not_named"
    KEPT_OUT = "kept_out"
    NOT_FOUND = "not_found"
    LOST_IN_FUSION = "lost_in_fusion"
    BELOW_K = "below_k"
    RERANKED_AWAY = "reranked_away"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class ComponentFinding:
    """How one component ranks a chunk; ``rank`` is None if it is deeper than we look."""

    rank: int | None
    score: float | None
    within_depth: bool


@dataclass(frozen=True, slots=True)
class Overtaker:
    """A result that stands above the document although an earlier step had it below."""

    chunk_id: str
    rank: int
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Why(Tabular):
    """The answer; figures are for the document's best chunk, and None if it never got that far."""

    document: str
    verdict: Verdict
    sentence: str
    chunk_id: str | None = None
    components: Mapping[str, ComponentFinding] = field(default_factory=dict)
    rank: int | None = None
    rank_fused: int | None = None
    rank_boosted: int | None = None
    score: float | None = None
    needed: float | None = None
    boosts: tuple[Boost, ...] = ()
    overtaken_by: tuple[Overtaker, ...] = ()

    def records(self) -> Records:
        """A row for each component that was asked."""
        return Records(
            ("component", "rank", "score", "within_depth"),
            [
                (name, one.rank, one.score, one.within_depth)
                for name, one in self.components.items()
            ],
            f"{self.document}: {self.sentence}",
            tuple(f"{one.chunk_id} at rank {one.rank}: {one.reason}" for one in self.overtaken_by),
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        found: dict[str, Any] = encode(self)
        return found


def explain_absence(
    document: str, prepared: Prepared, snapshot: Snapshot, before: Ranking, after: Ranking
) -> Why:
    """Trace a document or chunk through one search."""
    chunks = snapshot.find(document)
    if not chunks:
        return Why(
            document,
            Verdict.NOT_IN_INDEX,
            f"{document:.80} is not in this index (generation {snapshot.generation})",
        )
    filters = snapshot.resolved(prepared.options.filters)
    passing = [row for row in chunks if not blocking(row.chunk, filters)]
    if not passing:
        reasons = blocking(chunks[0].chunk, filters)
        return Why(
            document,
            Verdict.FILTERED_OUT,
            f"the filters leave it out: {'; '.join(reasons)}",
            chunks[0].chunk.chunk_id,
        )
    named = [row for row in passing if not blocking(row.chunk, prepared.reading.filters(filters))]
    if not named:
        return _not_named(document, passing[0], prepared, after)
    keys = {row.key for row in named}
    place = _place(after, keys)
    if place is None:
        return _kept_out(document, named, prepared, snapshot) or _not_found(
            document, named, prepared, snapshot
        )
    shown = prepared.folded(after, prepared.options)
    rank, reason = (place + 1, None) if shown.folding is None else shown.folding.of(place)
    found = shown.pool[place]
    if reason is None:
        return _placed(_Way(document, prepared, before, shown, keys), found, rank)
    (leader,) = shown.page(rank - 1, rank)
    nothing = _withheld(prepared, shown)
    under = f"folded under {leader.boosted.fused.chunk_id} at rank {rank}: {reason}"
    return Why(
        document,
        Verdict.WITHHELD if nothing else Verdict.FOLDED,
        f"{nothing}, so nothing is shown (floor: off has it {under})"
        if nothing
        else f"it is {under}",
        found.boosted.fused.chunk_id,
        rank=rank,
        rank_fused=found.boosted.rank_fused,
        rank_boosted=found.rank_boosted,
        score=found.score,
        boosts=found.boosted.boosts,
    )


def _kept_out(
    document: str, rows: Sequence[KeyedChunk], prepared: Prepared, snapshot: Snapshot
) -> Why | None:
    """Phrases, exclusions or an unknown identifier of the query, if they leave none of it."""
    words, keys = snapshot.word_index, {row.key for row in rows}
    if words is None or allowed(prepared.question, prepared.reading, words, keys):
        return None
    return Why(
        document,
        Verdict.KEPT_OUT,
        f"the query itself keeps it out: {'; '.join(prepared.reading.notes)}",
        rows[0].chunk.chunk_id,
    )


def _not_named(document: str, row: KeyedChunk, prepared: Prepared, after: Ranking) -> Why:
    """The query is the identifier of other documents, or contains one."""
    reading = prepared.reading
    about = ", ".join(reading.identified)
    return Why(
        document,
        Verdict.NOT_NAMED,
        f"the query names another document: {reading.naming}",
        row.chunk.chunk_id,
        overtaken_by=tuple(
            Overtaker(
                one.boosted.fused.chunk_id, rank, one.score, f"belongs to {about}, as asked for"
            )
            for rank, one in enumerate(after.page(0, NAMED), start=1)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """The search in which a document is traced; ``keys`` are those of its chunks."""

    document: str
    prepared: Prepared
    before: Ranking
    after: Ranking
    keys: set[int]


def _place(ranking: Ranking, keys: set[int]) -> int | None:
    return next((at for at, one in enumerate(ranking.pool) if one.key in keys), None)


def _not_found(
    document: str, rows: Sequence[KeyedChunk], prepared: Prepared, snapshot: Snapshot
) -> Why:
    findings: dict[str, ComponentFinding] = {}
    best: str | None = None
    filters = prepared.reading.filters(snapshot.resolved(prepared.options.filters))
    for name in prepared.answers.lists:
        query = prepared.question.for_component(name)
        finding, chunk_id = _deeper(snapshot.components[name], query, rows, filters)
        findings[name] = finding
        best = best or chunk_id
    depth = prepared.options.depth
    words = [
        f"{name} would have it at rank {found.rank:,} with {found.score:.4g}"
        if found.rank is not None
        else f"{name} has it below rank {limits.WHY_DEPTH:,}"
        if found.score is not None
        else f"{name} sees nothing in common with the query"
        for name, found in findings.items()
    ]
    return Why(
        document,
        Verdict.NOT_FOUND,
        f"no component has it among its best {depth}: {'; '.join(words)}",
        best or rows[0].chunk.chunk_id,
        findings,
    )


def _deeper(
    component: Component, query: str, rows: Sequence[KeyedChunk], filters: Filters
) -> tuple[ComponentFinding, str | None]:
    """The best chunk's true rank and score; only the score if it is too deep."""
    keys = {row.key for row in rows}
    documents = tuple({row.chunk.doc_id for row in rows})
    own = [
        hit
        for hit in _hits(component, query, replace(filters, doc_id=documents))
        if hit.key in keys
    ]
    if not own:
        return ComponentFinding(None, None, within_depth=False), None
    every = _hits(component, query, filters)
    rank = next((at for at, hit in enumerate(every, start=1) if hit.key == own[0].key), None)
    return ComponentFinding(rank, own[0].score, within_depth=False), own[0].chunk_id


def _hits(component: Component, query: str, filters: Filters) -> Sequence[Hit]:
    """All hits to the maximum depth, or those of the shards that answered."""
    try:
        return component.search(query, limits.WHY_DEPTH, filters)
    except PartialAnswerError as part:
        return part.hits


def _placed(way: _Way, found: Candidate, rank: int) -> Why:
    k = way.prepared.options.k + way.prepared.options.offset
    results = way.after.page(0, k)
    needed = results[-1].score
    fused = found.boosted.fused
    findings = {
        name: ComponentFinding(rank_there, fused.raw[name], within_depth=rank_there is not None)
        for name, rank_there in fused.ranks.items()
    }
    ranks = [one for one in fused.ranks.values() if one is not None]
    place_before = _place(way.before, way.keys)
    verdict = _verdict(rank, k, None if place_before is None else place_before + 1, ranks)
    scores = f"its score is {found.score:.4g}, and place {k} needs {needed:.4g}"
    sentence = _sentence(verdict, rank, found, findings, scores)
    if rank <= way.prepared.options.offset:
        sentence += ", before this page"
    if nothing := _withheld(way.prepared, way.after):
        has = "shows" if verdict is Verdict.IN_RESULTS else "has"
        verdict = Verdict.WITHHELD
        sentence = f"{nothing}, so nothing is shown (floor: off {has} it at rank {rank})"
    above = results if verdict is not Verdict.IN_RESULTS else results[: rank - 1]
    return Why(
        way.document,
        verdict,
        "; ".join(filter(None, (sentence, way.prepared.reading.naming))),
        fused.chunk_id,
        findings,
        rank=rank,
        rank_fused=found.boosted.rank_fused,
        rank_boosted=found.rank_boosted,
        score=found.score,
        needed=needed,
        boosts=found.boosted.boosts,
        overtaken_by=_overtakers(above, found, last=verdict is not Verdict.IN_RESULTS),
    )


def _withheld(prepared: Prepared, ranking: Ranking) -> str:
    """Why nothing is shown at all; empty where something is."""
    return (
        judged_page(prepared, prepared.options, ranking).nothing if prepared.options.floor else ""
    )


def _overtakers(
    results: Sequence[Candidate], found: Candidate, *, last: bool
) -> tuple[Overtaker, ...]:
    """The first results that a step lifted over the document; else the ``last`` result."""
    reasons = [(rank, one, _overtook(one, found)) for rank, one in enumerate(results, start=1)]
    named = [row for row in reasons if row[2]][:NAMED]
    if not named and last:
        named = [(len(results), results[-1], f"found by {_found_by(results[-1])}")]
    return tuple(
        Overtaker(one.boosted.fused.chunk_id, rank, one.score, reason)
        for rank, one, reason in named
    )


def _overtook(one: Candidate, found: Candidate) -> str:
    """The step that put a result above the document; empty where it was there before."""
    if one.reranker_score is not None and one.rank_boosted > found.rank_boosted:
        own = "none" if found.reranker_score is None else f"{found.reranker_score:.3g}"
        return f"the reranker gave it {one.reranker_score:.3g}, and {own} to this document"
    if one.boosted.rank_fused > found.boosted.rank_fused:
        applied = [boost for boost in one.boosted.boosts if boost.applied]
        return "; ".join(
            boost.reason
            if boost.rule == EXACT
            else f"lifted ×{boost.factor:.3g} ({boost.matched or boost.intent})"
            for boost in applied
        )
    if _best(one) > _best(found):
        return f"found by {_found_by(one)}"
    return ""


def _best(one: Candidate) -> int:
    return min(rank for rank in one.boosted.fused.ranks.values() if rank is not None)


def _found_by(one: Candidate) -> str:
    ranks = one.boosted.fused.ranks
    return ", ".join(f"{name} at {rank}" for name, rank in ranks.items() if rank is not None)


def _verdict(rank: int, k: int, before: int | None, component_ranks: list[int]) -> Verdict:
    if rank <= k:
        return Verdict.IN_RESULTS
    if before is not None and before <= k:
        return Verdict.RERANKED_AWAY
    return Verdict.LOST_IN_FUSION if min(component_ranks) <= k else Verdict.BELOW_K


def _sentence(
    verdict: Verdict,
    rank: int,
    found: Candidate,
    findings: Mapping[str, ComponentFinding],
    scores: str,
) -> str:
    by = ", ".join(f"{name} at {one.rank}" for name, one in findings.items() if one.rank)
    return {
        Verdict.IN_RESULTS: f"it is there, at rank {rank} (found by {by})",
        Verdict.RERANKED_AWAY: (
            f"the reranker moved it from rank {found.rank_boosted} to {rank}; {scores}"
        ),
        Verdict.LOST_IN_FUSION: (
            f"found by {by}, but others were found by more components or lifted by a boost: "
            f"rank {rank}; {scores}"
        ),
        Verdict.BELOW_K: f"found by {by}, which makes rank {rank}; {scores}",
    }[verdict]
