"""The evaluation workflow, step by step: how do searched queries become a report and a stored run?

Each step takes what the one before answered, and a ``Trigger`` asks for all of them. The formulas
are those of ``assay.score``; a query without ground truth is skipped and counted, never a silent 0.
The report is laid out as that of a stored run (``render/report_text.py``).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from statistics import fmean
from typing import Any, Literal

from assay.app import testsets
from assay.app.evaluation import EvaluationRequest
from assay.app.held_out import noted
from assay.app.workspace import Workspace
from assay.errors import AssayError, ConflictError, InputError
from assay.evaluation.defaults import workflow_measures
from assay.evaluation.parts import part_of
from assay.evaluation.record import config_hash
from assay.evaluation.report import Insight
from assay.evaluation.score import score_quietly
from assay.evaluation.scores import rounded
from assay.measures.parse import parse_measures
from assay.model.answers import Expect
from assay.model.codec import encode
from assay.model.document import IngestionMode, SpeakerRole
from assay.model.run_store import RunStore
from assay.model.runs import RunInfo, RunStatus
from assay.model.testset import GoldenQuery, QueryType, SpeakerFilter, TestSet
from assay.plural import counted
from assay.render.report_text import workflow_markdown
from assay.search.request import COMPONENTS
from assay.search.response import SearchHit, SearchResponse

Speaker = Literal["ALL", "PATIENT", "CLINICIAN"]
Metrics = Mapping[str, float | None]
BySpeaker = Mapping[Speaker, Metrics]
SPEAKERS: tuple[Speaker, ...] = ("PATIENT", "CLINICIAN", "ALL")
DEFAULT_CUTOFFS = (1, 3, 5, 10)
NO_TRUTH = "the query has no relevant segments"
ENGINE = "workflow"
COUNT = "num_queries"
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
    query_type: QueryType | None
    expect: Expect
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Step 1: test queries and what is known about them."""

    dataset_id: str
    version: str
    interview_ids: tuple[str, ...]
    test_queries: tuple[DatasetQuery, ...]
    total_queries: int


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
    """Step 2: what came back for one query; nothing, and the reason in ``error``, if it failed."""

    query_id: str
    retrieved_segment_ids: tuple[str, ...] = ()
    results: tuple[RetrievedSegment, ...] = ()
    components_used: tuple[str, ...] = ()
    component_errors: tuple[str, ...] = ()
    degraded: bool = False
    reranked: bool = False
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
    """The metrics of one query: what step 3 answers and steps 4 and 5 take.

    Without ground truth each is None, with the reason.
    """

    query_id: str
    metrics: Metrics
    retrieved_relevant: int = 0
    total_relevant: int = 0
    speaker_filter: Speaker | None = None
    skipped: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """Step 6: everything that steps 4 and 5 answered; ``targets`` are what metrics should beat."""

    evaluation_id: str
    dataset_id: str
    overall_metrics: Metrics
    total_queries: int
    date: str | None = None
    skipped_queries: int = 0
    speaker_specific_metrics: BySpeaker = field(default_factory=dict)
    targets: Metrics = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SaveRequest:
    """Step 7: a whole evaluation."""

    evaluation_id: str
    dataset_id: str
    overall_metrics: Metrics
    total_queries: int
    timestamp: str | None = None
    retrieval_config: Mapping[str, Any] = field(default_factory=dict)
    skipped_queries: int = 0
    speaker_specific_metrics: BySpeaker = field(default_factory=dict)
    per_query: tuple[QueryMetrics, ...] = ()


# All steps at once


def triggered(workspace: Workspace, trigger: Trigger) -> EvaluationRequest:
    """The evaluation that a trigger asks for."""
    config = trigger.retrieval_config
    test_set = testsets.load(workspace.layout, trigger.dataset_id, lenient=True)
    speakers = frozenset(trigger.speaker_modes or SPEAKERS)
    overall = speakers == {"ALL"}  # everything, without filters
    return EvaluationRequest(
        test_set=test_set if overall else _of_speakers(test_set, speakers),
        mode="overall" if overall else "as-written",
        measures=None if config.top_k is None else workflow_measures(config.top_k),
        options=config.options(),
        run_id=trigger.evaluation_id,
    )


def _of_speakers(test_set: TestSet, speakers: frozenset[str]) -> TestSet:
    chosen = tuple(query for query in test_set.queries if query.speaker_filter.value in speakers)
    if not chosen:
        raise InputError("the dataset has no query for these speaker_modes")
    held = test_set.held_out
    if held is not None:
        names = {query.query_id for query in chosen}
        held = replace(held, query_ids=tuple(name for name in held.query_ids if name in names))
    return replace(test_set, queries=chosen, held_out=held)


# Step 1: the dataset


def dataset(workspace: Workspace, dataset_id: str, *, held_out: bool = False) -> Dataset:
    """The queries of a dataset; those held out only with ``held_out``, and the look is logged."""
    whole = testsets.load(workspace.layout, dataset_id)
    if held_out:
        noted(workspace, whole)
    queries = whole.queries if held_out else part_of(whole).test_set.queries
    interviews = whole.provenance.get("interview_ids", ())
    groups = sorted({query.group for query in whole.queries if query.group})
    return Dataset(
        dataset_id=dataset_id,
        version=whole.version,
        interview_ids=tuple(map(str, interviews)) or tuple(groups),
        test_queries=tuple(map(_dataset_query, queries)),
        total_queries=len(queries),
    )


def _dataset_query(query: GoldenQuery) -> DatasetQuery:
    return DatasetQuery(
        query.query_id,
        query.query_text,
        tuple(judgment.id for judgment in query.relevant_docs if judgment.grade > 0),
        query.speaker_filter,
        query.query_type,
        query.expect,
        {judgment.id: judgment.grade for judgment in query.relevant_docs},
    )


# Step 2: search


async def retrieve(workspace: Workspace, request: BatchRequest) -> list[RetrievedQuery]:
    """One result per query, in their order; a query that fails says so and the rest goes on."""
    options = request.config.options()
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
    names = {
        **{f"precision_at_{k}": f"P@{k}" for k in cutoffs},
        **{f"recall_at_{k}": f"Recall@{k}" for k in cutoffs},
        _AVERAGE_PRECISION: "MAP",
        "ndcg_at_10": "nDCG@10",
    }
    relevant = set(request.relevant_segment_ids)
    retrieved = dict.fromkeys(request.retrieved_segment_ids)  # the first occurrence counts
    metrics: dict[str, float | None] = dict.fromkeys(names)
    if relevant:
        scores = score_quietly(
            {request.query_id: dict.fromkeys(sorted(relevant), 1)},
            {request.query_id: list(retrieved)},
            " ".join(names.values()),
        )
        by_text = {key: str(parse_measures(text)[0]) for key, text in names.items()}
        metrics = {
            key: rounded(scores.value(request.query_id, text)) for key, text in by_text.items()
        }
    return QueryMetrics(
        request.query_id,
        metrics,
        retrieved_relevant=len(relevant & set(retrieved)),
        total_relevant=len(relevant),
        speaker_filter=request.speaker_filter,
        skipped=not relevant,
        reason=None if relevant else NO_TRUTH,
    )


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
    found = {_plural(name): _mean(row.metrics[name] for row in rows) for name in names}
    return {name: rounded(value) for name, value in found.items()}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _plural(name: str) -> str:
    return _MEAN if name == _AVERAGE_PRECISION else name


def _refuse_repeated(rows: Sequence[QueryMetrics]) -> None:
    seen: set[str] = set()
    for row in rows:
        if row.query_id in seen:
            raise InputError(f"the query {row.query_id} stands twice", hint="send each query once")
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
        overall={_name(key): _value(value) for key, value in request.overall_metrics.items()},
        speakers={
            str(who): {
                **{_name(key, short=True): _value(row.get(key)) for key in keys},
                "Queries": _count(row),
            }
            for who, row in rows.items()
        },
        insights=[Insight(line) for line in _insights(request)],
    )


def _insights(request: ReportRequest) -> list[str]:
    """Sentences that follow from the numbers: speakers beside each other, targets, what is left."""
    found = []
    rows = {str(name): row for name, row in request.speaker_specific_metrics.items()}
    patient, clinician = rows.get("PATIENT"), rows.get("CLINICIAN")
    if patient is not None and clinician is not None:
        found += _beside("precision_at_5", patient, clinician)
        found += _beside("recall_at_5", patient, clinician)
    for key, target in request.targets.items():
        value = request.overall_metrics.get(key)
        if value is not None and target is not None:
            met = "meets" if value > target else "misses"
            mark = "✓" if value > target else "✗"
            found.append(
                f"Overall system {met} target of {_name(key, short=True)} > {target:.2f} {mark}"
            )
    if request.skipped_queries:
        found.append(f"{counted(request.skipped_queries, 'query')} without ground truth: skipped")
    return found


def _beside(
    key: str, patient: Mapping[str, float | None], clinician: Mapping[str, float | None]
) -> list[str]:
    a, b = patient.get(key), clinician.get(key)
    if a is None or b is None:
        return []
    points = round(100 * (a - b))
    if points == 0:
        return [f"Patient and clinician queries perform alike ({_name(key, short=True)})"]
    better = "Patient" if points > 0 else "Clinician"
    return [f"{better}-focused queries perform better (+{abs(points)}% {_name(key, short=True)})"]


def _name(key: str, *, short: bool = False) -> str:
    found = _AT.fullmatch(key)
    if found:
        return f"{(_SHORT if short else _WORDS)[found[1]]}@{found[2]}"
    return _NAMES.get(key, key)


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"


def _count(row: Mapping[str, float | None]) -> str:
    count = row.get(COUNT)
    return "—" if count is None else str(int(count))


# Step 7: keep the result


def save_evaluation(runs: RunStore, request: SaveRequest) -> dict[str, Any]:
    """Store a result, or find that it is stored; another result under the same id is refused.

    It has numbers and no rankings: the run keeps the numbers as its aggregate, so that it stands in
    listings and in the history of its dataset.
    """
    body = encode(request)
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    empty = TestSet(request.dataset_id, "as-saved", ())
    info = RunInfo(
        run_id=request.evaluation_id,
        suite=request.dataset_id,
        test_set_version=empty.version,
        test_set_checksum=empty.checksum,
        config=request.retrieval_config,
        config_hash=config_hash(request.retrieval_config),
        cache_key=f"saved-{digest}",
        created_at=moment,
        engine=ENGINE,
        queries=request.total_queries,
    )
    try:
        runs.begin(info, empty)
    except ConflictError:
        known = runs.run(request.evaluation_id)
        if known.cache_key != info.cache_key:
            raise ConflictError(
                f"the evaluation {request.evaluation_id} is stored with another result",
                hint="use another evaluation_id for another result",
            ) from None
        moment = known.created_at
        if known.status is RunStatus.COMPLETE:
            return _answer(request, moment)
    runs.finish(request.evaluation_id, _aggregate(request), finished_at=moment)
    return _answer(request, moment)


def _answer(request: SaveRequest, moment: str) -> dict[str, Any]:
    return {"evaluation_id": request.evaluation_id, "status": "saved", "timestamp": moment}


def _aggregate(request: SaveRequest) -> dict[str, Any]:
    return {
        "metrics": dict(request.overall_metrics),
        "per_speaker": {
            str(name): dict(row) for name, row in request.speaker_specific_metrics.items()
        },
        "total_queries": request.total_queries,
        "skipped_queries": request.skipped_queries,
        "per_query": [encode(row) for row in request.per_query],
        "timestamp": request.timestamp,
    }
