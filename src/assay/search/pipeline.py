"""What happens between a question and its answer?

``Prepared`` keeps the lists of the components, so that fusing them again with other settings
(``fuse_again``) needs no new search. ``respond`` cuts the page that was asked for out of the ranked
pool and accounts for every score on it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import compress
from typing import Any

import numpy as np

from assay.analysis.asked import Kind, Name
from assay.analysis.query import read
from assay.errors import AssayError, SearchUnavailableError, UsageError
from assay.evidence.confidence import LOOKED_AT, WordsOf, words_of
from assay.evidence.floor import Content, Judged, judge
from assay.evidence.together import SHORT, Index
from assay.model.answers import Passage
from assay.model.document import Chunk
from assay.model.query import ExplainsTerms
from assay.plural import counted
from assay.search.boost import Lexicon, detect
from assay.search.coordinator import Answers
from assay.search.facets import Facet, facets_of
from assay.search.folding import fold
from assay.search.fusion import by_model, effective_weights, weighted_by_type
from assay.search.other_kinds import notes_on
from assay.search.question import Question
from assay.search.ranking import Candidate, Ranking, explained, rank
from assay.search.reading import NOTHING, Reading, corrected
from assay.search.request import FusionMethod, GroupBy, SearchOptions, changed
from assay.search.rerank import Reranked
from assay.search.response import INTENT_RULE, FoldedHit, SearchHit, SearchResponse
from assay.search.snapshot import KnowsTerms, Snapshot
from assay.search.snippet import snippet, wanted_stems
from assay.search.subject import subject_of

log = logging.getLogger("assay.search")
UNJUDGED = Judged(None)
LOOKED_INTO = 20  # results among which one must have all that a short query names
WORDS = "bm25"
BEST_BY_WORDS = 5  # passages that are read wherever fusion put them
FEW_PASSAGES = 2  # of a document that says nothing in passing


@dataclass(frozen=True, slots=True)
class Prepared:
    """The lists of every component for one question, from one generation.

    ``typed`` is the query as it was typed, where another one was meant and searched.
    """

    question: Question
    options: SearchOptions
    answers: Answers
    generation: str
    lexicon: Lexicon
    index: Snapshot
    reading: Reading = NOTHING
    dense_model: str = ""
    warnings: tuple[str, ...] = ()
    typed: str = ""

    def corrected(self, meant: Prepared) -> Prepared:
        """What was found for the query that was meant, as an answer to this one."""
        return replace(
            meant,
            reading=corrected(self.reading, meant.reading),
            typed=self.question.written,
        )

    def rank(self, options: SearchOptions) -> Ranking:
        """The pool under these options; components that were not asked cannot be added."""
        asked = self.options.components
        if unasked := [name for name in options.components if name not in asked]:
            raise UsageError(f"components: {unasked[0]} was not asked", hint=f"asked: {asked}")
        if (options.depth, options.filters) != (self.options.depth, self.options.filters):
            raise UsageError("depth, filters: other ones need a new search")
        lists = {
            name: hits for name, hits in self.answers.lists.items() if name in options.components
        }
        if not lists:
            raise all_failed(self.answers)
        return rank(self.question, lists, options, self.lexicon, self.index, reading=self.reading)

    def folded(self, ranking: Ranking, options: SearchOptions) -> Ranking:
        """The ranking with what is shown as one result; unchanged where nothing is to be folded."""
        by_document = options.group_by is GroupBy.DOCUMENT
        if not by_document and not options.collapse:
            return ranking
        keys = [candidate.key for candidate in ranking.pool]
        chunks = self.index.chunks(keys)
        folding = fold(
            [chunks[key] for key in keys], by_document=by_document, repeats=options.collapse
        )
        return replace(ranking, folding=folding)

    def facets(self, ranking: Ranking, names: Sequence[str]) -> tuple[Facet, ...]:
        """What the candidates have in these fields."""
        if not names:
            return ()
        chunks = self.index.chunks([candidate.key for candidate in ranking.pool])
        return facets_of(chunks.values(), self.index.facet_fields(names))

    def fuse_again(self, options: SearchOptions | None = None, **changes: Any) -> SearchResponse:
        """Fuse the same lists with other settings; nothing is searched, nothing reranked."""
        wanted = options or changed(self.options, **changes)
        started = time.perf_counter()
        return respond(self, wanted, self.folded(self.rank(wanted), wanted), None, started)


@dataclass(frozen=True, slots=True)
class Traced:
    """An answer with everything that led to it."""

    response: SearchResponse
    prepared: Prepared
    ranking: Ranking


def all_failed(answers: Answers) -> SearchUnavailableError:
    """What is raised where no component answered."""
    reasons = "; ".join(answers.reasons.values())
    return SearchUnavailableError(
        f"no component answered ({', '.join(answers.errors)}): {reasons}",
        hint="assay index info shows what this index has",
        component_errors=tuple(answers.errors),
    )


def respond(
    prepared: Prepared,
    options: SearchOptions,
    ranking: Ranking,
    reranked: Reranked | None,
    started: float,
) -> SearchResponse:
    """The page that was asked for, every score accounted for."""
    page = ranking.page(options.offset, options.offset + options.k)
    chunks = prepared.index.chunks([candidate.key for candidate in page])
    about = ranking.scope.about(candidate.boosted.rank_fused - 1 for candidate in page)
    hits = tuple(
        explained(
            candidate,
            rank,
            chunks[candidate.key],
            options.components,
            about=about[candidate.boosted.rank_fused - 1],
            folded=_folded(prepared, ranking, rank),
        )
        for rank, candidate in enumerate(page, start=options.offset + 1)
        if candidate.key in chunks and chunks[candidate.key].text
    )
    gone = len(page) - len(hits)
    if options.terms:
        hits = _with_terms(hits, prepared, page)
    if options.highlights:
        hits = _highlighted(hits, prepared.question)
    before = time.perf_counter()
    judged = judged_page(prepared, options, ranking)
    floor = time.perf_counter() - before
    withheld = len(hits) if judged.nothing and options.floor else 0
    following = options.offset + options.k
    answers = prepared.answers
    errors = tuple(
        f"{name}_{failure}"
        for name, failure in answers.failures.items()
        if name in options.components
    )
    used = tuple(name for name in options.components if name in answers.lists)
    return SearchResponse(
        query=prepared.typed or prepared.question.written,
        results=() if withheld else hits,
        fusion_metadata={
            **_metadata(options, ranking, used, reranked),
            **(
                {"weights_of_model": prepared.dense_model}
                if by_model(options, ranking.query_type)
                else {}
            ),
        },
        components_used=used,
        component_errors=errors,
        degraded=bool(errors) or (reranked is not None and reranked.error is not None),
        intents=tuple(one.to_dict() for one in ranking.detected),
        query_type=ranking.query_type.value,
        total_candidates=len(ranking),
        total_results=ranking.results,
        facets=prepared.facets(ranking, options.facets),
        generation=prepared.generation,
        timings_ms=_timings(answers, ranking, reranked, floor, started),
        warnings=_warnings(prepared, options, reranked, _below(judged, withheld), _gone(gone)),
        offset=options.offset,
        next_offset=following if following < ranking.results else None,
        reranked=reranked is not None and reranked.scores is not None,
        reranker_model=None if reranked is None else reranked.model,
        reranker_error=None if reranked is None else reranked.error,
        synonyms=prepared.question.synonyms,
        subject=ranking.scope.terms,
        subject_by=ranking.scope.by.value,
        notes=(
            *prepared.reading.notes,
            *filter(None, (judged.only_mentioned,)),
            *_unmet(prepared, options, ranking),
            *(notes_on(hits[0]) if hits and not options.offset else ()),
        ),
        did_you_mean=prepared.reading.did_you_mean,
        searched_for=prepared.reading.searched_for,
        confidence=None if judged.confidence is None else round(judged.confidence, 4),
        nothing_about=judged.nothing,
        only_mentioned=judged.only_mentioned if options.floor else "",
        withheld=withheld,
    )


def _highlighted(hits: tuple[SearchHit, ...], question: Question) -> tuple[SearchHit, ...]:
    """The hits, each with the part of its text that has most of the query's words."""
    wanted = wanted_stems(question.written, question.synonyms)
    return tuple(replace(hit, highlight=snippet(hit.chunk.text, wanted)) for hit in hits)


def _with_terms(
    hits: tuple[SearchHit, ...], prepared: Prepared, page: Sequence[Candidate]
) -> tuple[SearchHit, ...]:
    """The hits, each with the terms that gave components their scores."""
    keys = {one.boosted.fused.chunk_id: one.key for one in page}
    found: dict[str, Mapping[int, Mapping[str, float]]] = {}
    for name in prepared.answers.lists:
        component: object = prepared.index.components.get(name)
        if isinstance(component, ExplainsTerms):
            query = prepared.question.for_component(name)
            try:
                found[name] = component.terms(query, [*keys.values()])
            except Exception as problem:  # may be somebody's own; the results are there
                log.warning("%s cannot name the terms of its scores: %s", name, problem)
    return tuple(
        replace(
            hit,
            terms={
                name: dict(sorted(terms.items(), key=lambda one: (-one[1], one[0])))
                for name, by_key in found.items()
                if hit.ranks.get(name) and (terms := by_key.get(keys[hit.chunk.chunk_id]))
            },
        )
        for hit in hits
    )


def _folded(prepared: Prepared, ranking: Ranking, rank: int) -> Sequence[FoldedHit]:
    """What is folded under the result at a rank."""
    if ranking.folding is None:
        return ()
    members = ranking.folding.under.get(ranking.folding.shown[rank - 1], ())
    candidates = ranking.at(place for place, _ in members)
    chunks = prepared.index.chunks([candidate.key for candidate in candidates])
    return [
        FoldedHit(
            candidate.boosted.fused.chunk_id,
            chunks[candidate.key].doc_id,
            place + 1,
            candidate.score,
            reason.value,
        )
        for (place, reason), candidate in zip(members, candidates, strict=True)
    ]


def judged_page(prepared: Prepared, options: SearchOptions, ranking: Ranking) -> Judged:
    """Whether anything is about the query; who names documents, or turns a page, is not asked."""
    filters = prepared.reading.filters(options.filters)
    if options.offset or filters.doc_id or filters.interview_id:
        return UNJUDGED
    question = prepared.question
    passages = _passages(prepared, options, ranking, 0, LOOKED_AT)
    # what is asked for does not depend on whether it is boosted
    detected = ranking.detected
    if not options.boosts:
        detected = detect(question.plain, prepared.lexicon, options.query_intent)
    intents = {one.intent for one in detected if one.rule == INTENT_RULE}
    judged = judge(
        question.plain,
        passages,
        prepared.dense_model,
        question.synonyms,
        intents,
        content=_content(prepared),
        index=Index(
            partial(_is_called, prepared.index, ranking),
            partial(_passages, prepared, options, ranking, LOOKED_AT, LOOKED_INTO),
            partial(_by_words, prepared, options),
            lambda one: len(prepared.index.find(one.chunk.doc_id)) > FEW_PASSAGES,
            _words_of(prepared, ranking),
        ),
    )
    absent = prepared.reading.absent
    if absent and (judged.nothing or not passages):
        return Judged(
            judged.confidence or 0.0, f"nothing here is about {' or '.join(absent)}", absent
        )
    return judged


def _passages(
    prepared: Prepared, options: SearchOptions, ranking: Ranking, start: int, stop: int
) -> list[Passage]:
    """The results at these places, as the floor reads them."""
    page = ranking.page(start, stop)
    chunks = prepared.index.chunks([candidate.key for candidate in page])
    return [
        explained(candidate, rank, chunks[candidate.key], options.components).passage()
        for rank, candidate in enumerate(page, start=start + 1)
    ]


def _by_words(prepared: Prepared, options: SearchOptions) -> list[Passage]:
    """The best passages by words alone, which fusion may have put far below."""
    hits = prepared.answers.lists.get(WORDS, ()) if WORDS in options.components else ()
    chunks = prepared.index.chunks([hit.key for hit in hits[:BEST_BY_WORDS]])
    return [Passage(chunk) for chunk in chunks.values() if chunk.text]


def _words_of(prepared: Prepared, ranking: Ranking) -> WordsOf:
    """Which words a passage has: by the index, which is faster than by its text."""
    index: object = prepared.index.words
    if not isinstance(index, KnowsTerms):
        return words_of
    read = [(one.key, one.boosted.fused.chunk_id) for one in ranking.page(0, LOOKED_INTO)]
    by_words = prepared.answers.lists.get(WORDS, ())[:BEST_BY_WORDS]
    keys = {chunk_id: key for key, chunk_id in read} | {hit.chunk_id: hit.key for hit in by_words}
    wanted = np.array([*keys.values()], dtype=np.int64)

    @cache
    def having(asked: frozenset[str]) -> Mapping[str, frozenset[str]]:
        terms = [*asked]
        lines = index.present(terms, wanted).T.tolist()
        return {
            chunk_id: frozenset(compress(terms, line))
            for chunk_id, line in zip(keys, lines, strict=True)
        }

    def words(chunk: Chunk, asked: frozenset[str]) -> frozenset[str]:
        found = having(asked).get(chunk.chunk_id) if asked else asked
        return words_of(chunk, asked) if found is None else found

    return words


def _content(prepared: Prepared) -> Content:
    """The words of the query's subject, and what the index knows of them."""
    runs = subject_of(prepared.question.plain, prepared.lexicon).typed
    reading = prepared.reading
    written = dict.fromkeys(word for run in runs for word in run)
    words = tuple(word for word in written if any(map(str.isalpha, word)))
    frequency: dict[str, int] = {}
    if prepared.index.words is not None and len(words) <= SHORT:
        try:
            frequency = {word: prepared.index.words.frequency(word) for word in words}
        except (AssayError, OSError) as problem:
            log.warning("how rare the words of a query are cannot be told: %s", problem)
    meant = "" if reading.searched_for else reading.did_you_mean
    return Content(
        words,
        reading.unknown,
        meant,
        frequency,
        prepared.question.others,
        is_plain=not read(prepared.question.written).chooses,
    )


def _is_called(index: Snapshot, ranking: Ranking, name: Name) -> bool:
    """Whether a candidate's document is called so; what may be any word is only looked up."""
    if name.kind is Kind.NAME:
        return index.words is not None and any(map(index.words.frequency, name.forms))
    labels = index.labels(ranking.fused.keys)
    return any(name.is_in(names) for names in {one.names for one in labels.values()})


def _unmet(prepared: Prepared, options: SearchOptions, ranking: Ranking) -> tuple[str, ...]:
    """Which filters leave nothing, where nothing is left."""
    if len(ranking) or not options.filters.metadata:
        return ()
    try:
        return prepared.index.unmet(options.filters)
    except (AssayError, OSError) as problem:
        log.warning("the values of metadata cannot be asked for: %s", problem)
        return ()


def _below(judged: Judged, withheld: int) -> str:
    hidden = f"; {counted(withheld, 'result')} withheld (floor: off shows them)"
    return judged.nothing + (hidden if withheld else "")


def _gone(number: int) -> str:
    return f"left out, since deleted after this generation was indexed: {number}" if number else ""


def _metadata(
    options: SearchOptions, ranking: Ranking, used: tuple[str, ...], reranked: Reranked | None
) -> dict[str, Any]:
    """How the lists became one list; ``weights_for`` is the query type that weights are for."""
    common: dict[str, Any] = {
        "method": options.fusion_method.value,
        "weights": dict(effective_weights(options, used, ranking.query_type)),
        "reranked": reranked is not None and reranked.scores is not None,
        "reranker_model": None if reranked is None else reranked.model,
        "reranker_error": None if reranked is None else reranked.error,
    }
    if weighted_by_type(options, ranking.query_type):
        common["weights_for"] = ranking.query_type.value
    if options.fusion_method is FusionMethod.RRF:
        return {**common, "k": options.rrf_k}
    return {**common, "normalization": options.normalization.value}


def _timings(
    answers: Answers, ranking: Ranking, reranked: Reranked | None, floor: float, started: float
) -> dict[str, float]:
    seconds = {**answers.seconds, **ranking.seconds, "floor": floor}
    if reranked is not None:
        seconds["rerank"] = reranked.seconds
    seconds["total"] = time.perf_counter() - started
    return {name: round(1000 * value, 3) for name, value in seconds.items()}


def _warnings(
    prepared: Prepared, options: SearchOptions, reranked: Reranked | None, *more: str
) -> tuple[str, ...]:
    answers = prepared.answers
    found = [*prepared.warnings, *filter(None, more)]
    found += [answers.reasons[name] for name in answers.failures if name in options.components]
    if reranked is not None and reranked.error is not None:
        found.append(f"not reranked: {reranked.reason}")
    return tuple(found)
