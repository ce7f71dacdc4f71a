"""The evaluation workflow, step by step: how do searched queries become figures and a report?

Each step takes what the one before answered, and a ``Trigger`` asks for all of them; ``saved.py``
has the last one, which keeps the result. The formulas
are those of ``assay.score``; a query without ground truth is skipped and counted, never a silent 0.
The report is laid out as that of a stored run (``render/report_text.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import fmean
from typing import Any, Literal

from assay.app import testsets
from assay.app.evaluation_request import EvaluationRequest
from assay.app.held_out import noted
from assay.app.workspace import Workspace
from assay.errors import AssayError, InputError, UsageError
from assay.evaluation.defaults import workflow_measures
from assay.evaluation.insights import (
    GroupMeans,
    Insight,
    large_enough,
    parse_targets,
    target_insights,
    widest_gaps,
)
from assay.evaluation.parts import Mode, part_of
from assay.evaluation.scope import Scope
from assay.evaluation.score import score_quietly
from assay.evaluation.scores import rounded
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measure
from assay.model.answers import Expect
from assay.model.document import IngestionMode, SpeakerRole
from assay.model.testset import GoldenQuery, QueryType, SpeakerFilter
from assay.render.report_text import workflow_markdown
from assay.search.request import COMPONENTS
from assay.search.response import SearchHit, SearchResponse

Speaker = Literal["ALL", "PATIENT", "CLINICIAN"]
Metrics = Mapping[str, float | None]
BySpeaker = Mapping[Speaker, Metrics]
SPEAKERS: tuple[Speaker, ...] = ("PATIENT", "CLINICIAN", "ALL")
DEFAULT_CUTOFFS = (1, 3, 5, 10)
NO_TRUTH = "the query has no relevant segments"
COUNT = "num_queries"
DECIMALS = 2  # of the figures in a report, as its readers know them
_AVERAGE_PRECISION, _MEAN = "average_precision", "mean_average_precision"
_AT = re.compile(r"(precision|recall|ndcg|hit)_at_(\d+)")
_WORDS = {"precision": "Precision", "recall": "Recall", "ndcg": "NDCG", "hit": "Hit"}
_SHORT = {"precision": "P", "recall": "R", "ndcg": "NDCG", "hit": "Hit"}
_NAMES = {"mean_average_precision": "MAP", "mrr": "MRR"}


@dataclass(frozen=True, slots=True)
class DatasetQuery:
    """One query of a dataset and the segments that answer it; ``grades`` has every judged one."""

    query_id: str
    query_text: str
    relevant_segment_ids: tuple[str, ...]
    speaker_filter: SpeakerFilter
    ingestion_mode: IngestionMode | None
    query_type: QueryType | None
    expect: Expect
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Step 1: test queries and what is known about them.

    ``total_queries`` counts as runs do: with the ``skipped_queries``, which nobody judged and which
    are not listed.
    """

    dataset_id: str
    version: str
    interview_ids: tuple[str, ...]
    test_queries: tuple[DatasetQuery, ...]
    total_queries: int
    skipped_queries: int = 0


@dataclass(frozen=True, slots=True)
class BatchQuery:
    """One query of a batch."""

    query_id: str
    query_text: str
    speaker_filter: Speaker = "ALL"
    ingestion_mode: IngestionMode | None = None
    top_k: int = 10

    def filters(self) -> dict[str, Any]:
        """What the query is limited to, as changes of a search."""
        speaker = {} if self.speaker_filter == "ALL" else {"speaker": self.speaker_filter}
        mode = {} if self.ingestion_mode is None else {"ingestion_mode": self.ingestion_mode}
        return {**speaker, **mode}


@dataclass(frozen=True, slots=True)
class BatchConfig:
    """How queries are searched; ``search_mode`` names one component, or ``hybrid`` for all."""

    rerank: bool | None = False
    search_mode: str = "hybrid"
    fusion_method: str | None = None

    def options(self) -> dict[str, Any]:
        """The same as changes of a search."""
        given: dict[str, Any] = {}
        if self.rerank is not None:
            given["rerank"] = self.rerank
        if self.search_mode in COMPONENTS:
            given["components"] = [self.search_mode]
        if self.fusion_method is not None:
            given["fusion_method"] = self.fusion_method
        return given


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """Step 2: queries to search for."""

    queries: tuple[BatchQuery, ...]
    config: BatchConfig = field(default_factory=BatchConfig)


@dataclass(frozen=True, slots=True)
class RetrievedSegment:
    """One segment that came back."""

    segment_id: str
    doc_id: str
    rank: int
    score: float
    text: str
    speaker_role: SpeakerRole
    component_scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class RetrievedQuery:
    """Step 2: what came back for one query; nothing, and the reason in ``error``, if it failed.

    What a degraded answer lacks is in ``component_errors`` and ``reranker_error``, in words in
    ``warnings``.
    """

    query_id: str
    retrieved_segment_ids: tuple[str, ...] = ()
    results: tuple[RetrievedSegment, ...] = ()
    components_used: tuple[str, ...] = ()
    component_errors: tuple[str, ...] = ()
    degraded: bool = False
    reranked: bool = False
    reranker_model: str | None = None
    reranker_error: str | None = None
    warnings: tuple[str, ...] = ()
    latency_ms: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TriggerConfig(BatchConfig):
    """How the queries of a dataset are searched and scored; reranked as configured by default."""

    rerank: bool | None = None
    top_k: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Trigger:
    """An evaluation of a dataset as a whole; ``speaker_modes`` choose among its queries."""

    dataset_id: str
    evaluation_id: str | None = None
    retrieval_config: TriggerConfig = field(default_factory=TriggerConfig)
    speaker_modes: tuple[Speaker, ...] | None = None


@dataclass(frozen=True, slots=True)
class MetricsRequest:
    """Step 3: one query's results and its ground truth."""

    query_id: str
    retrieved_segment_ids: tuple[str, ...]
    relevant_segment_ids: tuple[str, ...]
    k_values: tuple[int, ...] = DEFAULT_CUTOFFS
    speaker_filter: Speaker | None = None


@dataclass(frozen=True, slots=True)
class QueryMetrics:
    """The metrics of one query: what step 3 answers and steps 4, 5 and 7 take.

    Without ground truth each is None, with the reason. The segments are those that it was computed
    from, so that step 7 can keep a run and not only figures.
    """

    query_id: str
    metrics: Metrics
    retrieved_relevant: int = 0
    total_relevant: int = 0
    speaker_filter: Speaker | None = None
    skipped: bool = False
    reason: str | None = None
    retrieved_segment_ids: tuple[str, ...] | None = None
    relevant_segment_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """Step 6: everything that steps 4 and 5 answered, and targets such as ``P@5>0.65``."""

    evaluation_id: str
    dataset_id: str
    overall_metrics: Metrics
    total_queries: int
    date: str | None = None
    skipped_queries: int = 0
    speaker_specific_metrics: BySpeaker = field(default_factory=dict)
    targets: tuple[str, ...] = ()


# All steps at once


def triggered(workspace: Workspace, trigger: Trigger) -> EvaluationRequest:
    """The evaluation that a trigger asks for."""
    config = trigger.retrieval_config
    test_set = testsets.load(workspace.layout, trigger.dataset_id, lenient=True)
    mode, speakers = _asked_of(trigger.speaker_modes or SPEAKERS)
    try:
        part_of(test_set, mode=mode, speakers=speakers)
    except UsageError as problem:  # refused now, and not when the job has its turn
        raise InputError(problem.message, hint="speaker_modes says which queries") from None
    return EvaluationRequest(
        test_set=test_set,
        mode=mode.value,
        speakers=speakers,
        measures=None if config.top_k is None else workflow_measures(config.top_k),
        options=config.options(),
        run_id=trigger.evaluation_id,
    )


def _asked_of(speaker_modes: Sequence[Speaker]) -> tuple[Mode, tuple[SpeakerFilter, ...]]:
    """The mode that a trigger means, and whose queries where no mode says it."""
    modes = tuple(one for one in SpeakerFilter if one.value in speaker_modes)
    if len(modes) > 1:
        return Mode.AS_WRITTEN, () if len(modes) == len(SpeakerFilter) else modes
    (only,) = modes
    return (Mode.OVERALL if only is SpeakerFilter.ALL else Mode(only.value.lower())), ()


# Step 1: the dataset


def dataset(workspace: Workspace, dataset_id: str, *, held_out: bool = False) -> Dataset:
    """The queries of a dataset; those held out only with ``held_out``, and the look is logged."""
    whole = testsets.load(workspace.layout, dataset_id)
    if held_out:
        noted(workspace, whole)
    scope = Scope(whole if held_out else part_of(whole).test_set, ())
    interviews = whole.provenance.get("interview_ids", ())
    groups = sorted({query.group for query in whole.queries if query.group})
    return Dataset(
        dataset_id=dataset_id,
        version=whole.version,
        interview_ids=tuple(map(str, interviews)) or tuple(groups),
        test_queries=tuple(map(_dataset_query, scope.queries)),
        **scope.size,
    )


def _dataset_query(query: GoldenQuery) -> DatasetQuery:
    return DatasetQuery(
        query.query_id,
        query.query_text,
        tuple(judgment.id for judgment in query.relevant_docs if judgment.grade > 0),
        query.speaker_filter,
        query.ingestion_mode,
        query.query_type,
        query.expect,
        {judgment.id: judgment.grade for judgment in query.relevant_docs},
    )


# Step 2: search


async def retrieve(workspace: Workspace, request: BatchRequest) -> list[RetrievedQuery]:
    """One result per query, in their order; a query that fails says so and the rest goes on.

    Rankings are whole, as runs keep them: nothing is withheld from who is about to measure it.
    """
    options = {**request.config.options(), "floor": False}
    answers = []
    for query in request.queries:
        try:
            response = await workspace.asearch(
                query.query_text, k=query.top_k, **query.filters(), **options
            )
        except AssayError as error:
            answers.append(RetrievedQuery(query.query_id, degraded=True, error=error.message))
        else:
            answers.append(_retrieved(query, response))
    return answers


def _retrieved(query: BatchQuery, response: SearchResponse) -> RetrievedQuery:
    return RetrievedQuery(
        query.query_id,
        retrieved_segment_ids=tuple(hit.chunk.chunk_id for hit in response.results),
        results=tuple(map(_segment, response.results)),
        components_used=tuple(response.components_used),
        component_errors=tuple(response.component_errors),
        degraded=response.degraded,
        reranked=response.reranked,
        reranker_model=response.reranker_model,
        reranker_error=response.reranker_error,
        warnings=response.warnings,
        latency_ms=response.timings_ms.get("total", 0.0),
    )


def _segment(hit: SearchHit) -> RetrievedSegment:
    return RetrievedSegment(
        segment_id=hit.chunk.chunk_id,
        doc_id=hit.chunk.doc_id,
        rank=hit.rank,
        score=hit.score,
        text=hit.chunk.text,
        speaker_role=hit.chunk.speaker_role,
        component_scores=hit.component_scores,
    )


# Step 3: the metrics of one query


def query_metrics(request: MetricsRequest) -> QueryMetrics:
    """Precision and recall at each cutoff, average precision and nDCG@10 of one query."""
    cutoffs = sorted(set(request.k_values))
    names = [
        *(f"precision_at_{k}" for k in cutoffs),
        *(f"recall_at_{k}" for k in cutoffs),
        _AVERAGE_PRECISION,
        "ndcg_at_10",
    ]
    relevant = set(request.relevant_segment_ids)
    found = _unrounded(request.retrieved_segment_ids, request.relevant_segment_ids, names)
    return QueryMetrics(
        request.query_id,
        {name: rounded(found[name]) for name in names},
        retrieved_relevant=len(relevant & set(request.retrieved_segment_ids)),
        total_relevant=len(relevant),
        speaker_filter=request.speaker_filter,
        skipped=not relevant,
        reason=None if relevant else NO_TRUTH,
        retrieved_segment_ids=request.retrieved_segment_ids,
        relevant_segment_ids=request.relevant_segment_ids,
    )


def _unrounded(
    retrieved: Iterable[str], relevant: Iterable[str], names: Sequence[str]
) -> dict[str, float | None]:
    """Metrics of one query by name, unrounded; each is None where nothing is relevant."""
    measures = {name: ranking_measure(name) for name in names}
    truth = dict.fromkeys(sorted(set(relevant)), 1)
    if not truth:
        return dict.fromkeys(names)
    asked = [measure for measure in measures.values() if measure is not None]
    scores = score_quietly({"q": truth}, {"q": list(retrieved)}, asked)
    return {
        name: None if measure is None else scores.value("q", measure)
        for name, measure in measures.items()
    }


def ranking_measure(name: str) -> Measure | None:
    """The measure of rankings that a metric is; None for a metric of the caller's own."""
    try:
        found = parse_measure("MAP" if name == _AVERAGE_PRECISION else name)
    except UsageError:
        return None
    return found if found.definition.family is Family.RANKING else None


# Steps 4 and 5: means


def aggregate(rows: Sequence[QueryMetrics]) -> dict[str, Any]:
    """Means over the queries that have ground truth."""
    _refuse_repeated(rows)
    judged = [row for row in rows if not row.skipped]
    return {
        "overall_metrics": _means(judged),
        "total_queries": len(rows),
        "skipped_queries": len(rows) - len(judged),
    }


def speaker_breakdown(rows: Sequence[QueryMetrics]) -> dict[str, Any]:
    """The same means for each speaker filter that occurs."""
    _refuse_repeated(rows)
    judged = [row for row in rows if not row.skipped]
    by_speaker = {
        speaker: [row for row in judged if (row.speaker_filter or "ALL") == speaker]
        for speaker in SPEAKERS
    }
    return {
        "speaker_specific_metrics": {
            speaker: {**_means(part), "num_queries": len(part)}
            for speaker, part in by_speaker.items()
            if part
        }
    }


def _means(rows: Sequence[QueryMetrics]) -> dict[str, float | None]:
    """The mean of every metric; undefined values are left out, all of them undefined is None."""
    if not rows:
        return {}
    names = list(rows[0].metrics)
    for row in rows:
        if set(row.metrics) != set(names):
            raise InputError(
                f"{row.query_id} and {rows[0].query_id} have different metrics",
                hint="compute every query with the same k_values",
            )
    exact = [_exact(row, names) for row in rows]
    found = {_plural(name): _mean(row[name] for row in exact) for name in names}
    return {name: rounded(value) for name, value in found.items()}


def _exact(row: QueryMetrics, names: Sequence[str]) -> Metrics:
    """The values that the metrics of a row were rounded from, so that means are not off by it.

    They follow from the segments that came along; without these, precision and recall are known to
    be so many of k, or of all that is relevant. A value that says something else is kept.
    """
    if row.retrieved_segment_ids is not None and row.relevant_segment_ids:
        computed = _unrounded(row.retrieved_segment_ids, row.relevant_segment_ids, names)
    else:
        computed = {name: _nearest_share(row, name) for name in names}
    return {
        name: value if value is not None and _rounds_to(value, row.metrics[name]) else stated
        for name, stated in row.metrics.items()
        for value in (computed[name],)
    }


def _nearest_share(row: QueryMetrics, name: str) -> float | None:
    found, value = _AT.fullmatch(name), row.metrics[name]
    whole = {"precision": int(found[2]), "recall": row.total_relevant}.get(found[1]) if found else 0
    return round(value * whole) / whole if whole and value is not None else None


def _rounds_to(value: float, stated: float | None) -> bool:
    """Whether a value was rounded to what is stated, to 2 decimals or to as many as it has."""
    if stated is None:
        return False
    decimals = len(repr(stated).partition(".")[2])
    return abs(round(value, max(2, decimals)) - stated) < 1e-12


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _plural(name: str) -> str:
    return _MEAN if name == _AVERAGE_PRECISION else name


def _refuse_repeated(rows: Sequence[QueryMetrics]) -> None:
    seen: set[str] = set()
    for row in rows:
        if row.query_id in seen:
            raise InputError(f"the query {row.query_id} appears twice", hint="send each query once")
        seen.add(row.query_id)


# Step 6: the report


def workflow_report(request: ReportRequest) -> str:
    """The report in Markdown, laid out as that of a stored run."""
    rows = request.speaker_specific_metrics
    keys = list(dict.fromkeys(key for row in rows.values() for key in row if key != COUNT))
    return workflow_markdown(
        evaluation_id=request.evaluation_id,
        dataset=request.dataset_id,
        date=request.date or datetime.now(UTC).strftime("%Y-%m-%d"),
        total_queries=request.total_queries,
        skipped_queries=request.skipped_queries,
        overall=[(_name(key), _value(value)) for key, value in request.overall_metrics.items()],
        speakers={
            str(who): {
                **{_name(key, short=True): _value(row.get(key)) for key in keys},
                "Queries": _count(row),
            }
            for who, row in rows.items()
        },
        insights=_insights(request),
    )


def _insights(request: ReportRequest) -> list[Insight]:
    """Sentences that follow from the numbers: speakers beside each other, targets."""
    rows = {str(name): row for name, row in request.speaker_specific_metrics.items()}
    found = [*_beside(rows["PATIENT"], rows["CLINICIAN"])] if _both(rows) else []
    overall = _by_measure(request.overall_metrics)
    found += target_insights(overall, parse_targets(request.targets), decimals=DECIMALS)
    return found


def _both(rows: Mapping[str, Metrics]) -> bool:
    sides = [_by_measure(rows.get(name, {})) for name in ("PATIENT", "CLINICIAN")]
    return any(sides[0][name] is not None for name in sides[0] if sides[1].get(name) is not None)


def _beside(patient: Metrics, clinician: Metrics) -> list[Insight]:
    """Who does better by what differs most."""
    short = {str(ranking_measure(key)): _name(key, short=True) for key in patient}
    sides = [
        GroupMeans(name, _by_measure(row), int(row.get(COUNT) or 0))
        for name, row in (("Patient", patient), ("Clinician", clinician))
    ]
    counts = [row.get(COUNT) for row in (patient, clinician)]
    if None not in counts:  # nobody has to say how many queries there were
        large, left_out = large_enough("speaker", sides)
        if len(large) < len(sides):
            return left_out
    gaps = widest_gaps(sides)
    if not gaps:
        return [Insight("Patient and clinician queries perform alike")]
    return [
        Insight(
            f"{gap.best.name}-focused queries perform better "
            f"(+{gap.points:.0f}% {short[gap.measure]})"
        )
        for gap in gaps
    ]


def _by_measure(metrics: Metrics) -> dict[str, float | None]:
    """Metrics by the text form of their measure, without those that are none."""
    return {
        str(measure): value
        for key, value in metrics.items()
        if (measure := ranking_measure(key)) is not None
    }


def _name(key: str, *, short: bool = False) -> str:
    found = _AT.fullmatch(key)
    if found:
        return f"{(_SHORT if short else _WORDS)[found[1]]}@{found[2]}"
    return _NAMES.get(key, key)


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.{DECIMALS}f}"


def _count(row: Mapping[str, float | None]) -> str:
    count = row.get(COUNT)
    return "—" if count is None else str(int(count))
