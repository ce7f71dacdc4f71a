"""Step 7 of the workflow: what is kept of an evaluation that was computed step by step?

Where every query comes with the segments that were retrieved, the result is a run like any other:
its figures are computed again, and those that were sent must agree. Figures without rankings are
kept as such: they can be listed, shown and followed over time, but nothing can be computed from
them, so that they are refused wherever runs are compared, gated or bundled. Where figures come with
rows of single queries, they must be the means of those.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from assay.app import testsets
from assay.app.run_exchange import push
from assay.app.workflow import (
    COUNT,
    DEFAULT_CUTOFFS,
    BySpeaker,
    Metrics,
    QueryMetrics,
    aggregate,
    ranking_measure,
)
from assay.errors import ConflictError, InputError, MissingFileError, UnknownRunError, UsageError
from assay.evaluation.defaults import workflow_measures
from assay.evaluation.parts import Mode, SetPart, Split, part_of
from assay.evaluation.record import cache_key, config_hash
from assay.evaluation.result import EvaluationResult, result_of
from assay.evaluation.scope import answerable
from assay.evaluation.scores import rounded
from assay.evaluation.stored_aggregate import stored_aggregate
from assay.evaluation.stored_run import StoredRun
from assay.model.codec import encode
from assay.model.moments import now, text_of
from assay.model.ranking import document_id
from assay.model.run_store import HeldOutUse
from assay.model.runs import FIGURES_ONLY, QueryOutcome, RankedResult, RunInfo, RunStatus
from assay.model.scoring import Scoring
from assay.model.testset import GoldenQuery, Judgment, SpeakerFilter, TestSet
from assay.plural import counted

if TYPE_CHECKING:
    from assay.app.workspace import Workspace

ENGINE = "saved"
VERSION = "as-saved"
CLOCKS_DIFFER = timedelta(minutes=5)
CLOSE_ENOUGH = 0.005
"""Figures are sent with two decimals or more."""
FEWEST_DECIMALS, OUR_ROUNDING = 2, 1e-4
_CUTOFF = re.compile(r"(?:precision|recall)_at_(\d+)")
_NEW_FIELDS = ("retrieved_segment_ids", "relevant_segment_ids")


@dataclass(frozen=True, slots=True)
class SaveRequest:
    """A whole evaluation; ``timestamp`` says when it was made, now by default."""

    evaluation_id: str
    dataset_id: str
    overall_metrics: Metrics
    total_queries: int
    timestamp: str | None = None
    retrieval_config: Mapping[str, Any] = field(default_factory=dict)
    skipped_queries: int = 0
    speaker_specific_metrics: BySpeaker = field(default_factory=dict)
    per_query: tuple[QueryMetrics, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """What was stored: a ``run``, or ``figures`` without rankings."""

    evaluation_id: str
    timestamp: str
    kind: Literal["run", "figures"]
    status: Literal["saved"] = "saved"


def save_evaluation(workspace: Workspace, request: SaveRequest) -> Saved:
    """Store a result, or find that it is stored; another result under the same id is refused."""
    moment = _moment(request.timestamp)
    digest = _digest(request)
    _check_rows(request)
    known = _known(workspace, request.evaluation_id)
    if known is not None and digest not in (known.generation, known.cache_key[len("saved-") :]):
        raise ConflictError(
            f"the evaluation {request.evaluation_id} is already stored with another result",
            hint="use another evaluation_id for another result",
        )
    if known is None or known.status is not RunStatus.COMPLETE:
        when = moment if known is None else known.created_at
        keep = _keep_run if _has_rankings(request) else _keep_figures
        known = keep(workspace, request, digest, when, begun=known is not None)
    kind: Literal["run", "figures"] = "figures" if known.figures_only else "run"
    return Saved(known.run_id, known.created_at, kind)


def _moment(text: str | None) -> str:
    """When it was made, in UTC; refused where it is no moment, or one that is in the future."""
    if text is None:
        return now("seconds")
    try:
        found = datetime.fromisoformat(text.strip())
        found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"timestamp: {text!r:.60} is not a date and time", hint="as in 2024-03-15T16:00:00Z"
        ) from None
    if found > datetime.now(UTC) + CLOCKS_DIFFER:
        raise UsageError(
            f"timestamp: {text!r:.60} is in the future", hint="give the time of the evaluation"
        )
    return text_of(found, "seconds")


def _digest(request: SaveRequest) -> str:
    body = encode(request)
    for row in body["per_query"]:
        for name in _NEW_FIELDS:  # as before there were any
            if row[name] is None:
                del row[name]
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _known(workspace: Workspace, run_id: str) -> RunInfo | None:
    try:
        found = workspace.runs.run(run_id)
    except UnknownRunError:
        return None
    return found if found.run_id == run_id else None  # else a name or tag of another run


def _check_rows(request: SaveRequest) -> None:
    rows = request.per_query
    if rows and len(rows) != request.total_queries:
        raise InputError(
            f"total_queries is {request.total_queries}, and per_query has {len(rows)}",
            hint="send every query, those without ground truth too",
        )
    ids = [row.query_id for row in rows]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise InputError(f"per_query: the query {twice} appears twice", hint="send each query once")
    skipped = sum(row.skipped for row in rows)
    if rows and request.skipped_queries not in (0, skipped):
        raise InputError(
            f"skipped_queries is {request.skipped_queries}, and per_query has {skipped} skipped",
            hint="send what step 4 answered",
        )
    if wrong := [*_contradictions(request)]:
        raise InputError("; ".join(wrong), hint="send what steps 4 and 5 answered for these rows")


def _contradictions(request: SaveRequest) -> Iterator[str]:
    """Figures that are not the means of the rows that came with them."""
    judged = [row for row in request.per_query if not row.skipped]
    if not request.per_query:
        return
    if not judged:
        for name, value in request.overall_metrics.items():
            if value is not None and ranking_measure(name) is not None:
                yield f"overall_metrics: {name} is {value}, and every query of per_query is skipped"
    yield from _not_means("overall_metrics", request.overall_metrics, judged)
    if not any(row.speaker_filter for row in judged):
        return  # nobody says whose queries they are
    for speaker, figures in request.speaker_specific_metrics.items():
        place = f"speaker_specific_metrics.{speaker}"
        rows = [row for row in judged if (row.speaker_filter or "ALL") == speaker]
        count = figures.get(COUNT)
        if count is not None and count != len(rows):
            yield f"{place}: {COUNT} is {count:g}, and per_query has {len(rows)}"
        yield from _not_means(place, figures, rows)


def _not_means(place: str, figures: Metrics, rows: Sequence[QueryMetrics]) -> Iterator[str]:
    """Those of ranking measures only: what else a caller sends may not be a mean at all."""
    shared = (
        [name for name in rows[0].metrics if all(name in row.metrics for row in rows)]
        if rows
        else []
    )
    for name in shared:
        column = [replace(row, metrics={name: row.metrics[name]}) for row in rows]
        ((key, mean),) = aggregate(column)["overall_metrics"].items()
        sent = figures.get(key)
        if sent is None or ranking_measure(key) is None:
            continue
        values = [value for row in rows if (value := row.metrics[name]) is not None]
        if mean is None:
            yield f"{place}: {key} is {sent}, and no row of per_query has a value"
        elif abs(sent - mean) > _last_digit([sent]) + _last_digit(values) / 2 + OUR_ROUNDING:
            yield f"{place}: {key} is {sent}, and the mean over per_query is {mean}"


def _last_digit(values: Sequence[float]) -> float:
    """What the last decimal is worth of values that were rounded alike."""
    exponents = (Decimal(repr(value)).as_tuple().exponent for value in values)
    decimals = max(-exponent for exponent in exponents if isinstance(exponent, int))
    return float(10 ** -max(decimals, FEWEST_DECIMALS))


def _has_rankings(request: SaveRequest) -> bool:
    lacking = [row.query_id for row in request.per_query if row.retrieved_segment_ids is None]
    if not lacking or len(lacking) == len(request.per_query):
        return bool(request.per_query) and not lacking
    raise InputError(
        f"per_query: {lacking[0]} has no retrieved_segment_ids, but other queries do",
        hint="send them for every query, so that a run is kept, or for none",
    )


# Figures without rankings


def _keep_figures(
    workspace: Workspace, request: SaveRequest, digest: str, moment: str, *, begun: bool
) -> RunInfo:
    empty = TestSet(request.dataset_id, VERSION, ())
    info = RunInfo(
        run_id=request.evaluation_id,
        suite=request.dataset_id,
        test_set_version=empty.version,
        test_set_checksum=empty.checksum,
        config=request.retrieval_config,
        config_hash=config_hash(request.retrieval_config),
        cache_key=f"saved-{digest}",
        created_at=moment,
        engine=FIGURES_ONLY,
        queries=request.total_queries,
    )
    if not begun:
        workspace.runs.begin(info, empty)
    aggregate = {
        "metrics": dict(request.overall_metrics),
        "per_speaker": {
            str(name): dict(row) for name, row in request.speaker_specific_metrics.items()
        },
        "total_queries": request.total_queries,
        "skipped_queries": sum(row.skipped for row in request.per_query) or request.skipped_queries,
        "per_query": [encode(row) for row in request.per_query],
    }
    return workspace.runs.finish(request.evaluation_id, aggregate, finished_at=moment)


# A run


def _keep_run(
    workspace: Workspace, request: SaveRequest, digest: str, moment: str, *, begun: bool
) -> RunInfo:
    del begun  # what was left behind is completed
    part = _part(workspace, request)
    outcomes = _outcomes(workspace, request, part.test_set)
    scoring = Scoring(measures=_measures(request), sampling=workspace.settings.sampling)
    result = result_of(part.test_set, outcomes, scoring, run_id=request.evaluation_id)
    _compare(request, result)
    versions = {hit.chunker_version for one in outcomes for hit in one.results}
    info = RunInfo(
        run_id=request.evaluation_id,
        suite=part.test_set.name,
        test_set_version=part.test_set.version,
        test_set_checksum=part.test_set.checksum,
        config=request.retrieval_config,
        config_hash=config_hash(request.retrieval_config),
        cache_key=cache_key(request.retrieval_config, part, digest),
        created_at=moment,
        status=RunStatus.COMPLETE,
        generation=digest,
        engine=ENGINE,
        part=part.label,
        chunker_versions=tuple(sorted(filter(None, versions))),
        seed=scoring.sampling.seed,
        finished_at=moment,
        queries=len(outcomes),
        scoring=scoring,
    )
    info = replace(info, aggregate=stored_aggregate(info, result))
    push(workspace.runs, StoredRun(info, part.test_set, outcomes))
    if part.touches_held_out:
        test_set = part.test_set
        use = HeldOutUse(test_set.name, test_set.version, info.run_id, "saved", now("seconds"))
        workspace.runs.log_held_out(use)
    return workspace.runs.run(info.run_id)


def _measures(request: SaveRequest) -> str:
    """Those of the workflow, at the cutoffs that were sent."""
    matches = (_CUTOFF.fullmatch(name) for name in request.overall_metrics)
    return workflow_measures([int(one[1]) for one in matches if one] or DEFAULT_CUTOFFS)


def _part(workspace: Workspace, request: SaveRequest) -> SetPart:
    """The queries that were run: of the dataset where it is here, else as they were sent."""
    try:
        dataset = testsets.load(workspace.layout, request.dataset_id, lenient=True)
    except MissingFileError:
        return SetPart(_sent(request), Split.ALL.value, Mode.AS_WRITTEN, touches_held_out=False)
    rows = {row.query_id: row for row in request.per_query}
    known = {*dataset.by_id, *dataset.skipped}
    if strange := next((name for name in rows if name not in known), None):
        raise InputError(
            f"per_query: {request.dataset_id} has no query {strange}",
            hint="use another dataset_id for other queries",
        )
    for query in dataset.queries:
        if query.query_id in rows:
            _check_truth(query, rows[query.query_id], request.dataset_id)
    chosen = tuple(query for query in dataset.queries if query.query_id in rows)
    skipped = tuple(name for name in dataset.skipped if name in rows)
    held = dataset.held_out_ids
    return SetPart(
        replace(dataset, queries=chosen, skipped=skipped),
        _label(dataset, {query.query_id for query in chosen}),
        Mode.AS_WRITTEN,
        touches_held_out=any(query.query_id in held for query in chosen),
    )


def _label(dataset: TestSet, ids: set[str]) -> str:
    """The part that these queries are, by its name where it has one."""
    splits = (Split.ALL,) if dataset.held_out is None else tuple(Split)
    for split in splits:
        part = part_of(dataset, split)
        if {query.query_id for query in part.test_set.queries} == ids:
            return part.label
    return f"{len(ids)} of {counted(len(dataset.queries), 'query')}"


def _check_truth(query: GoldenQuery, row: QueryMetrics, dataset: str) -> None:
    """Refuse ground truth that is not the dataset's: the figures would mean something else."""
    stated = row.relevant_segment_ids
    judged = {one.id for one in query.relevant_docs if one.grade > 0}
    if stated is not None and set(stated) != judged:
        raise InputError(
            f"per_query: the relevant_segment_ids of {query.query_id} are not those of {dataset}",
            hint="use another dataset_id for other judgments",
        )


def _sent(request: SaveRequest) -> TestSet:
    """The queries of a dataset that is not here, as far as they are known."""
    for row in request.per_query:
        if row.relevant_segment_ids is None:
            raise InputError(
                f"per_query: {row.query_id} has no relevant_segment_ids, and there is no dataset "
                f"{request.dataset_id} here that has them",
                hint="send them, or store the dataset first",
            )
    judged = [row for row in request.per_query if row.relevant_segment_ids]
    if not judged:
        raise InputError("per_query: no query has a relevant segment", hint="there is no figure")
    return TestSet(
        request.dataset_id,
        VERSION,
        tuple(
            GoldenQuery(
                row.query_id,
                row.query_id,
                relevant_docs=tuple(Judgment(one, 1) for one in row.relevant_segment_ids or ()),
                speaker_filter=SpeakerFilter(row.speaker_filter or "ALL"),
            )
            for row in judged
        ),
        skipped=tuple(row.query_id for row in request.per_query if not row.relevant_segment_ids),
    )


def _outcomes(
    workspace: Workspace, request: SaveRequest, test_set: TestSet
) -> tuple[QueryOutcome, ...]:
    """The rankings, with what the corpus knows of their segments."""
    found = {row.query_id: row.retrieved_segment_ids or () for row in request.per_query}
    ids = {one for ranking in found.values() for one in ranking}
    inventory = workspace.store.inventory
    places = inventory.as_cut(ids, frozenset(inventory.chunker_versions()))

    def result(segment: str) -> RankedResult:
        place = places.get(segment)
        if place is None:
            return RankedResult(segment, document_id(segment))
        return RankedResult(
            segment, place.doc_id, spans=place.spans, chunker_version=place.chunker_version
        )

    return tuple(
        QueryOutcome(query.query_id, tuple(result(one) for one in found[query.query_id]))
        for query in answerable(test_set)
    )


def _compare(request: SaveRequest, result: EvaluationResult) -> None:
    """Refuse figures that the rankings do not give."""
    computed = result.to_dict()["metrics"]
    wrong = [
        f"{name} is {value}, and the rankings give {rounded(computed[name])}"
        for name, value in request.overall_metrics.items()
        if value is not None
        and computed.get(name) is not None
        and abs(value - computed[name]) > CLOSE_ENOUGH
    ]
    if wrong:
        raise InputError(
            f"overall_metrics: {'; '.join(wrong)}",
            hint="send the figures of steps 3 and 4 with their rankings",
        )
