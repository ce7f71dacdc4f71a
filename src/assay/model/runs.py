"""What is kept of a run, so that it can be scored, compared and explained years later?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from assay.model.answers import Answer, NumberCheck, Usage
from assay.model.codec import as_json, unless
from assay.model.judges import JudgedAnswer
from assay.model.judgments import Span
from assay.model.query import FILTER_OPTIONS
from assay.model.scoring import Scoring


class RunStatus(StrEnum):
    """How far a run got; one whose process is gone is interrupted, and can be resumed."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RankedResult:
    """One result as it was ranked, with what is needed to compare it after re-chunking.

    ``component_scores`` and ``ranks`` hold the components that found it (and ``reranker``).
    ``score`` is None where the system gave an order without scores.
    """

    chunk_id: str
    doc_id: str
    score: float | None = None
    spans: tuple[Span, ...] = ()
    chunker_version: str = ""
    component_scores: Mapping[str, float] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """What happened to one query. ``error`` means that it failed and counts as having no results.

    ``component_lists`` keeps the ids that each component found, best first, with their scores in
    ``component_list_scores``, and ``fused`` the ids after fusion: the stages at which a relevant
    document can be lost, and all that fusing again needs. ``timings_ms`` says how long each stage
    took. ``answer_error`` means that the query was searched and answering it failed.
    ``known_citations`` are the answer's citations that existed in the index the run was made with;
    ``numbers`` is None for a refusal, and where the numbers of answers were not checked yet.
    ``usage`` is what the system says that the query cost. ``judged`` is what a judge said of the
    answer, and ``passages`` the texts that it read, by id.
    """

    query_id: str
    results: tuple[RankedResult, ...] = ()
    latency_ms: float | None = None
    error: str | None = None
    degraded: bool = False
    component_errors: tuple[str, ...] = ()
    component_lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    component_list_scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    fused: tuple[str, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    answer: Answer | None = None
    known_citations: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    answer_error: str | None = None
    numbers: NumberCheck | None = None
    usage: Usage | None = None
    judged: JudgedAnswer | None = None
    passages: Mapping[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether searching or answering ended in an error."""
        return self.error is not None or self.answer_error is not None

    @property
    def was_to_answer(self) -> bool:
        """Whether an answerer was asked, with or without success."""
        return self.answer is not None or self.answer_error is not None

    @property
    def sound(self) -> bool:
        """Whether the query was answered, and every component took part."""
        return not self.failed and not self.degraded


@dataclass(frozen=True, slots=True)
class Timings:
    """Times in milliseconds that were measured side by side: (a, b) of each query, pass by pass."""

    pairs: Mapping[str, tuple[tuple[float, float], ...]]
    repeats: int


WITHHELD = "scored by the ranking, though the search would show nothing"
"""The warning of an outcome where nothing seemed to be about the query (``evidence/floor.py``)."""
ASKED_AGAIN = "answered only when asked again"
"""The warning of an outcome whose query failed at first (``evaluation/execution.py``)."""
REFUSED_IN_WORDS = "refused in words, read as a refusal; return grounded: true where it is none"
"""The warning of an outcome that answers nothing in words (``evidence/refusals.py``)."""
OUR_ENGINES = ("embedded", "opensearch")
FIGURES_ONLY = "saved figures"
"""The engine of figures that were saved without the rankings they come from."""
WITHOUT_RANKINGS = (FIGURES_ONLY, "workflow")  # the second is an older name


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One execution of a test set against one configuration.

    ``config`` is the whole retrieval configuration as plain JSON values and ``config_hash`` its
    fingerprint; ``cache_key`` covers configuration, test set and index generation. The checksum is
    that of the queries which were really run (``part`` says which: all, evaluation, holdout,
    patient ...). ``owner`` is the process that makes the run. ``scoring`` says what the run is
    scored by, now and later; of saved figures it is not known. ``aggregate`` has no figures until
    it was. ``queries`` are those to ask, ``total`` includes those skipped. ``reused_from`` is the
    equal run whose outcomes this one took over; ``uploaded`` says that the queries came with the
    request.
    """

    run_id: str
    suite: str
    test_set_version: str
    test_set_checksum: str
    config: Mapping[str, Any]
    config_hash: str
    cache_key: str
    created_at: str
    status: RunStatus = RunStatus.RUNNING
    generation: str = ""
    engine: str = "embedded"
    name: str = ""
    part: str = "all"
    owner: str = field(default="", metadata=as_json(None))
    chunker_versions: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    commit_hash: str = ""
    uploaded: bool = False
    finished_at: str | None = None
    tags: tuple[str, ...] = ()
    queries: int = 0
    scoring: Scoring = field(default_factory=Scoring, metadata=unless("figures_only"))
    reused_from: str = ""
    aggregate: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ours(self) -> bool:
        """Whether our own search made it, embedded or on a cluster (``opensearch 2.19.1``)."""
        return self.engine.partition(" ")[0] in OUR_ENGINES

    @property
    def filters(self) -> tuple[str, ...]:
        """The filters that our search had for every query, as people write them."""
        if not self.ours:
            return ()
        return tuple(
            text if name == "filter" else f"{name}={text}"
            for name in FILTER_OPTIONS
            if (value := self.config.get(name)) is not None
            for text in (value if isinstance(value, list | tuple) else [str(value).lower()])
        )

    @property
    def figures_only(self) -> bool:
        """Whether only figures were saved, so that nothing can be computed from it."""
        return self.engine in WITHOUT_RANKINGS

    @property
    def total(self) -> int:
        """How many queries there are, with those skipped for want of ground truth."""
        return int(self.aggregate.get("total_queries") or self.queries)

    @property
    def skipped(self) -> int:
        """How many of them were skipped."""
        return int(self.aggregate.get("skipped_queries") or 0)

    @property
    def sound(self) -> bool:
        """Whether, as far as it was scored, no query failed and every component answered."""
        return not self.unsound

    @property
    def unsound(self) -> str:
        """How many queries failed or were degraded, as in ``4 degraded``."""
        counts = ((what, self.aggregate.get(f"{what}_queries")) for what in ("failed", "degraded"))
        return ", ".join(f"{int(count)} {what}" for what, count in counts if count)
