"""What of a search is kept in a run?

The time that counts is that of a page of ten results, as a person would ask for it; what is kept
beyond that page costs the run and not the figure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from assay import limits
from assay.errors import AssayError
from assay.evidence.guard import guarded
from assay.model.answers import Answerer, Passage, Usage, added_usage
from assay.model.document import ChunkPlace, SpeakerRole
from assay.model.query import Filters
from assay.model.runs import WITHHELD, QueryOutcome, RankedResult
from assay.model.system import System
from assay.model.testset import GoldenQuery, SpeakerFilter
from assay.search.pipeline import Traced
from assay.search.ranking import Candidate
from assay.search.request import SearchOptions
from assay.search.response import SearchResponse
from assay.search.run_config import search_config
from assay.search.searcher import Searcher, with_model_weights
from assay.search.snapshot import Snapshot
from assay.version import __version__

PAGE = 10


class Places(Protocol):
    """Small facts about chunks, from wherever they are kept."""

    def by_key(self, keys: Sequence[int]) -> Mapping[int, ChunkPlace]:
        """Where the chunks of these keys come from."""

    def present(self, ids: Collection[str]) -> frozenset[str]:
        """Those of the ids that are there."""

    def chunker_versions(self) -> tuple[str, ...]:
        """Who cut the chunks that are there."""


@dataclass
class Recorder:
    """Asks the queries of a test set and keeps everything about each answer.

    ``options.k`` is how many results are kept; ``places`` answers for keys of chunks. The whole
    run looks into one snapshot, whatever is indexed meanwhile. ``spent`` is what models behind
    addresses took so far: what it grows by during a search is the query's.
    """

    searcher: Searcher
    snapshot: Snapshot
    options: SearchOptions
    places: Places
    answerer: Answerer | None = None
    keeps_passages: bool = False
    spent: Callable[[], Usage] = Usage
    _known: dict[int, ChunkPlace] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, query: GoldenQuery) -> QueryOutcome:
        """The outcome of one query, with the filters of the run and those that the query names."""
        before = self.spent()
        traced = self.searcher.traced(*self._asked(query), self.snapshot)
        return self._outcome(query, traced, _since(before, self.spent()))

    def many(self, queries: Sequence[GoldenQuery]) -> list[QueryOutcome]:
        """The outcomes of several queries, searched at once; none has a time of its own."""
        before = self.spent()
        found = self.searcher.traced_many([*map(self._asked, queries)], self.snapshot)
        usages = _shares(_since(before, self.spent()), len(queries))
        outcomes = map(self._outcome, queries, found, usages)
        return [replace(one, latency_ms=None, timings_ms={}) for one in outcomes]

    def _asked(self, query: GoldenQuery) -> tuple[str, SearchOptions]:
        filters = filters_of(query, self.options.filters)
        return query.query_text, replace(self.options, k=min(PAGE, self.options.k), filters=filters)

    def _outcome(self, query: GoldenQuery, traced: Traced, usage: Usage | None) -> QueryOutcome:
        response = traced.response
        outcome = QueryOutcome(
            query_id=query.query_id,
            results=self._results(traced, traced.ranking.page(0, self.options.k)),
            latency_ms=response.timings_ms["total"],
            degraded=response.degraded,
            component_errors=(
                *response.component_errors,
                *([f"reranker_{response.reranker_error}"] if response.reranker_error else []),
            ),
            component_lists=_lists(traced, lambda hit: hit.chunk_id),
            component_list_scores=_lists(traced, lambda hit: hit.score),
            fused=tuple(traced.ranking.fused.chunk_ids),
            timings_ms=dict(response.timings_ms),
            warnings=_warnings(response),
            usage=usage,
        )
        return outcome if self.answerer is None else self._answered(query, response, outcome)

    def _answered(
        self, query: GoldenQuery, response: SearchResponse, outcome: QueryOutcome
    ) -> QueryOutcome:
        """The outcome with what the answerer says to the page, or with its error."""
        assert self.answerer is not None
        started = time.perf_counter()
        passages = response.passages()
        try:
            asked = response.searched_for or query.query_text
            found = guarded(self.answerer, asked, passages, response.no_answer)
        except AssayError as problem:
            return replace(outcome, answer_error=problem.message)
        took = round(1000 * (time.perf_counter() - started), 3)
        return replace(
            outcome,
            answer=replace(found.answer, usage=None),  # which is that of the query
            usage=added_usage(outcome.usage, found.answer.usage),
            known_citations=self.places.present(found.answer.citations),
            numbers=found.numbers,
            timings_ms={**outcome.timings_ms, "answer": took},
            passages=_texts(passages) if self.keeps_passages else {},
        )

    def _results(self, traced: Traced, kept: Sequence[Candidate]) -> tuple[RankedResult, ...]:
        places = self._places([candidate.key for candidate in kept])
        return tuple(_result(candidate, places[candidate.key]) for candidate in kept)

    def _places(self, keys: Sequence[int]) -> Mapping[int, ChunkPlace]:
        lacking = [key for key in keys if key not in self._known]
        new = self.places.by_key(lacking) if lacking else {}
        found = {key: new[key] if key in new else self._known[key] for key in keys}
        if len(self._known) > limits.MAX_CACHED_CHUNKS:
            self._known = {}  # others may be reading the old one
        self._known.update(new)
        return found


def recorded_system(
    searcher: Searcher,
    options: SearchOptions,
    places: Places,
    *,
    models: Mapping[str, str],
    engine: str = "embedded",
    answerer: Answerer | None = None,
    keeps_passages: bool = False,
    spent: Callable[[], Usage] = Usage,
) -> System:
    """Our search as something to evaluate, on the generation that it has now.

    The configuration names everything beside the index that can change an answer: the options, the
    content of synonyms and lexicon, the reranker's weights, the code of components that the user
    brings, the answerer with its prompt or code, and this version of assay.
    """
    searcher.check(options)
    snapshot = searcher.snapshot
    options = with_model_weights(options, snapshot)
    snapshot.resolved(options.filters)  # refused now, and not once for every query
    identity = searcher.identity(options)
    known_code = None not in identity.get("component_code", {}).values()
    answers = {} if answerer is None else {"answerer": answerer.name}
    recorder = Recorder(searcher, snapshot, options, places, answerer, keeps_passages, spent)
    return System(
        recorder,
        {
            **search_config(options),
            **identity,
            **answers,
            "assay": __version__,
        },
        engine=engine,
        generation=f"{snapshot.generation}#{snapshot.content}" if known_code else None,
        chunker_versions=places.chunker_versions(),
        models={name: models[name] for name in options.components if name in models},
        keeps_time=True,
        retrieve_many=recorder.many if searcher.takes_many(options, snapshot) else None,
    )


def _since(before: Usage, now: Usage) -> Usage | None:
    """What was taken between two counts; None for nothing."""
    tokens = (now.tokens or 0) - (before.tokens or 0)
    cost = round((now.cost or 0.0) - (before.cost or 0.0), 9)
    return Usage(cost or None, tokens or None) if tokens or cost else None


def _shares(usage: Usage | None, count: int) -> list[Usage | None]:
    """What a batch took, in equal parts; tokens that are left over fall to the first queries."""
    if usage is None:
        return [None] * count
    cost = None if usage.cost is None else usage.cost / count
    each, left = divmod(usage.tokens or 0, count)
    return [Usage(cost, each + (at < left) or None) for at in range(count)]


def _texts(passages: Sequence[Passage]) -> dict[str, str]:
    """What an answerer was shown, for a judge to read."""
    return {one.chunk.chunk_id: f"{one.chunk.title}\n{one.chunk.text}".strip() for one in passages}


def _warnings(response: SearchResponse) -> tuple[str, ...]:
    """What was said of the search; a run keeps the results that the search withheld."""
    if not response.withheld:
        return response.warnings
    said = (line for line in response.warnings if not line.startswith(response.nothing_about))
    return (*said, response.nothing_about, WITHHELD)


def filters_of(query: GoldenQuery, of_run: Filters) -> Filters:
    """The filters of a run with those that a golden query names."""
    speaker, mode = query.speaker_filter, query.ingestion_mode
    return replace(
        of_run,
        speaker_role=() if speaker is SpeakerFilter.ALL else (SpeakerRole(speaker.value),),
        ingestion_mode=() if mode is None else (mode,),
    )


def _result(candidate: Candidate, place: ChunkPlace) -> RankedResult:
    fused = candidate.boosted.fused
    scores, ranks = {}, {}
    for column, rank in zip(fused.columns, fused.places, strict=True):
        if rank:
            scores[column.component], ranks[column.component] = column.raw[rank - 1], rank
    if candidate.reranker_score is not None:
        scores["reranker"] = candidate.reranker_score
    return RankedResult(
        chunk_id=fused.chunk_id,
        doc_id=place.doc_id,
        score=candidate.score,
        spans=place.spans,
        chunker_version=place.chunker_version,
        component_scores=scores,
        ranks=ranks,
    )


def _lists(traced: Traced, of: Callable[[Any], Any]) -> dict[str, tuple[Any, ...]]:
    lists = traced.prepared.answers.lists
    return {name: tuple(of(hit) for hit in hits) for name, hits in lists.items()}
