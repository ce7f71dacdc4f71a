"""Who answers questions for as long as a process lives?

A ``Searcher`` holds one snapshot of the index, the lanes of its components, and what it remembers.
Threads and event loops may use it at the same time. Every question looks whether a new generation
was written; if so that one is opened first, so that what was deleted or replaced is not shown once
more. Each answer comes from exactly one generation.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from assay import limits
from assay.analysis.asked import names_asked
from assay.cache import Cache
from assay.errors import AssayError, CorruptError, SearchUnavailableError
from assay.evidence.forms import forms_asked
from assay.evidence.kinds import kinds_asked
from assay.evidence.terms import content_stems, units
from assay.model.document import Chunk
from assay.model.query import Filters, Hit
from assay.model.testset import QueryType
from assay.search.background import BackgroundLoop
from assay.search.boost import (
    Detected,
    Lexicon,
    check_intent,
    default_lexicon,
    detect,
    intent_names,
)
from assay.search.coordinator import (
    Answers,
    ComponentRequest,
    agather,
    begin,
    gather_many,
    takes_many,
)
from assay.search.deadline import Failure, Lane
from assay.search.packed import Packed, pack
from assay.search.pipeline import Prepared, Traced, all_failed, respond
from assay.search.query_type import classify
from assay.search.question import Question, ask
from assay.search.ranking import Ranking
from assay.search.reading import (
    NOTHING,
    Chunks,
    Reading,
    admitted,
    read_query,
    with_unknown_words,
)
from assay.search.request import (
    COMPONENTS,
    SEARCH_OPTIONS,
    SearchOptions,
    changed,
    check_components,
    check_names,
    without_components,
)
from assay.search.rerank import Reranked, Rerankers, depth, rerank, share
from assay.search.response import SearchResponse
from assay.search.snapshot import Snapshot
from assay.search.synonyms import Synonyms, rules_of
from assay.search.why import Why, explain_absence
from assay.tracing import Span, span

log = logging.getLogger("assay.search")

T = TypeVar("T")
LookedUp: TypeAlias = tuple[dict[str, tuple[Hit, ...]], dict[str, ComponentRequest]]

SPAN = "assay.search"
WARM_UP = "warm up"
WARM_UP_MS = 10_000.0
AGAIN_AFTER_S = 1.0
"""How long a generation that could not be opened is left alone."""
CLOSING_S = 3.0
EMPTY = "the index is empty: assay ingest PATH or assay index update fills it"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a searcher gets what it looks into.

    ``newest`` names the newest generation; ``open`` opens it. ``stamp`` differs once another one
    was written or this one was touched, and is so cheap that an event loop may ask; without it,
    ``newest`` is asked. ``verify`` raises where files of the newest one are not as written.
    """

    newest: Callable[[], str]
    open: Callable[[], Snapshot]
    stamp: Callable[[], object] | None = None
    verify: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class SearchInProgress:
    """One question on its way through a searcher.

    It holds the generation that answers, so that a new one can take over in between, and
    ``identity``, that of the options, so that it is worked out once. ``from_memory`` allows lists
    that components gave before. ``asked_s`` is how long it took to make a question of the query.
    """

    question: Question
    options: SearchOptions
    snapshot: Snapshot
    started: float
    identity: str
    from_memory: bool = True
    asked_s: float = 0.0

    def key(self, generation: str) -> tuple[str, str, str]:
        """The same for questions with the same answer."""
        return generation, self.question.written, self.identity


def with_model_weights(options: SearchOptions, snapshot: Snapshot) -> SearchOptions:
    """The options with the weights that suit the models of an index."""
    if options.model_weights == snapshot.model_weights:
        return options
    return replace(options, model_weights=snapshot.model_weights)


def _noted(noted: Span, found: SearchResponse) -> SearchResponse:
    """The answer; whoever listens is told of it, but not of its words."""
    noted.note("results", len(found.results))
    noted.note("candidates", found.total_candidates)
    noted.note("query_type", found.query_type)
    noted.note("generation", found.generation)
    noted.note("components", list(found.components_used))
    noted.note("component_errors", list(found.component_errors))
    noted.note("degraded", found.degraded)
    noted.note("cached", found.cached)
    noted.note("reranked", found.reranked)
    for stage, took in found.timings_ms.items():
        noted.note(f"{stage}_ms", took)
    return found


class Searcher:
    """Search that stays; see the module's docstring.

    ``own`` are the components that the user brings, each with the digest of its code.
    """

    def __init__(
        self,
        source: Source,
        rerankers: Rerankers,
        *,
        defaults: SearchOptions | None = None,
        lexicon: Lexicon | None = None,
        synonyms: Synonyms | None = None,
        own: Mapping[str, str | None] = MappingProxyType({}),
    ) -> None:
        self._defaults = defaults or SearchOptions()
        self._source = source
        self._rerankers = rerankers
        self._lexicon = lexicon or default_lexicon()
        self._synonyms = synonyms
        self._own = own
        self.lanes = {name: Lane(name) for name in (*COMPONENTS, *own)}
        self._rerank_lane = Lane("reranker", workers=1)
        self._answers: Cache[tuple[str, str, str], SearchResponse] = Cache(
            limits.MAX_CACHED_ANSWERS
        )
        self._lists: Cache[tuple[str, str, ComponentRequest], Packed] = Cache(
            limits.MAX_CACHED_LISTS
        )
        self._chunks: Cache[int, Chunk] = Cache(limits.MAX_CACHED_CHUNKS)
        self._loop = BackgroundLoop()
        self._refreshing = threading.Lock()
        self._stale = ""
        self._damaged: CorruptError | None = None
        self._looked = 0.0
        self._stamp = self._stamped()
        self._snapshot = self._opened()
        atexit.register(self.close)  # for those who forget

    @property
    def defaults(self) -> SearchOptions:
        """The options of a search that names none, with the weights that suit this index."""
        return self._usual(self._snapshot)

    def _usual(self, snapshot: Snapshot) -> SearchOptions:
        options = without_components(self._defaults, snapshot.lacking)
        return with_model_weights(options, snapshot)

    @property
    def generation(self) -> str:
        """The generation that the next question is answered from."""
        return self._snapshot.generation

    @property
    def snapshot(self) -> Snapshot:
        """The index that the next question looks into; whoever holds it keeps its generation."""
        return self._snapshot

    @property
    def intents(self) -> tuple[str, ...]:
        """What ``query_intent`` may be."""
        return intent_names(self._lexicon)

    def check(self, options: SearchOptions) -> None:
        """Refuse options that name a component or an intent that there is not."""
        check_components(options, self._own)
        check_intent(options.query_intent, self._lexicon)

    def check_named(self, changes: Mapping[str, Any]) -> None:
        """Refuse changes that name a component that there is not, before weights are looked at."""
        if (named := changes.get("components")) is not None:
            check_names("components", SEARCH_OPTIONS["components"].accept(named), self._own)

    def identity(self, options: SearchOptions) -> dict[str, Any]:
        """What else can change an answer under these options: files, models and the user's code.

        A reranker that cannot be opened has no entry; a search then says so.
        """
        found: dict[str, Any] = {}
        if own := [name for name in options.components if name in self._own]:
            found["component_code"] = {name: self._own[name] for name in own}
        if (synonyms := self._synonyms_of(options)) is not None:
            found["synonyms"] = synonyms.digest
        if options.boosts:
            found["lexicon"] = self._lexicon.digest
        if options.rerank:
            with contextlib.suppress(AssayError):
                found["reranker_model"] = self._rerankers.get(options.reranker).model_id
        return found

    def _synonyms_of(self, options: SearchOptions) -> Synonyms | None:
        """Those of the request, else those of the settings."""
        if options.synonym_rules:
            return rules_of(options.synonym_rules)
        return self._synonyms if options.synonyms else None

    def reading(self, query: str) -> tuple[QueryType, tuple[Detected, ...]]:
        """How a query is worded and what it asks for; nothing is searched."""
        written = ask(query).written
        return classify(written), detect(written, self._lexicon)

    @property
    def components(self) -> dict[str, str]:
        """Each component with ``ready``, ``resting`` (its breaker is open), or why it is absent."""
        if self._damaged is not None:
            return dict.fromkeys(self.lanes, self._damaged.message)
        snapshot = self._snapshot
        return {
            name: ("resting" if self.lanes[name].breaker.is_open else "ready")
            if name in snapshot.components
            else snapshot.absent.get(name, "not part of this index")
            for name in self.lanes
        }

    def search(
        self, query: str, options: SearchOptions | None = None, **changes: Any
    ) -> SearchResponse:
        """The best chunks for a query; ``changes`` replace single options."""
        with span(SPAN) as noted:
            return _noted(noted, self._search(query, options, changes))

    def _search(
        self, query: str, options: SearchOptions | None, changes: dict[str, Any]
    ) -> SearchResponse:
        search = self._begin(query, options, changes)
        if (known := self._remembered(search)) is not None:
            return known
        if search.options.rerank:
            return self._loop.run(self._atried(self._answer, search))
        return self._remember(search, _answered(self._tried(self._prepare, search), search))

    async def asearch(
        self, query: str, options: SearchOptions | None = None, **changes: Any
    ) -> SearchResponse:
        """The same from a coroutine."""
        with span(SPAN) as noted:
            started = time.perf_counter()
            if self._moved_on():
                await asyncio.to_thread(self.refresh)
            search = self._in_progress(query, options, changes, started)
            known = self._remembered(search)
            found = known if known is not None else await self._atried(self._answer, search)
            return _noted(noted, found)

    def traced(self, query: str, options: SearchOptions, snapshot: Snapshot) -> Traced:
        """An answer from this snapshot with everything that led to it.

        Neither the answer nor its lists are taken from memory, so that its time is that of a
        search.
        """
        return self._loop.run(self._trace(self._unremembered(query, options, snapshot)))

    def traced_many(
        self, queries: Sequence[tuple[str, SearchOptions]], snapshot: Snapshot
    ) -> list[Traced]:
        """``traced`` for each query; components answer all of them at once (``takes_many``)."""
        searches = [self._unremembered(*one, snapshot) for one in queries]
        first = [self._first(one) for one in searches]
        answers = gather_many([looked_up[1] for _, looked_up, _ in first], snapshot)
        found = []
        for search, (reading, looked_up, took), mine in zip(searches, first, answers, strict=True):
            whole, more = self._in_full(search, reading)
            prepared = self._prepared(search, whole, looked_up, mine, took + more)
            again = self._corrected(search, prepared)
            if again is not None:
                prepared = prepared.corrected(self._prepare(again))
            found.append(_answered(prepared, search))
        return found

    @staticmethod
    def takes_many(options: SearchOptions, snapshot: Snapshot) -> bool:
        """Whether questions with these options may be asked many at a time."""
        return not options.rerank and takes_many(options.components, snapshot)

    def _unremembered(
        self, query: str, options: SearchOptions, snapshot: Snapshot
    ) -> SearchInProgress:
        """A question that is answered without what is remembered."""
        started = time.perf_counter()
        question = ask(query, self._synonyms_of(options))
        took = time.perf_counter() - started
        return SearchInProgress(
            *(question, options, snapshot, started, options.identity()),
            from_memory=False,
            asked_s=took,
        )

    def prepare(self, query: str, options: SearchOptions | None = None, **changes: Any) -> Prepared:
        """The lists of every component, to be fused as often as wanted."""
        return self._tried(self._prepare, self._begin(query, options, changes))

    def why(
        self, query: str, document: str, options: SearchOptions | None = None, **changes: Any
    ) -> Why:
        """Why a document or chunk is not among the results, or where it is."""
        work = partial(self._why, document)
        return self._loop.run(self._atried(work, self._begin(query, options, changes)))

    def refresh(self) -> bool:
        """Move on to the newest generation, if there is one; whether that happened.

        Where nobody can tell, or the new one cannot be opened, that is logged and named in
        warnings, and the present one goes on. Callers who wait for each other share one look.
        """
        asked = time.monotonic()
        with self._refreshing:
            if self._looked > asked:
                return False
            self._looked = time.monotonic()
            stamp = self._stamped()
            wrong = "cannot look for a newer generation"
            try:
                if self._source.newest() == self._snapshot.generation:
                    self._damaged = self._damage()
                    self._stamp, self._stale = stamp, ""
                    return False
                wrong = "a newer generation cannot be opened"
                fresh = self._opened()
            except (AssayError, OSError) as problem:
                log.warning("%s: %s", wrong, problem)
                self._stale = f"{wrong}: {problem}"
                return False
            self._snapshot = fresh
            self._stamp, self._stale, self._damaged = stamp, "", None
            return True

    def _damage(self) -> CorruptError | None:
        """What is wrong with the files that are being searched: they are read in place."""
        try:
            if self._source.verify is not None:
                self._source.verify()
        except CorruptError as problem:
            if self._source.newest() != self._snapshot.generation:
                return None  # replaced meanwhile: the next search moves on
            log.error("the index is not searched any more: %s", problem)
            return problem
        return None

    def close(self) -> None:
        """Let threads go; what is still at work gets a moment to end."""
        atexit.unregister(self.close)
        lanes = (*self.lanes.values(), self._rerank_lane)
        for lane in lanes:
            lane.close()
        self._loop.close()
        deadline = time.monotonic() + CLOSING_S
        for lane in lanes:
            lane.wait_closed(deadline - time.monotonic())

    def _opened(self) -> Snapshot:
        """The newest generation, asked once so that the first question does not pay for it.

        A service is not asked: it has no model to load, and may cost something.
        """
        snapshot = self._source.open()
        request = ComponentRequest(WARM_UP, 1, Filters())
        here = [name for name in snapshot.components if name not in snapshot.remote]
        begin(dict.fromkeys(here, request), snapshot, self.lanes, WARM_UP_MS)()
        return snapshot

    def _stamped(self) -> object:
        return None if self._source.stamp is None else self._source.stamp()

    def _moved_on(self) -> bool:
        """Whether there may be a newer generation that should answer."""
        if self._stale and time.monotonic() - self._looked < AGAIN_AFTER_S:
            return False
        return bool(self._stale) or self._source.stamp is None or self._stamped() != self._stamp

    def _begin(
        self, query: str, options: SearchOptions | None, changes: dict[str, Any]
    ) -> SearchInProgress:
        started = time.perf_counter()
        if self._moved_on():
            self.refresh()
        return self._in_progress(query, options, changes, started)

    def _in_progress(
        self,
        query: str,
        options: SearchOptions | None,
        changes: dict[str, Any],
        started: float,
    ) -> SearchInProgress:
        if self._damaged is not None:
            raise CorruptError(self._damaged.message, hint=self._damaged.hint)
        snapshot = self._snapshot
        self.check_named(changes)
        wanted = changed(self._usual(snapshot) if options is None else options, **changes)
        wanted = with_model_weights(wanted, snapshot)
        self.check(wanted)
        before = time.perf_counter()
        question = ask(query, self._synonyms_of(wanted))
        took = time.perf_counter() - before
        identity = wanted.identity()
        return SearchInProgress(question, wanted, snapshot, started, identity, asked_s=took)

    def _remembered(self, search: SearchInProgress) -> SearchResponse | None:
        if self._stale:  # what was remembered may have been deleted
            return None
        known = self._answers.get(search.key(search.snapshot.generation))
        if known is None:
            return None
        total = round(1000 * (time.perf_counter() - search.started), 3)
        return replace(known, cached=True, timings_ms={"total": total})

    def _tried(self, work: Callable[[SearchInProgress], T], search: SearchInProgress) -> T:
        """What ``work`` gives; from the newest generation where the present one went away.

        On a cluster a generation is removed after the next but one, also while nobody asks.
        """
        try:
            return work(search)
        except SearchUnavailableError as problem:
            if not _may_be_gone(problem):
                raise
            self.refresh()
            again = self._on_newer(search)
            if again is None:
                raise
        return work(again)

    async def _atried(
        self, work: Callable[[SearchInProgress], Awaitable[T]], search: SearchInProgress
    ) -> T:
        """The same from a coroutine."""
        try:
            return await work(search)
        except SearchUnavailableError as problem:
            if not _may_be_gone(problem):
                raise
            await asyncio.to_thread(self.refresh)
            again = self._on_newer(search)
            if again is None:
                raise
        return await work(again)

    def _on_newer(self, search: SearchInProgress) -> SearchInProgress | None:
        """The same question to a newer generation, if there is one."""
        snapshot = self._snapshot
        if snapshot.generation == search.snapshot.generation:
            return None
        for lane in self.lanes.values():
            lane.breaker.succeeded()  # what failed is not asked any more
        options = with_model_weights(search.options, snapshot)
        return replace(search, snapshot=snapshot, options=options)

    async def _trace(self, search: SearchInProgress) -> Traced:
        prepared = await self._aprepare(search)
        if not search.options.rerank:
            return await asyncio.to_thread(_answered, prepared, search)
        ranking, reranked = await self._rank(prepared, search.options)
        return await asyncio.to_thread(_answered, prepared, search, ranking, reranked)

    async def _answer(self, search: SearchInProgress) -> SearchResponse:
        return self._remember(search, await self._trace(search))

    def _remember(self, search: SearchInProgress, traced: Traced) -> SearchResponse:
        response = traced.response
        passing = [one for one in response.warnings if one != search.snapshot.lacking_said]
        if not response.degraded and not passing:
            self._answers.put(search.key(response.generation), response)
        return response

    def _prepare(self, search: SearchInProgress) -> Prepared:
        """Lists from memory where they are known, from the components otherwise."""
        reading, looked_up, took = self._first(search)
        timeout_ms = search.options.component_timeout_ms
        answers = begin(looked_up[1], search.snapshot, self.lanes, timeout_ms)
        whole, more = self._in_full(search, reading)
        prepared = self._prepared(search, whole, looked_up, answers(), took + more)
        again = self._corrected(search, prepared)
        return prepared if again is None else prepared.corrected(self._prepare(again))

    async def _aprepare(self, search: SearchInProgress) -> Prepared:
        """The same from a coroutine."""
        # words and what filters name are looked up in files or on a cluster, and an event loop must
        # not wait for either
        reading, looked_up, took = await asyncio.to_thread(self._first, search)
        timeout_ms = search.options.component_timeout_ms
        answers, (whole, more) = await asyncio.gather(
            agather(looked_up[1], search.snapshot, self.lanes, timeout_ms),
            asyncio.to_thread(self._in_full, search, reading),
        )
        prepared = await asyncio.to_thread(
            self._prepared, search, whole, looked_up, answers, took + more
        )
        again = self._corrected(search, prepared)
        return prepared if again is None else prepared.corrected(await self._aprepare(again))

    def _corrected(self, search: SearchInProgress, prepared: Prepared) -> SearchInProgress | None:
        """The search for what was meant, where nothing else can be."""
        reading = prepared.reading
        if not reading.is_certain:
            return None
        question = ask(reading.did_you_mean, self._synonyms_of(search.options))
        return replace(search, question=question)

    def _first(self, search: SearchInProgress) -> tuple[Reading, LookedUp, float]:
        """What is done before components are asked, and the seconds of reading the query."""
        before = time.perf_counter()
        reading = self._read(search)
        took = time.perf_counter() - before
        return reading, self._looked_up(search, reading), search.asked_s + took

    def _read(self, search: SearchInProgress) -> Reading:
        """What the query means to this index; its words alone where that cannot be told."""
        words = search.snapshot.word_index
        if words is None:
            return NOTHING
        try:
            return read_query(search.question, words, self._chunks_of(search.snapshot))
        except (AssayError, OSError) as problem:
            log.warning("a query is read as words only: %s", problem)
            return NOTHING

    def _chunks_of(self, snapshot: Snapshot) -> Chunks:
        """The chunks behind keys, from memory unless they may have been deleted since."""
        if self._stale:
            return snapshot.chunks
        return lambda keys: self._chunks.all_of(keys, snapshot.chunks)

    def _looked_up(self, search: SearchInProgress, reading: Reading) -> LookedUp:
        """The lists that are remembered, and what has to be asked of the other components."""
        known, unknown = {}, {}
        filters = reading.filters(search.snapshot.resolved(search.options.filters))
        for name in search.options.components:
            text = search.question.for_component(name)
            request = ComponentRequest(text, search.options.depth, filters)
            packed = None
            if search.from_memory:
                packed = self._lists.get((search.snapshot.generation, name, request))
            if packed is None:
                unknown[name] = request
            else:
                known[name] = packed.hits()
        return known, unknown

    def _prepared(
        self,
        search: SearchInProgress,
        reading: Reading,
        looked_up: LookedUp,
        answers: Answers,
        took: float,
    ) -> Prepared:
        """All lists in the order of their components; those that came whole are remembered."""
        options, snapshot = search.options, search.snapshot
        known, unknown = looked_up
        for name, hits in answers.lists.items():
            if name not in answers.failures:
                key = (snapshot.generation, name, unknown[name])
                self._lists.put(key, pack(hits))
        lists = {**known, **answers.lists}
        if not lists:
            raise all_failed(answers)
        before = time.perf_counter()
        reading, lists = self._admitted(search, reading, lists)
        analysis = took + time.perf_counter() - before
        in_order = {name: lists[name] for name in options.components if name in lists}
        return Prepared(
            question=search.question,
            options=options,
            answers=replace(
                answers, lists=in_order, seconds={**answers.seconds, "analysis": analysis}
            ),
            generation=snapshot.generation,
            lexicon=self._lexicon,
            index=replace(snapshot, chunks=self._chunks_of(snapshot)),
            reading=reading,
            dense_model=snapshot.dense_model,
            warnings=self._warnings(snapshot, options),
        )

    def _in_full(self, search: SearchInProgress, reading: Reading) -> tuple[Reading, float]:
        """The reading with what the documents lack of the query's words, and the seconds it took.

        Components search meanwhile, so that these are seconds of this thread. What ranking and the
        floor will ask about the query is read here, too, since it is remembered.
        """
        before = time.thread_time()
        words = search.snapshot.word_index
        if words is not None and search.snapshot.size:
            try:
                chunks = self._chunks_of(search.snapshot)
                reading = with_unknown_words(
                    search.question, reading, words, chunks, self._lexicon.asking
                )
            except (AssayError, OSError) as problem:
                log.warning("which words no document has cannot be told: %s", problem)
        took = time.thread_time() - before
        for read in (names_asked, units, content_stems, kinds_asked, forms_asked):
            read(search.question.plain)
        return reading, took

    def _admitted(
        self, search: SearchInProgress, reading: Reading, lists: dict[str, tuple[Hit, ...]]
    ) -> tuple[Reading, dict[str, tuple[Hit, ...]]]:
        """The lists without what the query keeps out."""
        words = search.snapshot.word_index
        if words is None or not search.snapshot.size:
            return reading, lists
        try:
            return reading, admitted(search.question, reading, words, lists)
        except (AssayError, OSError) as problem:
            note = "phrases and exclusions could not be checked for every component"
            log.warning("%s: %s", note, problem)
            return replace(reading, notes=(*reading.notes, note)), lists

    def _warnings(self, snapshot: Snapshot, options: SearchOptions) -> tuple[str, ...]:
        usual = (
            options.components == without_components(self._defaults, snapshot.lacking).components
        )
        lacking = snapshot.lacking_said if usual and snapshot.size else ""
        return tuple(filter(None, (self._stale, "" if snapshot.size else EMPTY, lacking)))

    async def _rank(
        self, prepared: Prepared, options: SearchOptions
    ) -> tuple[Ranking, Reranked | None]:
        # labels and chunks come from files, and an event loop must not wait for a disk
        ranking = await asyncio.to_thread(prepared.rank, options)
        if not options.rerank or not ranking:
            return ranking, None
        top = ranking.page(0, depth(options, self._rerankers.profile(options.reranker)))
        keys = [candidate.key for candidate in top]
        chunks = await asyncio.to_thread(prepared.index.chunks, keys)
        passages = [_passage(chunks[key]) for key in keys]
        reranked = await rerank(
            prepared.question.plain, passages, options, self._rerankers, self._rerank_lane
        )
        if reranked.scores is None:
            return ranking, reranked
        judged = dict(zip(keys, reranked.scores, strict=True))
        return ranking.reranked(judged, share(options, self._rerankers)), reranked

    async def _why(self, document: str, search: SearchInProgress) -> Why:
        prepared = await self._aprepare(search)
        before = await asyncio.to_thread(prepared.rank, search.options)
        after, reranked = await self._rank(prepared, search.options)
        why = await asyncio.to_thread(
            explain_absence, document, prepared, search.snapshot, before, after
        )
        lacking = [*prepared.answers.reasons.values()]
        if reranked is not None and reranked.error is not None:
            lacking.append(f"not reranked: {reranked.reason}")
        if not lacking:
            return why
        return replace(
            why, sentence="; ".join((why.sentence, "this search was degraded", *lacking))
        )


def _may_be_gone(problem: SearchUnavailableError) -> bool:
    """Whether nobody answered since the generation is no more."""
    return any(error.endswith(f"_{Failure.ERROR}") for error in problem.component_errors)


def _answered(
    prepared: Prepared,
    search: SearchInProgress,
    ranking: Ranking | None = None,
    reranked: Reranked | None = None,
) -> Traced:
    """The answer; it reads chunks from the store, so an event loop leaves it to a thread."""
    ranked = prepared.rank(search.options) if ranking is None else ranking
    ordered = prepared.folded(ranked, search.options)
    response = respond(prepared, search.options, ordered, reranked, search.started)
    return Traced(response, prepared, ordered)


def _passage(chunk: Chunk) -> str:
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text
