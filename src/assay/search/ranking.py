"""What is the final order of the components' candidates, and how did it come about?

There is one path: fusion, then boosts, exact codes, words side by side and other kinds, then the
reranker's scores. The result is one fixed pool of candidates, from which pages are taken.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import ParamSpec, TypeVar

import numpy as np

from assay import limits
from assay.errors import AssayError
from assay.evidence.forms import forms_asked
from assay.evidence.kinds import kinds_asked
from assay.model.document import Chunk, ChunkLabels
from assay.model.query import Hit
from assay.model.testset import QueryType
from assay.search import rerank
from assay.search.about import lower_others
from assay.search.beside import keep_words_together, mentions
from assay.search.boost import EVERYTHING, Boosted, Detected, Lexicon, apply_boosts, detect
from assay.search.exact import (
    lift_exact,
    place_names_first,
    with_short_names,
    within_drugs,
)
from assay.search.folding import Folding
from assay.search.fusion import FusedPool, fuse
from assay.search.other_kinds import lower_other_kinds
from assay.search.query_type import classify
from assay.search.question import Question
from assay.search.reading import NOTHING, Reading
from assay.search.request import SearchOptions
from assay.search.response import INTENT_RULE, RERANKER, FoldedHit, SearchHit
from assay.search.snapshot import KnowsTerms, Snapshot
from assay.search.subject import (
    GIVEN,
    Having,
    Pool,
    Scope,
    pool_rarity,
    scope_of,
    stands_in,
    subject_of,
)
from assay.search.texts import Texts

log = logging.getLogger("assay.search")
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate at its final rank; the pool is ordered by ``score``."""

    boosted: Boosted
    rank_boosted: int
    score: float
    reranker_score: float | None = None
    reranker_share: float | None = None

    @property
    def key(self) -> int:
        """The chunk's key."""
        return self.boosted.fused.key


@dataclass(frozen=True, slots=True)
class Ranking:
    """The whole pool, ordered by boosted score or, in ``order``, with the reranker's scores.

    Candidates are created on access, since most of the pool is never looked at.
    """

    boosted: Sequence[Boosted]
    detected: tuple[Detected, ...]
    query_type: QueryType
    seconds: Mapping[str, float]
    fused: FusedPool
    scope: Scope = EVERYTHING
    order: Sequence[int] | None = None
    scores: Mapping[int, float] = field(default_factory=dict)
    judged: Mapping[int, float] = field(default_factory=dict)
    share: float | None = None
    folding: Folding | None = None

    def __len__(self) -> int:
        return len(self.boosted)

    @property
    def results(self) -> int:
        """How many results there are to be cut into pages: all, less what is folded."""
        return len(self) if self.folding is None else len(self.folding.shown)

    @property
    def pool(self) -> tuple[Candidate, ...]:
        """Every candidate."""
        return self.at(range(len(self)))

    def page(self, start: int, stop: int) -> tuple[Candidate, ...]:
        """The results from position ``start`` up to ``stop``, counted from 0."""
        places = range(len(self)) if self.folding is None else self.folding.shown
        return self.at(places[start:stop])

    def at(self, places: Iterable[int]) -> tuple[Candidate, ...]:
        """The candidates at these places of the pool."""
        if self.order is None:
            return tuple(map(self._candidate, places))
        return tuple(self._candidate(self.order[place]) for place in places)

    def reranked(self, judged: Mapping[int, float], share: float = 1.0) -> Ranking:
        """The pool ordered by ``share`` of a reranker's scores and the rest of those before."""
        before = {one.fused.key: one.score for one in self.boosted}
        place = {key: at for at, key in enumerate(before)}
        scores = rerank.blended(judged, before, share)
        order = [place[key] for key in rerank.order(list(before), scores)]
        return replace(self, order=order, scores=scores, judged=judged, share=share)

    def _candidate(self, place: int) -> Candidate:
        boosted = self.boosted[place]
        if self.order is None:
            return Candidate(boosted, place + 1, boosted.score)
        judged = self.judged.get(boosted.fused.key)
        if judged is None:
            return Candidate(boosted, place + 1, rerank.below_zero(boosted.score))
        score = self.scores[boosted.fused.key]
        return Candidate(boosted, place + 1, score, rerank.sigmoid(judged), self.share)


def rank(
    question: Question,
    lists: Mapping[str, Sequence[Hit]],
    options: SearchOptions,
    lexicon: Lexicon,
    index: Snapshot,
    *,
    reading: Reading = NOTHING,
) -> Ranking:
    """Fuse and boost; labels are fetched only where boosts may apply."""
    started = time.perf_counter()
    query_type = options.query_type or classify(question.plain)
    fused = fuse(lists, options, query_type)
    between = time.perf_counter()
    if not options.boosts:
        boosted = apply_boosts(fused, _no_traits, (), lexicon)
        seconds = {"fusion": between - started, "boosts": 0.0}
        return Ranking(boosted, (), query_type, seconds, fused)
    detected = detect(question.plain, lexicon, options.query_intent)
    traits = index.labels(fused.keys)
    before = time.perf_counter()
    filters = reading.filters(options.filters)
    if filters.doc_id or filters.interview_id:
        scope = GIVEN
    else:
        scope = _scope(question, lexicon, fused, traits, index)
    boosted = apply_boosts(fused, traits.__getitem__, detected, lexicon, scope)
    guarded = time.perf_counter()
    texts = Texts(index, traits)
    boosted = place_names_first(boosted, question.plain, traits, detected=bool(detected))
    lifted: Mapping[int, str] = {key: has for key, has in reading.lifted.items() if key in traits}
    if scope is not GIVEN:
        lifted = with_short_names(lifted, question.plain, traits)
    if len(lists) > 1 and lifted:
        exact = within_drugs(lifted, question.plain, question.others, texts)
        boosted = lift_exact(boosted, exact)
    ordered = time.perf_counter()
    if len(lists) > 1 and not reading.lifted and scope is not GIVEN:
        is_mention = mentions(question.plain, traits, _sections(detected, lexicon))
        by_words = lists.get("bm25", ())
        boosted = keep_words_together(boosted, question.plain, by_words, texts, is_mention)
    if scope is not GIVEN:
        boosted = lower_others(boosted, question.plain, traits, texts, detected=bool(detected))
    kinds = (*kinds_asked(question.plain), *forms_asked(question.plain))
    boosted = lower_other_kinds(boosted, kinds, texts)
    seconds = {
        "fusion": between - started,
        "boosts": time.perf_counter() - between,
        "guard": guarded - before,  # a part of boosts: keeping to the subject
        "kinds": time.perf_counter() - ordered,  # another part: keeping to the kind asked for
    }
    return Ranking(boosted, detected, query_type, seconds, fused, scope)


def _sections(detected: Sequence[Detected], lexicon: Lexicon) -> frozenset[str]:
    """The sections that a query asks for."""
    asked = (lexicon.intents[one.intent] for one in detected if one.rule == INTENT_RULE)
    return frozenset(section for intent in asked for section in intent.sections)


def _scope(
    question: Question,
    lexicon: Lexicon,
    fused: FusedPool,
    traits: Mapping[int, ChunkLabels],
    index: Snapshot,
) -> Scope:
    """What the candidates are held against so that boosts keep to the subject."""
    keys = fused.keys
    names = [traits[key].names for key in keys]
    key_array = np.array(keys, dtype=np.int64)

    def held(term: str, places: Sequence[int]) -> Sequence[int]:
        kept: list[int] = np.asarray(places)[index.having(term, key_array[places])].tolist()
        return kept

    def read(term: str, places: Sequence[int]) -> Sequence[int]:
        chunks = index.chunks([keys[at] for at in places])
        return [at for at in places if stands_in(term, chunks[keys[at]].text)]

    def rarity(word: str) -> float:
        return pool_rarity(names)(word)

    def at_once(terms: Collection[str], places: Sequence[int]) -> Having:
        lines = index.having_each(terms, key_array[places])
        there = {term: {*compress(places, line)} for term, line in lines.items()}
        asked = {*places}

        def known(term: str, some: Sequence[int]) -> Collection[int]:
            if term in there and asked.issuperset(some):
                return there[term].intersection(some)
            return having(term, some)

        return known

    having = _or(held, read)
    words: object = index.words
    if words is None:
        pool = Pool(names, read, pool_rarity(names), question.others)
    else:
        near = at_once if isinstance(words, KnowsTerms) else None
        pool = Pool(names, having, _or(index.rarity, rarity), question.others, near)
    return scope_of(subject_of(question.plain, lexicon), pool)


def _or(asked: Callable[P, T], otherwise: Callable[P, T]) -> Callable[P, T]:
    """What an index says; where a cluster does not answer, what the candidates tell."""

    def told(*args: P.args, **named: P.kwargs) -> T:
        try:
            return asked(*args, **named)
        except (AssayError, OSError) as problem:
            log.warning("the words of the index cannot be asked: %s", problem)
            return otherwise(*args, **named)

    return told


def _no_traits(key: int) -> ChunkLabels:
    raise AssertionError(key)


def explained(
    candidate: Candidate,
    rank: int,
    chunk: Chunk,
    asked: Sequence[str],
    *,
    about: bool = True,
    folded: Sequence[FoldedHit] = (),
) -> SearchHit:
    """A result with the full explanation of its score; None for components without it."""
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
        about_subject=about,
        folded=tuple(folded[: limits.MAX_FOLDED]),
        folded_count=len(folded),
        reranker_share=candidate.reranker_share,
    )
