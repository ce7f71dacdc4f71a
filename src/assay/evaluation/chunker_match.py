"""Two runs may have been made with different chunkers: how are their results matched then?

Ids of chunks belong to one chunker. Where both runs used the same, ids are compared
(``exact``). Otherwise both runs are matched by document and characters (``fallback_doc_span``): the
judged characters are those the test set names, else those of the judged chunk as it was archived,
with the text gone but its spans kept. Without any such span only documents are left to compare
(``fallback_doc``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import TypeAlias

from assay.errors import InputError
from assay.evaluation.match import place_of
from assay.evaluation.stored_run import StoredRun
from assay.model.document import ChunkPlace
from assay.model.judgments import Span
from assay.model.ranking import Match
from assay.model.testset import GoldenQuery
from assay.plural import share_of

Archive: TypeAlias = Callable[[Iterable[str], frozenset[str]], Mapping[str, ChunkPlace]]
"""Where chunks stood as these versions of the chunker cut them, by their ids."""


class ChunkerMatch(StrEnum):
    """How were results matched with judgments?"""

    EXACT = "exact"
    FALLBACK_DOC_SPAN = "fallback_doc_span"
    FALLBACK_DOC = "fallback_doc"


RULES: Mapping[ChunkerMatch, Match] = {
    ChunkerMatch.EXACT: Match.EXACT,
    ChunkerMatch.FALLBACK_DOC_SPAN: Match.SPAN,
    ChunkerMatch.FALLBACK_DOC: Match.DOC,
}


class ChunkerMismatchError(InputError):
    """The runs used different chunkers, and the caller wants them to be the same."""

    code = "chunker_mismatch"


@dataclass(frozen=True, slots=True)
class Matching:
    """How two runs are matched, where judged chunks stand, and what a reader should know."""

    match: ChunkerMatch
    places: Mapping[str, ChunkPlace]
    notes: tuple[str, ...] = ()

    @property
    def rule(self) -> Match:
        """The rule that both runs are judged by."""
        return RULES[self.match]


BY_ID = Matching(ChunkerMatch.EXACT, {})
"""Chunks by their ids, documents by theirs."""


def no_archive(ids: Iterable[str], versions: frozenset[str]) -> Mapping[str, ChunkPlace]:
    """No archive of chunks was kept."""
    del ids, versions
    return {}


def matching(
    a: StoredRun,
    b: StoredRun,
    queries: Iterable[GoldenQuery],
    *,
    archive: Archive = no_archive,
    strict: bool = False,
) -> Matching:
    """How to match two runs; ``strict`` refuses runs of different chunkers."""
    judged = [judgment for query in queries for judgment in query.relevant_docs]
    places = _documents({one.id for one in judged if one.owner is None}, a, b)
    if not differ(a, b):
        return Matching(ChunkerMatch.EXACT, places)
    one, other = _shown(a), _shown(b)
    if strict:
        raise ChunkerMismatchError(
            f"{a.name} was made with the chunker {one}, {b.name} with {other}",
            hint="leave out --strict-chunker-version to match by document and characters",
        )
    older = min((a, b), key=lambda run: (run.info.created_at, run is b))
    bare = {judgment.id for judgment in judged if not judgment.spans}
    kept = {**_spans(older, bare), **archive(sorted(bare), versions(older))}
    places = {**places, **{chunk: kept[chunk] for chunk in kept if kept[chunk].spans}}
    known = sum(bool(place_of(judgment, places).spans) for judgment in judged)
    spans = any(result.spans for run in (a, b) for out in run.outcomes for result in out.results)
    note = f"chunkers differ ({one} and {other}): "
    if not known or not spans:
        return Matching(
            ChunkerMatch.FALLBACK_DOC, places, (note + "results are matched by document only",)
        )
    notes = [note + "results are matched by document and at least half of the judged characters"]
    if known < len(judged):
        notes.append(
            f"{share_of(len(judged) - known, len(judged), 'judgment', 'has')} no known characters: "
            "any result of their document counts"
        )
    if any(chunk in bare for chunk in kept):
        notes.append(f"judged chunk ids are read as those of {_shown(older)}, the older run")
    newer = b if older is a else a
    if _median_length(place_of(judgment, places).spans for judgment in judged) > 2 * (
        _median_length(result.spans for out in newer.outcomes for result in out.results)
    ):
        notes.append(
            f"most judged chunks are more than twice as long as the results of {newer.name}, so it "
            "takes several of them to count as a hit: name the spans of the answers in the test set"
        )
    return Matching(ChunkerMatch.FALLBACK_DOC_SPAN, places, tuple(notes))


def versions(run: StoredRun) -> frozenset[str]:
    """The chunkers that a run's index was made with, as far as the run knows."""
    if run.info.chunker_versions:
        return frozenset(run.info.chunker_versions)
    return frozenset(
        result.chunker_version
        for outcome in run.outcomes
        for result in outcome.results
        if result.chunker_version
    )


def differ(a: StoredRun, b: StoredRun) -> bool:
    """Were the runs made with different chunkers?

    Where a run does not name its chunkers, the documents that both runs returned decide.
    """
    if a.info.chunker_versions and b.info.chunker_versions:
        return versions(a) != versions(b)
    one, other = _by_document(a), _by_document(b)
    return any(one[doc].isdisjoint(other[doc]) for doc in one.keys() & other.keys())


def _by_document(run: StoredRun) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for outcome in run.outcomes:
        for result in outcome.results:
            if result.chunker_version:
                found[result.doc_id].add(result.chunker_version)
    return found


def _documents(ids: set[str], *runs: StoredRun) -> dict[str, ChunkPlace]:
    """The documents of these chunks, as far as a run returned them; characters are not known."""
    documents = {
        result.chunk_id: result.doc_id
        for run in runs
        for outcome in run.outcomes
        for result in outcome.results
        if result.chunk_id in ids
    }
    return {chunk: ChunkPlace(document) for chunk, document in documents.items()}


def _spans(run: StoredRun, ids: set[str]) -> dict[str, ChunkPlace]:
    """Where the run itself saw these chunks."""
    return {
        result.chunk_id: ChunkPlace(result.doc_id, result.spans)
        for outcome in run.outcomes
        for result in outcome.results
        if result.chunk_id in ids and result.spans
    }


def _median_length(places: Iterable[Sequence[Span]]) -> float:
    lengths = [sum(end - start for start, end in spans) for spans in places if spans]
    return median(lengths) if lengths else 0.0


def _shown(run: StoredRun) -> str:
    return ", ".join(sorted(versions(run))) or "unknown"
