"""What did a search find, and where does every score come from?

These values are the library's answer; ``model/codec.py`` makes of them the JSON that the command
line and the HTTP service print.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.model.answers import Passage
from assay.model.codec import encode, flat
from assay.model.document import Chunk
from assay.model.tabular import Records, Tabular
from assay.search.facets import Facet
from assay.search.snippet import Snippet

RERANKER = "reranker"
TABLE_RULE, INTENT_RULE = "table", "intent"  # the rules by which sections are asked for


@dataclass(frozen=True, slots=True)
class Boost:
    """One rule that matched a result; only the largest factor of a result is ``applied``.

    ``reason`` says why a factor was not applied, or why it is not the rule's own.
    """

    rule: str
    intent: str
    confidence: float
    factor: float
    matched: str
    applied: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FoldedHit:
    """A result that is shown under another; ``rank`` is its place in the list before."""

    chunk_id: str
    doc_id: str
    rank: int
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result with the whole account of its score.

    Every mapping has an entry for each component that was asked; None where the component did not
    find the chunk. ``component_scores`` also holds the reranker's score, between 0 and 1, where
    there is one. ``contributions`` sum to ``fused``; ``fused`` times the applied boost is
    ``boosted``; ``score`` is what the list is ordered by. ``about_subject`` is whether the result
    is about what the query names (``search/subject.py``); true where it names nothing.
    ``highlight`` is the part of the text that shows best why it was found, ``terms`` what each
    term added to a component's score, largest first; both where they were asked for.
    ``folded`` are the first of the ``folded_count`` results that it stands for
    (``search/folding.py``). ``reranker_share`` is how much the reranker's score counts in ``score``
    (``search/rerank.py``); None where it was not asked.
    """

    rank: int
    chunk: Chunk = field(metadata=flat)
    score: float
    component_scores: Mapping[str, float | None]
    ranks: Mapping[str, int | None]
    normalized: Mapping[str, float | None]
    contributions: Mapping[str, float | None]
    fused: float
    boosted: float
    boosts: tuple[Boost, ...] = ()
    rank_fused: int = 0
    rank_boosted: int = 0
    about_subject: bool = True
    highlight: Snippet | None = None
    terms: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    folded: tuple[FoldedHit, ...] = ()
    folded_count: int = 0
    reranker_share: float | None = None

    @property
    def reranker_score(self) -> float | None:
        """What the reranker said, between 0 and 1; None where it was not asked."""
        return self.component_scores.get(RERANKER)

    def passage(self) -> Passage:
        """The result as an answerer sees it."""
        asked = self.about_subject and any(
            one.rule in (TABLE_RULE, INTENT_RULE) for one in self.boosts
        )
        return Passage(self.chunk, self.score, self.component_scores, asked)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return dict(encode(self))


@dataclass(frozen=True, slots=True)
class SearchResponse(Tabular):
    """The answer to one query; a degraded answer says so and names what is missing.

    ``subject`` is what the query names beside its intent; ``subject_by`` how results were held
    against it (``search/subject.py``): by ``names``, by ``text``, ``filters``, ``title``, or
    ``nothing`` where the query names none. ``notes`` say how the query was read: which document an
    identifier stands for, what must be there, what no document has. ``did_you_mean`` is the query
    without misspellings; ``searched_for`` the same where it was searched instead of ``query``.
    ``total_results`` are the candidates without those that are folded under others; ``facets``
    count the documents of all of them (``search/facets.py``). ``confidence`` is how sure it is that
    something is about the query, between 0 and 1; where nothing is, ``nothing_about`` says so, and
    ``withheld`` is the number of results that are not shown (``evidence/floor.py``).
    ``only_mentioned`` says, as the notes do, that results mention what is asked about, and that no
    document is about it: they are shown, and nobody answers from them.
    """

    query: str
    results: tuple[SearchHit, ...]
    fusion_metadata: Mapping[str, Any]
    components_used: tuple[str, ...]
    component_errors: tuple[str, ...] = ()
    degraded: bool = False
    intents: tuple[Mapping[str, Any], ...] = ()
    query_type: str = ""
    total_candidates: int = 0
    total_results: int = 0
    facets: tuple[Facet, ...] = ()
    generation: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    offset: int = 0
    next_offset: int | None = None
    reranked: bool = False
    reranker_model: str | None = None
    reranker_error: str | None = None
    synonyms: tuple[str, ...] = ()
    cached: bool = False
    subject: tuple[str, ...] = ()
    subject_by: str = ""
    notes: tuple[str, ...] = ()
    did_you_mean: str = ""
    searched_for: str = ""
    confidence: float | None = None
    nothing_about: str = ""
    only_mentioned: str = ""
    withheld: int = 0

    def passages(self) -> list[Passage]:
        """The results as an answerer sees them."""
        return [hit.passage() for hit in self.results]

    @property
    def no_answer(self) -> str:
        """Why nobody may answer from these results; "" where somebody may.

        A drug that is misspelt is not told from others by its name.
        """
        is_misspelt = self.did_you_mean and not self.searched_for
        return self.nothing_about if self.withheld or is_misspelt else self.only_mentioned

    def records(self) -> Records:
        """A row for each result; every component has a column with its own score."""
        return Records.of(
            (
                {
                    "rank": hit.rank,
                    "doc_id": hit.chunk.doc_id,
                    "chunk_id": hit.chunk.chunk_id,
                    "title": hit.chunk.title,
                    "section": hit.chunk.section_label,
                    "text": hit.chunk.text,
                    "score": hit.score,
                    "fused": hit.fused,
                    **hit.component_scores,
                }
                for hit in self.results
            ),
            self.query,
            self._said(),
        )

    def overview(self) -> Records:
        """Each result with its title, its text and its score."""
        rows = [
            (hit.rank, hit.chunk.title or hit.chunk.doc_id, hit.chunk.text, hit.score)
            for hit in self.results
        ]
        return Records(("rank", "document", "text", "score"), rows, self.query, self._said())

    def _said(self) -> tuple[str, ...]:
        """What to know beside the results."""
        meant = self.did_you_mean and not self.searched_for
        said = (
            self.nothing_about,
            f"did you mean “{self.did_you_mean}”?" if meant else "",
            f"searched for “{self.searched_for}”" if self.searched_for else "",
            f"degraded: {', '.join(self.component_errors)}" if self.degraded else "",
        )
        return (*filter(None, said), *self.notes, *self.warnings)

    def to_dict(self) -> dict[str, Any]:
        """The JSON that the command line and the HTTP service answer with."""
        found: dict[str, Any] = encode(self)
        return found
