"""Two runs may have been made with different chunkers: how are their results matched then?

Ids of chunks belong to one chunker. Where both runs used the same, ids are compared
(``exact``). Otherwise both runs are matched by document and characters (``fallback_doc_span``): the
judged characters are those the test set names, else those of the judged chunk as it was archived,
with the text gone but its spans kept. Without any such span only documents are left to compare
(``fallback_doc``).

An index may hold documents of several chunkers. Only those that were judged count here: another
document cannot be a hit, whoever cut it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median
from typing import TypeAlias

from assay.errors import InputError
from assay.evaluation.documents import Documents, documents_of
from assay.evaluation.match import BY_FORM, place_of
from assay.evaluation.stored_run import StoredRun
from assay.model.document import ChunkPlace
from assay.model.judgments import Span
from assay.model.ranking import Match
from assay.model.runs import QueryOutcome
from assay.model.scoring import MATCHED_BY
from assay.model.testset import GoldenQuery, Judgment, Level
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
class Chunkers:
    """The chunkers of an index, and of the judged documents among a run's results."""

    index: frozenset[str] = frozenset()
    judged: frozenset[str] = frozenset()

    def differ(self, other: Chunkers) -> bool:
        """Was a judged document surely cut in another way? Not known is not different."""
        if not self.index or not other.index or self.index == other.index:
            return False
        return (
            self.index.isdisjoint(other.index)
            or not self.judged <= other.index
            or not other.judged <= self.index
            or (bool(self.judged and other.judged) and self.judged.isdisjoint(other.judged))
        )


@dataclass(frozen=True, slots=True)
class Matching:
    """How two runs are matched, where judged chunks stand, and what a reader should know.

    ``scored_by`` is the rule of the runs themselves; chunkers that differ change it only where
    that rule looks at the ids of chunks.
    """

    match: ChunkerMatch
    places: Mapping[str, ChunkPlace]
    notes: tuple[str, ...] = ()
    scored_by: Match = Match.EXACT
    documents: Documents = BY_FORM

    @property
    def rule(self) -> Match:
        """The rule that both runs are judged by."""
        if self.scored_by is Match.DOC or self.match is ChunkerMatch.EXACT:
            return self.scored_by
        return RULES[self.match]

    @property
    def by_level(self) -> bool:
        """Whether expected documents are told from expected chunks."""
        return self.scored_by is not Match.DOC


def own_matching(run: StoredRun) -> Matching:
    """How a run is matched alone: by its own rule."""
    scoring = run.info.scoring
    documents = documents_of(run.test_set, scoring.chunk_separator)
    return Matching(ChunkerMatch.EXACT, {}, scored_by=scoring.match, documents=documents)


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
    """How to match two runs; ``strict`` refuses different chunkers.

    The rule is that of the runs. Where they were scored by different ones, b's holds for both.
    """
    own = own_matching(b)
    found = _matching(a, b, queries, own, archive=archive, strict=strict)
    one, other = a.info.scoring, b.info.scoring
    notes = []
    if one.match is not other.match:
        notes.append(
            f"{a.name} was scored {MATCHED_BY[one.match]}, {b.name} {MATCHED_BY[other.match]}: "
            f"here both are scored {MATCHED_BY[found.rule]}"
        )
    if one.chunk_separator != other.chunk_separator:
        notes.append(
            f'{a.name} separates document and chunk by "{one.chunk_separator}", {b.name} by '
            f'"{other.chunk_separator}": here both are read as {b.name} does'
        )
    return replace(found, notes=(*notes, *found.notes))


def _matching(
    a: StoredRun,
    b: StoredRun,
    queries: Iterable[GoldenQuery],
    own: Matching,
    *,
    archive: Archive,
    strict: bool,
) -> Matching:
    rule, documents = own.scored_by, own.documents
    if not differ(a, b):
        return own
    one, other = _shown(a), _shown(b)
    if strict:
        raise ChunkerMismatchError(
            f"{a.name} was made with the chunker {one}, {b.name} with {other}",
            hint="leave out --strict-chunker-version to match by document and characters",
        )
    if rule is Match.DOC:  # whoever cut the documents
        return replace(own, match=ChunkerMatch.FALLBACK_DOC)
    older = min((a, b), key=lambda run: (run.info.created_at, run is b))
    judged = [
        judgment
        for query in queries
        for judgment in query.relevant_docs
        if judgment.level is not Level.DOCUMENT
    ]
    bare = {judgment.id for judgment in judged if not judgment.spans}
    seen = _returned(older, bare)
    stood = archive(sorted(bare), versions(older))
    places = {**seen, **{chunk: stood[chunk] for chunk in stood if stood[chunk].spans}}
    known = sum(bool(place_of(judgment, places, documents).spans) for judgment in judged)
    spans = any(result.spans for run in (a, b) for out in run.outcomes for result in out.results)
    note = f"chunkers differ ({one} and {other}): "
    if not known or not spans:
        said = (note + "results are matched by document only",)
        return Matching(ChunkerMatch.FALLBACK_DOC, places, said, rule, documents)
    notes = [
        note + "a result is matched by its document and at least half of the judged characters"
    ]
    if known < len(judged):
        notes.append(
            f"{share_of(len(judged) - known, len(judged), 'judgment', 'has')} no known characters: "
            "any result of their document counts"
        )
    if any(place.spans for place in places.values()):
        notes.append(f"judged chunk ids are read as those of {_shown(older)}, the older run")
    newer = b if older is a else a
    if _median_length(place_of(judgment, places, documents).spans for judgment in judged) > 2 * (
        _median_length(result.spans for out in newer.outcomes for result in out.results)
    ):
        notes.append(
            f"most judged chunks are more than twice as long as the results of {newer.name}, "
            "few of which cover half of one: name the spans of the answers in the test set"
        )
    return Matching(ChunkerMatch.FALLBACK_DOC_SPAN, places, tuple(notes), rule, documents)


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
    """Were judged documents cut by different chunkers?

    What both runs returned of a judged document decides, then what they know of their indexes.
    """
    if len(a.info.chunker_versions) == 1 and a.info.chunker_versions == b.info.chunker_versions:
        return False
    one, other = _by_document(a), _by_document(b)
    if any(one[doc].isdisjoint(other[doc]) for doc in one.keys() & other.keys()):
        return True
    return chunkers_of(a).differ(chunkers_of(b))


def chunkers_of(run: StoredRun) -> Chunkers:
    """The chunkers of a run's index, and of the judged documents that it returned."""
    judged = frozenset(version for found in _by_document(run).values() for version in found)
    return Chunkers(frozenset(run.info.chunker_versions), judged)


def judged_chunkers(
    queries: Iterable[GoldenQuery], outcomes: Mapping[str, QueryOutcome]
) -> dict[str, set[str]]:
    """The chunkers of the judged documents among the results, by document."""
    owners = {one.chunk_id: one.doc_id for out in outcomes.values() for one in out.results}
    known = set(owners.values())
    found: dict[str, set[str]] = defaultdict(set)
    for query in queries:
        outcome = outcomes.get(query.query_id)
        if outcome is None:
            continue
        wanted = {_document(one, owners, known) for one in query.relevant_docs}
        for result in outcome.results:
            # the document of a chunk that nobody knows may be any
            if result.chunker_version and (result.doc_id in wanted or None in wanted):
                found[result.doc_id].add(result.chunker_version)
    return found


def _by_document(run: StoredRun) -> dict[str, set[str]]:
    return judged_chunkers(run.queries, run.by_query)


def _document(judged: Judgment, owners: Mapping[str, str], known: set[str]) -> str | None:
    """The document of a judged thing; None where neither the set nor the results tell it."""
    document = judged.document
    if document is None or (document == judged.id and document not in known):
        return document if judged.level is Level.DOCUMENT else owners.get(judged.id)
    return document


def _returned(run: StoredRun, ids: set[str]) -> dict[str, ChunkPlace]:
    """Where the run itself saw these chunks."""
    return {
        result.chunk_id: ChunkPlace(result.doc_id, result.spans)
        for outcome in run.outcomes
        for result in outcome.results
        if result.chunk_id in ids
    }


def _median_length(places: Iterable[Sequence[Span]]) -> float:
    lengths = [sum(end - start for start, end in spans) for spans in places if spans]
    return median(lengths) if lengths else 0.0


def _shown(run: StoredRun) -> str:
    return ", ".join(sorted(versions(run))) or "unknown"
