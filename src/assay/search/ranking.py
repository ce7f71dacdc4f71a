"""Here are the lists of the components: what is the order, and how did it come about?

One path, always in this order: fusion, boosts, then whatever a reranker said. The result is one
fixed pool of candidates, of which pages are cut.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.model.document import Chunk, ChunkLabels
from assay.model.query import Hit
from assay.model.testset import QueryType
from assay.search import rerank
from assay.search.boost import Boosted, Detected, Lexicon, apply_boosts, detect
from assay.search.fusion import fuse
from assay.search.query_type import classify
from assay.search.question import Question
from assay.search.request import SearchOptions
from assay.search.response import RERANKER, SearchHit


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate in its final place; ``score`` is what the pool is ordered by."""

    boosted: Boosted
    rank_boosted: int
    score: float
    reranker_score: float | None = None

    @property
    def key(self) -> int:
        """The chunk's key."""
        return self.boosted.fused.key


@dataclass(frozen=True, slots=True)
class Ranking:
    """The whole pool in order: by boosts, and in ``order`` as a reranker's scores would have it.

    Candidates are made when they are asked for, since most of the pool is never looked at.
    """

    boosted: Sequence[Boosted]
    detected: tuple[Detected, ...]
    query_type: QueryType
    seconds: Mapping[str, float]
    order: Sequence[int] | None = None
    scores: Mapping[int, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.boosted)

    @property
    def pool(self) -> tuple[Candidate, ...]:
        """Every candidate."""
        return self.page(0, len(self))

    def page(self, start: int, stop: int) -> tuple[Candidate, ...]:
        """The candidates from one place to before another, places counted from 0."""
        places = range(len(self)) if self.order is None else self.order
        return tuple(map(self._candidate, places[start:stop]))

    def reranked(self, scores: Mapping[int, float]) -> Ranking:
        """The pool as a reranker's scores would have it."""
        keys = [one.fused.key for one in self.boosted]
        place = {key: at for at, key in enumerate(keys)}
        order = [place[key] for key in rerank.order(keys, scores)]
        return replace(self, order=order, scores=scores)

    def _candidate(self, place: int) -> Candidate:
        boosted = self.boosted[place]
        if self.order is None:
            return Candidate(boosted, place + 1, boosted.score)
        judged = self.scores.get(boosted.fused.key)
        score = rerank.below_zero(boosted.score) if judged is None else judged
        return Candidate(boosted, place + 1, score, judged)


def rank(
    question: Question,
    lists: Mapping[str, Sequence[Hit]],
    options: SearchOptions,
    lexicon: Lexicon,
    labels: Callable[[Sequence[int]], Mapping[int, ChunkLabels]],
) -> Ranking:
    """Fuse and boost; labels are looked at only where the query asks for a kind of them."""
    started = time.perf_counter()
    query_type = options.query_type or classify(question.written)
    fused = fuse(lists, options, query_type)
    between = time.perf_counter()
    detected = detect(question.written, lexicon, options.query_intent) if options.boosts else ()
    traits = labels(fused.keys) if detected else {}
    boosted = apply_boosts(fused, traits.__getitem__, detected, lexicon)
    seconds = {"fusion": between - started, "boosts": time.perf_counter() - between}
    return Ranking(boosted, detected, query_type, seconds)


def explained(candidate: Candidate, rank: int, chunk: Chunk, asked: Sequence[str]) -> SearchHit:
    """A result with the whole account of its score; None for components that do not have it."""
    fused = candidate.boosted.fused
    raw: dict[str, float | None] = dict.fromkeys(asked)
    ranks: dict[str, int | None] = dict.fromkeys(asked)
    normalized, contributions = raw.copy(), raw.copy()
    for column, place in zip(fused.columns, fused.places, strict=True):
        if place:
            name = column.component
            ranks[name] = place
            raw[name] = column.raw[place - 1]
            normalized[name] = column.normalized[place - 1]
            contributions[name] = column.contributions[place - 1]
    if candidate.reranker_score is not None:
        raw[RERANKER] = candidate.reranker_score
    return SearchHit(
        rank=rank,
        chunk=chunk,
        score=candidate.score,
        component_scores=raw,
        ranks=ranks,
        normalized=normalized,
        contributions=contributions,
        fused=fused.score,
        boosted=candidate.boosted.score,
        boosts=candidate.boosted.boosts,
        rank_fused=candidate.boosted.rank_fused,
        rank_boosted=candidate.rank_boosted,
    )
