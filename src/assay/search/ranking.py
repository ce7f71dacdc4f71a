"""Here are the lists of the components: what is the order, and how did it come about?

One path, always in this order: fusion, boosts, then whatever a reranker said. The result is one
fixed pool of candidates, of which pages are cut.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.model.document import Chunk, ChunkLabels
from assay.model.query import Hit
from assay.model.testset import QueryType
from assay.search import rerank
from assay.search.boost import Boosted, Detected, Lexicon, apply_boosts, detect
from assay.search.fusion import fuse
from assay.search.options import SearchOptions
from assay.search.query_type import classify
from assay.search.question import Question
from assay.search.response import SearchHit


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
    """The whole pool in order."""

    pool: tuple[Candidate, ...]
    detected: tuple[Detected, ...]
    query_type: QueryType
    seconds: Mapping[str, float]

    def reranked(self, scores: Mapping[int, float]) -> Ranking:
        """The pool as a reranker's scores would have it."""
        by_key = {candidate.key: candidate for candidate in self.pool}
        pool = tuple(
            replace(by_key[key], score=scores[key], reranker_score=scores[key])
            if key in scores
            else replace(by_key[key], score=rerank.below_zero(by_key[key].score))
            for key in rerank.order(list(by_key), scores)
        )
        return replace(self, pool=pool)


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
    traits = labels([one.key for one in fused]) if detected else {}
    boosted = apply_boosts(fused, traits.__getitem__, detected, lexicon)
    pool = tuple(Candidate(one, at, one.score) for at, one in enumerate(boosted, start=1))
    seconds = {"fusion": between - started, "boosts": time.perf_counter() - between}
    return Ranking(pool, detected, query_type, seconds)


def explained(candidate: Candidate, rank: int, chunk: Chunk, asked: Sequence[str]) -> SearchHit:
    """A result with the whole account of its score; None for components that do not have it."""
    fused = candidate.boosted.fused
    blank = dict.fromkeys(asked)
    return SearchHit(
        rank=rank,
        chunk=chunk,
        score=candidate.score,
        component_scores={**blank, **fused.raw},
        ranks={**blank, **fused.ranks},
        normalized={**blank, **fused.normalized},
        contributions={**blank, **fused.contributions},
        fused=fused.score,
        boosted=candidate.boosted.score,
        boosts=candidate.boosted.boosts,
        rank_fused=candidate.boosted.rank_fused,
        rank_boosted=candidate.rank_boosted,
        reranker_score=candidate.reranker_score,
    )
