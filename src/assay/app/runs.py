"""What can be done with stored runs: list, show, score again, tag, delete, export, report, bundle?

Verbs take an ``Assay``: a workspace here, or a service whose runs are read and computed on here.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app.held_out import (
    OWNER,
    Viewer,
    hidden_in,
    masked_fates,
    masked_outcome,
    masked_outcomes,
    masked_query,
)
from assay.app.statistics import USUAL, Measures, Statistics, as_text
from assay.durable import write_atomically
from assay.errors import (
    AssayError,
    ConflictError,
    CorruptError,
    FormatError,
    InputError,
    MissingFileError,
    UnknownRunError,
    UsageError,
)
from assay.evaluation import bundle as bundles
from assay.evaluation.components import (
    ComponentReport,
    component_names,
    component_outcomes,
    component_report,
)
from assay.evaluation.defaults import (
    EVALUATION_MEASURES,
    HISTORY_MEASURES,
    PAGE_MEASURES,
    REPORT_MEASURES,
    WORKFLOW_MEASURES,
)
from assay.evaluation.documents import documents_of
from assay.evaluation.history import History, HistoryOptions, history_of
from assay.evaluation.insights import parse_targets, usual_targets
from assay.evaluation.match import (
    LookUp,
    graded_ranks,
    judgment_ranks,
    places_of,
    scored_order,
)
from assay.evaluation.outcomes import query_field, score_run, usual_measures
from assay.evaluation.report import RunReport, report_measures, run_report
from assay.evaluation.result import EvaluationResult, result_of_run
from assay.evaluation.scope import Scope
from assay.evaluation.scores import Scores
from assay.evaluation.stored_aggregate import stored_aggregate
from assay.evaluation.stored_run import StoredRun, rankings_of
from assay.evaluation.waterfall import Waterfall
from assay.evaluation.waterfall import waterfall as find_fates
from assay.measures.base import Measure
from assay.measures.parse import measures_text, parse_measures
from assay.model.codec import decode, encode
from assay.model.document import check_id
from assay.model.moments import now
from assay.model.ranking import Match, MatchName
from assay.model.run_store import (
    COLUMNS,
    NEWEST_FIRST,
    DeletedRun,
    RunFilter,
    RunOrder,
    RunPage,
    RunStore,
)
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.scoring import Scoring
from assay.model.stored_figures import check_figures
from assay.model.tabular import Records, Tabular
from assay.model.testset import GoldenQuery, TestSet
from assay.model.testset_json import to_plain
from assay.render import evaluation as tables
from assay.render.report_text import content_markdown
from assay.render.runs import figures_table
from assay.render.tables import Table
from assay.search.fuse_again import fuser_of
from assay.settings import SETTINGS, overriding
from assay.store import run_rows
from assay.store.deleted_runs import DeletedRuns
from assay.testsets.load import load_test_set

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.app.workspace import Workspace
    from assay.search.request import SearchOptions

MOST_RUNS = 10_000
STAGE_RESAMPLES = 1_000
LOOKED_AT = 1_000
"""Runs of a suite that are looked through for those that are asked for."""
FORMAT = "assay-run-1"
BATCH = 500
_ENDED = (RunStatus.COMPLETE, RunStatus.FAILED)


# List, tag, delete


def run_filter(
    suite: str | None = None,
    status: str | None = None,
    tag: str | None = None,
    config_hash: str | None = None,
    text: str | None = None,
    *,
    newest_only: bool = False,
) -> RunFilter:
    """Which runs are meant, as people write it; empty allows everything."""
    known = [str(one) for one in RunStatus]
    if status and status not in known:
        raise UsageError(f"there is no status {status!r:.40}", hint=f"known: {', '.join(known)}")
    return RunFilter(
        suite=suite or None,
        status=RunStatus(status) if status else None,
        tag=tag or None,
        config_hash=config_hash or None,
        text=(text or "").strip() or None,
        newest_only=newest_only,
    )


def run_order(text: str | None) -> RunOrder:
    """The order of a list as people write it: a column or a measure, ``-`` for largest first."""
    if not text:
        return NEWEST_FIRST
    name = text.removeprefix("-")
    if name not in COLUMNS:
        try:
            (measure,) = parse_measures(name)
        except (AssayError, ValueError):
            raise UsageError(
                f"runs cannot be sorted by {name!r:.60}",
                hint=f"name a measure such as nDCG@10, or one of {', '.join(COLUMNS)}",
            ) from None
        name = measure.key
    return RunOrder(name, text.startswith("-"))


def list_runs(
    assay: Assay,
    chosen: RunFilter | None = None,
    *,
    limit: int = 20,
    offset: int = 0,
    order: RunOrder = NEWEST_FIRST,
) -> RunPage:
    """Runs, the newest first unless another order is asked for, each with its figures."""
    assay.require()
    page = assay.runs.runs(chosen, limit=limit, offset=offset, order=order)
    return replace(page, runs=tuple(with_figures(assay, info) for info in page.runs))


def with_figures(assay: Assay, info: RunInfo) -> RunInfo:
    """A run with its figures; one that did not end is scored as far as it got."""
    if info.status is RunStatus.COMPLETE or info.figures_only or "metrics" in info.aggregate:
        return info
    try:
        result = _scored(assay, info, info.scoring)
    except CorruptError:  # of its outcomes; what is known of the run is shown
        return info
    return replace(info, aggregate=stored_aggregate(info, result))


def live_figures(assay: Assay, info: RunInfo) -> Mapping[str, float | None]:
    """The headline measures over the queries that were asked so far, by key.

    The figures of an incomplete run count every other query as zero; these show where it is going.
    """
    stored = assay.stored_run(info.run_id)
    asked = [one for one in stored.queries if one.judged and one.query_id in stored.by_query]
    if not asked:
        return {}
    scores = score_run(stored, HISTORY_MEASURES, queries=asked)
    return {measure.key: scores[measure] for measure in scores.measures}


def search_changes(info: RunInfo, usual: SearchOptions) -> dict[str, str | list[str]]:
    """How the search of a run differs from the usual one, as people write options.

    Nothing where another system made it, or where nothing is known of its configuration.
    """
    from assay.app.configurations import SAVED_NAMES
    from assay.search.request import write_changes
    from assay.search.run_config import options_from

    if not info.ours or not info.config:
        return {}
    found = write_changes(options_from(info.config, usual), usual)
    return {name: text for name, text in found.items() if name in SAVED_NAMES}


def headline_measures() -> tuple[Measure, ...]:
    """The measures that a list of runs shows."""
    return tuple(parse_measures(HISTORY_MEASURES))


def tag(assay: Assay, run: str, name: str) -> RunInfo:
    """Give a run a tag, such as baseline; it names no other run any longer."""
    assay.require()
    return assay.runs.tag(run, name)


def untag(assay: Assay, name: str, run: str | None = None) -> RunInfo:
    """Remove a tag from the run that has it; the run stays."""
    assay.require()
    info = assay.runs.run(run or name)
    if name not in info.tags:
        raise UnknownRunError(
            f"{run or 'no run'} has {'no' if run else 'the'} tag {name!r:.80}",
            hint="assay eval list shows tags",
        )
    assay.runs.untag(name)
    return assay.runs.run(info.run_id)


def delete(assay: Assay, run: str, *, for_good: bool = False) -> RunInfo:
    """Delete a run; unless it goes ``for_good``, ``restore`` brings it back."""
    assay.require()
    return assay.delete_run(run, for_good=for_good)


def deleted(assay: Assay) -> tuple[DeletedRun, ...]:
    """The deleted runs that can be restored, the one deleted last first."""
    assay.require()
    return assay.deleted_runs()


def restore(assay: Assay, run_id: str) -> RunInfo:
    """Bring back a deleted run, with the tags that no other run has got since."""
    assay.require()
    return assay.restore_run(run_id)


def move_out(workspace: Workspace, run: str, *, for_good: bool) -> RunInfo:
    """Delete a run of this workspace, and keep a copy unless it goes for good."""
    try:
        info = workspace.runs.run(run)
    except CorruptError:
        return workspace.runs.delete(run)
    if info.status is RunStatus.RUNNING:
        raise ConflictError(
            f"the run {info.run_id} is being made", hint="cancel it first, or wait for its end"
        )
    kept = DeletedRuns(workspace.layout.deleted_runs)
    if for_good:
        kept.forget(info.run_id)
    else:
        try:
            packed = pack(workspace.stored_run(info.run_id, stages=True))
            kept.keep(info, packed, now())
        except CorruptError:  # what cannot be read cannot be kept, and can still go
            pass
    return workspace.runs.delete(info.run_id)


def move_back(workspace: Workspace, run_id: str) -> RunInfo:
    """Bring a deleted run back into this workspace."""
    kept = DeletedRuns(workspace.layout.deleted_runs)
    about, packed = kept.read(run_id)
    push(workspace.runs, _unpacked(packed))
    for name in about.tags:
        if not _is_taken(workspace, name):
            workspace.runs.tag(run_id, name)
    kept.forget(run_id)
    return workspace.runs.run(run_id)


def _is_taken(workspace: Workspace, tag: str) -> bool:
    """Whether a run has this tag."""
    try:
        return tag in workspace.runs.run(tag).tags
    except UnknownRunError:
        return False


# Show


@dataclass(frozen=True, slots=True)
class RunView(Tabular):
    """A run and its scores, and on request what its components did.

    Of figures that were saved without rankings there is no result but what was stored.
    """

    info: RunInfo
    result: EvaluationResult | None
    components: ComponentReport | None = None
    fates: Waterfall | None = None

    def records(self) -> Records:
        """A row for each query; a row for each figure where only figures were saved."""
        if self.result is not None:
            return self.result.records()
        metrics = self.info.aggregate.get("metrics", {})
        return Records(("measure", "mean"), list(metrics.items()), self.info.run_id)

    def overview(self) -> Records:
        """The measures; those of each component where they were asked for."""
        if self.components is not None:
            return self.components.overview()
        return self.records() if self.result is None else self.result.overview()

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """JSON-ready, with everything that is known of the run."""
        info = self.info
        if self.result is not None:  # the figures below are of this rule
            match = self.result.scoring.match
            info = replace(info, scoring=replace(info.scoring, match=match))
        return {**encode(info), **self.scores(per_query=per_query)}

    def scores(self, *, per_query: bool = False) -> dict[str, Any]:
        """What came out of it only."""
        if self.result is None:
            return {**self.info.aggregate, "figures_only": True}
        plain: dict[str, Any] = self.result.to_dict(per_query=per_query)
        if self.components is not None:
            plain |= self.components.to_dict(per_query=per_query)
        if self.fates is not None:
            plain["waterfall"] = self.fates.to_dict()
        return plain

    def tables(self, *, per_query: bool = False) -> list[Table]:
        """The same for a terminal."""
        if self.result is None:
            return [figures_table(self.info)]
        shown = tables.result_tables(self.result, self.info, per_query=per_query)
        if self.components is not None:
            shown = [tables.component_table(self.components), *shown[1:]]
        if self.fates is not None:
            shown += tables.waterfall_tables(self.fates)
        return shown


def show(
    assay: Assay,
    run: str = "latest",
    *,
    measures: Measures = (),
    match: MatchName | None = None,
    per_component: bool = False,
    waterfall: bool = False,
    statistics: Statistics = USUAL,
    viewer: Viewer = OWNER,
) -> RunView:
    """Score a stored run, and on request say what its components did; nothing is searched.

    What is not given is as the run was scored when it was made.
    """
    assay.require()
    info = assay.runs.run(run)
    if info.figures_only and not (measures or match or per_component or waterfall):
        return RunView(info, None)
    scoring = scoring_of(info, measures, match, statistics)
    result = _scored(assay, info, scoring, stages=per_component or waterfall)
    view = view_of(assay, info, result, scoring, per_component=per_component, waterfall=waterfall)
    if view.fates is None:
        return view
    hidden = viewer.hidden_in(result.test_set)
    return replace(view, fates=masked_fates(view.fates, hidden, viewer.mask))


def stages(assay: Assay, run: str) -> RunView | None:
    """What components brought and where documents were lost; None where a run keeps no lists."""
    info = assay.runs.run(run)
    if info.figures_only:
        return None
    scoring = scoring_of(info, HISTORY_MEASURES, statistics=Statistics(resamples=STAGE_RESAMPLES))
    result = _scored(assay, info, scoring, stages=True)
    if not component_names(result.outcomes):
        return None
    return view_of(assay, info, result, scoring, per_component=True, waterfall=True)


def view_of(
    assay: Assay,
    info: RunInfo,
    result: EvaluationResult,
    scoring: Scoring,
    *,
    per_component: bool,
    waterfall: bool,
) -> RunView:
    """A run that was scored already, with what its components did where that is asked for."""
    components = fates = None
    look_up = places_lookup(assay, info)
    outcomes = result.outcomes
    if (per_component or waterfall) and not component_names(outcomes):  # scored without the lists
        outcomes = assay.runs.outcomes(info.run_id, stages=True)
    if per_component:
        components = component_report(
            result.test_set,
            outcomes,
            scoring,
            fuse_again=fuser_of(info.config) if info.ours else None,
            hybrid=result,
            look_up=look_up,
        )
    if waterfall:
        fates = find_fates(
            result.test_set,
            outcomes,
            match=scoring.match,
            present=assay.present,
            look_up=look_up,
        )
    return RunView(info, result, components, fates)


def places_lookup(assay: Assay, info: RunInfo) -> LookUp:
    """A function that says where chunks stood in the index that a run was made with."""
    versions = frozenset(info.chunker_versions)
    return lambda chunk_ids: assay.archived(chunk_ids, versions) if versions else {}


def scoring_of(
    info: RunInfo,
    measures: Measures = (),
    match: MatchName | None = None,
    statistics: Statistics = USUAL,
) -> Scoring:
    """What a run is scored by, with what is given instead."""
    return info.scoring.changed(
        measures=as_text(measures) or None,
        match=None if match is None else Match(match),
        sampling=statistics.drawn_as(info.scoring.sampling),
    )


def _scored(
    assay: Assay,
    info: RunInfo,
    scoring: Scoring,
    *,
    stages: bool = False,
    test_set: TestSet | None = None,
) -> EvaluationResult:
    rankings_of(info)
    return result_of_run(
        info,
        test_set or assay.runs.test_set(info.run_id),
        assay.runs.outcomes(info.run_id, stages=stages),
        scoring,
    )


@dataclass(frozen=True, eq=False)
class QueryScores:
    """The queries of a run with their values, and how they came out by type.

    ``scores`` is None where no query has a relevant document; every value is then undefined.
    ``unjudged`` is the share of the first ten results that nobody judged; ``sets`` are the test
    sets that can be named in a command: of one that was joined, its parts.
    """

    scores: Scores | None
    queries: Mapping[str, GoldenQuery]
    by_type: Mapping[str, Scores]
    values: Mapping[str, float | None]
    unjudged: float | None
    held_out: frozenset[str]
    sets: tuple[str, ...]

    @property
    def primary(self) -> Measure | None:
        """The measure by which queries are ordered."""
        return self.scores.measures[0] if self.scores else None

    @property
    def headlines(self) -> tuple[Measure, ...]:
        """The measures that are broken down by type."""
        return tuple(self.scores.measures[:3]) if self.scores else ()


def query_scores(assay: Assay, run: str) -> QueryScores:
    """Every query of a run, scored."""
    stored = assay.stored_run(run)
    scorable = any(query.judged for query in stored.queries)
    scores = score_run(stored, PAGE_MEASURES) if scorable else None
    joined = stored.test_set.provenance.get("joined")
    parts = joined if isinstance(joined, (list, tuple)) else ()
    names = tuple(str(one[0]) for one in parts if isinstance(one, (list, tuple)) and one)
    return QueryScores(
        scores=scores,
        queries=stored.test_set.by_id,
        by_type=scores.by(query_field(stored.queries, "query_type")) if scores else {},
        values=(
            scores.per_query(scores.measures[0])
            if scores
            else dict.fromkeys(query.query_id for query in stored.queries)
        ),
        unjudged=scores.summary.unjudged(10) if scores else None,
        held_out=hidden_in(stored.test_set),
        sets=names or (stored.info.suite,),
    )


# One query, and all of them


@dataclass(frozen=True, slots=True)
class FoundJudgment:
    """A judgment, and the rank of the first result that brings it; None where none does."""

    id: str
    grade: int
    rank: int | None


@dataclass(frozen=True, slots=True)
class RunQuery:
    """One query of a run: what was judged, where it was found, and what came back.

    The results of ``outcome`` stand in the order in which they are scored; ``grades`` has the grade
    of each rank at which something judged was found.
    """

    info: RunInfo
    query: GoldenQuery
    outcome: QueryOutcome
    judgments: tuple[FoundJudgment, ...]
    grades: Mapping[int, int]
    hidden: bool = False

    @property
    def relevant(self) -> tuple[FoundJudgment, ...]:
        """The judgments of what should have been found."""
        return tuple(one for one in self.judgments if one.grade > 0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the query with its judgments and everything that is kept of its answer."""
        return {
            **encode(self.outcome),
            "query_id": self.query.query_id,
            "query_text": self.query.query_text,
            "query_type": encode(self.query.query_type),
            "relevant_docs": encode(self.judgments),
        }


def query(
    assay: Assay,
    run: str,
    query_id: str,
    *,
    match: MatchName | None = None,
    viewer: Viewer = OWNER,
) -> RunQuery:
    """One query of a run, with the rank at which each judgment was found."""
    assay.require()
    info = rankings_of(assay.runs.run(run))
    test_set = assay.runs.test_set(info.run_id)
    golden = test_set.by_id.get(query_id)
    outcomes = assay.runs.outcomes(info.run_id, queries=[query_id])
    if golden is None or not outcomes:
        raise _no_such_query(info, query_id, test_set)
    outcome = outcomes[0]
    hidden = bool(viewer.hidden_in(test_set, {query_id}, info.run_id))
    if hidden:
        golden, outcome = masked_query(golden, viewer.mask), masked_outcome(outcome, viewer.mask)
    scoring = scoring_of(info, match=match)
    documents = documents_of(test_set, scoring.chunk_separator)
    ranks = judgment_ranks(golden, outcome, scoring.match, {}, documents)
    return RunQuery(
        info=info,
        query=golden,
        outcome=replace(outcome, results=scored_order(outcome)),
        judgments=tuple(
            FoundJudgment(one.id, one.grade, rank)
            for one, rank in zip(golden.relevant_docs, ranks, strict=True)
        ),
        grades=graded_ranks(golden, outcome, scoring.match, {}, documents),
        hidden=hidden,
    )


def _no_such_query(info: RunInfo, query_id: str, test_set: TestSet) -> MissingFileError:
    scope = Scope(test_set, ())
    if query_id in scope.skipped:
        return MissingFileError(
            f"{query_id} was skipped: it has no ground truth in {info.suite}",
            hint="judge what it should find, and evaluate again",
        )
    if query_id in scope.unasked:
        return MissingFileError(
            f"{query_id} was not asked: the run {info.run_id} is {info.status}",
            hint="assay eval run --resume goes on with it",
        )
    if query_id in test_set.held_out_ids:
        return MissingFileError(
            f"{query_id} is held out of {info.suite}, and the run {info.run_id} was made without "
            "the held-out part",
            hint=f"assay eval run -t {info.suite} --part all asks every query; the look is logged",
        )
    part = "" if info.part == "all" else f" (it ran the part: {info.part})"
    return MissingFileError(
        f"the run {info.run_id}{part} has no query {query_id!r:.80}",
        hint="assay eval show RUN --per-query lists them, as does GET /v1/runs/RUN/queries",
    )


@dataclass(frozen=True, slots=True)
class OutcomePage:
    """Some outcomes of a run, in the order run, and how many there are in all."""

    run_id: str
    total: int
    outcomes: tuple[QueryOutcome, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        rows = [outcome_json(one) for one in self.outcomes]
        return {"run_id": self.run_id, "total": self.total, "outcomes": rows}


def outcomes(
    workspace: Workspace,
    run: str = "latest",
    *,
    limit: int = 100,
    offset: int = 0,
    stages: bool = True,
    depth: int | None = None,
    queries: Sequence[str] = (),
    viewer: Viewer = OWNER,
) -> OutcomePage:
    """What happened to the queries of a run: a page of all, or of those named.

    ``depth`` keeps the first results of each; ``stages`` adds what components found.
    """
    store = workspace.runs
    info = store.run(run)
    page = store.outcomes(
        info.run_id,
        stages=stages,
        depth=depth,
        queries=queries or None,
        limit=limit,
        offset=offset,
    )
    quoting = [one.query_id for one in page if masked_outcome(one) != one]
    hidden = viewer.hidden_in(store.test_set(info.run_id), quoting) if quoting else frozenset()
    answered = store.answered(info.run_id)
    total = len(answered.intersection(queries) if queries else answered)
    return OutcomePage(info.run_id, total, masked_outcomes(page, hidden, viewer.mask))


def queries_of(assay: Assay, run: str, viewer: Viewer = OWNER) -> TestSet:
    """The queries and judgments that a run was made with."""
    return viewer.seen_set(assay.runs.test_set(assay.runs.run(run).run_id))


# Score again


@dataclass(frozen=True, slots=True)
class Rescored:
    """A run as it was stored, and what it scores now; ``kept`` says whether that is stored."""

    info: RunInfo
    result: EvaluationResult
    kept: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            **self.result.to_dict(),
            "run_id": self.info.run_id,
            "before": self.info.aggregate.get("metrics"),
            "kept": self.kept,
        }


def rescore(
    workspace: Workspace,
    run: str | None = None,
    *,
    suite: str | None = None,
    measures: Measures = (),
    match: MatchName | None = None,
    test_set: str | None = None,
) -> tuple[Rescored, ...]:
    """Score a run again, or every complete run of a test set; nothing is searched.

    ``measures`` are added to those that a run has. The figures that a run keeps are those of its
    own test set and match rule: with another ``test_set`` or ``match`` nothing is kept.
    """
    if (run is None) == (suite is None):
        raise UsageError("name a run, or with --suite a test set")
    workspace.require()
    judged_by = None
    if test_set is not None:
        judged_by = load_test_set(test_set, folder=workspace.layout.test_sets)
    chosen = (
        _complete_runs(workspace, suite) if suite is not None else (workspace.runs.run(run or ""),)
    )
    return tuple(
        _rescore(workspace, info, scoring_of(info, measures, match), judged_by) for info in chosen
    )


def _rescore(
    workspace: Workspace, info: RunInfo, scoring: Scoring, judged_by: TestSet | None
) -> Rescored:
    if info.status is not RunStatus.COMPLETE:
        raise UsageError(
            f"the run {info.run_id} is {info.status}", hint="assay eval run --resume goes on"
        )
    result = _scored(workspace, info, _with_stored(info, scoring), test_set=judged_by)
    kept = judged_by is None and scoring.same_rule(info.scoring)
    if kept:
        workspace.runs.finish(info.run_id, stored_aggregate(info, result))
    return Rescored(info, result, kept=kept)


def _complete_runs(workspace: Workspace, suite: str) -> tuple[RunInfo, ...]:
    chosen = RunFilter(suite=suite, status=RunStatus.COMPLETE)
    page = workspace.runs.runs(chosen, limit=MOST_RUNS)
    found = tuple(info for info in page.runs if not info.figures_only)
    if not found:
        raise UsageError(f"there is no complete run of {suite}", hint="assay eval list")
    return found


def _with_stored(info: RunInfo, scoring: Scoring, usual: str = EVALUATION_MEASURES) -> Scoring:
    """A way of scoring that gives the measures which a run has, too."""
    entries = info.aggregate.get("aggregates", {}).values()
    stored = [entry["measure"] for entry in entries]
    asked = scoring.measures or usual
    return replace(scoring, measures=measures_text(parse_measures([*stored, asked])))


# History


def history(
    assay: Assay,
    suite: str,
    *,
    measures: Measures = (),
    options: HistoryOptions | None = None,
    limit: int = 20,
) -> History:
    """The newest complete runs of a test set, in series that can be compared."""
    assay.require()
    wanted = parse_measures(measures or HISTORY_MEASURES)
    page = assay.runs.runs(RunFilter(suite=suite), limit=LOOKED_AT)
    found = history_of(suite, page.runs, wanted, options or HistoryOptions(), limit)
    return replace(found, left_out=(*found.left_out, *page.notes))


# Export, and the way from one workspace to another


@dataclass(frozen=True, slots=True)
class Rankings:
    """What came back for each query of a run."""

    info: RunInfo
    outcomes: Sequence[QueryOutcome]

    @property
    def tag(self) -> str:
        """The name of the run in a run file."""
        return self.info.name or self.info.run_id


def export(assay: Assay, run: str = "latest", *, component: str | None = None) -> Rankings:
    """The rankings of a run, or the lists of one of its components, for a run file."""
    assay.require()
    info = rankings_of(assay.runs.run(run))
    outcomes = assay.runs.outcomes(info.run_id, stages=component is not None)
    if component is None:
        return Rankings(info, outcomes)
    if component not in (known := component_names(outcomes)):
        raise UsageError(
            f"the run has no list of {component!r:.40}", hint=f"known: {', '.join(known)}"
        )
    places = places_of(assay.runs.test_set(info.run_id), outcomes, places_lookup(assay, info))
    return Rankings(info, component_outcomes(outcomes, component, places))


def pack(run: StoredRun) -> dict[str, Any]:
    """A whole run as JSON values: what is known of it, its test set, an entry per query."""
    return {
        "format": FORMAT,
        "info": encode(run.info),
        "test_set": to_plain(run.test_set),
        "outcomes": [outcome_json(one) for one in run.outcomes],
    }


def packed(assay: Assay, run: str, viewer: Viewer = OWNER) -> dict[str, Any]:
    """A stored run as ``pack`` writes it, as far as the viewer may see it."""
    assay.require()
    return pack(viewer.seen_run(assay.stored_run(run, stages=True)))


def outcome_json(one: QueryOutcome) -> dict[str, Any]:
    """What happened to one query, as the store keeps it."""
    staged = run_rows.stages_json(one)
    return {
        "query_id": one.query_id,
        "result": json.loads(run_rows.result_json(one)),
        "stages": None if staged is None else json.loads(staged),
    }


def outcome_of(
    content: Mapping[str, Any], depth: int | None = None, *, where: str = "", closed: bool = False
) -> QueryOutcome:
    """The outcome that ``outcome_json`` wrote; ``depth`` builds the first results only."""
    run_rows.check_outcome(content, where or "outcome", closed=closed)
    staged = None if content["stages"] is None else json.dumps(content["stages"])
    return run_rows.outcome(
        check_id(content["query_id"], "query id"),
        json.dumps(content["result"]),
        staged,
        depth=depth,
    )


def unpack(content: Mapping[str, Any]) -> StoredRun:
    """The run that ``pack`` made, checked by reading it into our own values.

    It comes from elsewhere and is believed later: a field that nobody would read is refused.
    """
    run = _unpacked(content, closed=True)
    _check(run.info, run.test_set, tuple(run.outcomes))
    return run


def _unpacked(content: Mapping[str, Any], *, closed: bool = False) -> StoredRun:
    try:
        test_set = decode(TestSet, content["test_set"], "test_set", closed=closed)
        info = decode(RunInfo, content["info"], "info", closed=closed)
        outcomes = tuple(
            outcome_of(one, where=f"outcomes[{at}]", closed=closed)
            for at, one in enumerate(content["outcomes"])
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InputError) as problem:
        said = problem.message if isinstance(problem, InputError) else str(problem)
        raise InputError(
            f"this is not a run: {type(problem).__name__}: {said[:200]}",
            hint="send what GET /v1/runs/{ref}/export answers",
        ) from None
    return StoredRun(replace(info, tags=()), test_set, outcomes)  # tags stay at home


def push(store: RunStore, run: StoredRun) -> bool:
    """Store a run that was made elsewhere; False where the same one is there already.

    What an interrupted push of the same run has left behind is completed.
    """
    begun = replace(run.info, status=RunStatus.RUNNING, aggregate={}, finished_at=None)
    try:
        store.begin(begun, run.test_set)
    except ConflictError as taken:
        try:
            info = store.run(run.info.run_id)
        except UnknownRunError:
            raise taken from None
        if info.run_id != run.info.run_id:
            raise
        known = StoredRun(info, store.test_set(info.run_id), store.outcomes(info.run_id))
        if not _left_behind(known, run):
            if pack(known)["outcomes"] == pack(run)["outcomes"]:
                return False
            raise
    for start in range(0, len(run.outcomes), BATCH):
        store.append(run.info.run_id, run.outcomes[start : start + BATCH])
    store.finish(
        run.info.run_id,
        run.info.aggregate,
        status=run.info.status,
        finished_at=run.info.finished_at,
    )
    return True


def _left_behind(known: StoredRun, run: StoredRun) -> bool:
    """Whether the stored run is the beginning of this one, and nobody else's work."""
    same = all(
        getattr(known.info, name) == getattr(run.info, name)
        for name in ("test_set_checksum", "config_hash", "cache_key", "created_at", "owner")
    )
    if known.info.status in _ENDED or not same:
        return False
    coming = {one.query_id: outcome_json(one) for one in run.outcomes}
    return all(outcome_json(one) == coming.get(one.query_id) for one in known.outcomes)


def _check(info: RunInfo, test_set: TestSet, outcomes: tuple[QueryOutcome, ...]) -> None:
    check_id(info.run_id, "run id")
    check_figures(info)
    for name in (about.name for about in fields(info)):
        value = getattr(info, name)
        if isinstance(value, str) and not value.isprintable():
            raise InputError(f"{name}: must be printable characters, not {value!r:.80}")
    if info.status not in _ENDED:
        raise InputError(
            f"the run {info.run_id} is {info.status}", hint="push it when it has ended"
        )
    if not test_set.has_checksum(info.test_set_checksum) or info.suite != test_set.name:
        raise InputError("the run was made with another test set than the one that came along")
    _check_scoring(info.scoring)
    known = {query.query_id for query in test_set.queries}
    seen: set[str] = set()
    for one in outcomes:
        if one.query_id not in known:
            raise InputError(f"the query {one.query_id} is not in the test set")
        if one.query_id in seen:
            raise InputError(f"the query {one.query_id} has two outcomes")
        seen.add(one.query_id)
    run = StoredRun(info, test_set, outcomes)
    if info.status is RunStatus.COMPLETE and run.incomplete is not None:
        raise InputError(
            f"the run says that it is complete, and {run.incomplete}",
            hint="send the outcome of every query",
        )
    _check_against_outcomes(run)


def _check_against_outcomes(run: StoredRun) -> None:
    """Lists, history and metrics show what a run says of itself: its outcomes must give that."""
    info = run.info
    if info.figures_only or not info.aggregate:
        return
    sampling = replace(info.scoring.sampling, resamples=1, method="percentile")
    usual = usual_measures(run.test_set, run.outcomes, info.scoring.protocol)
    scoring = _with_stored(info, replace(info.scoring, sampling=sampling), usual)
    scored = stored_aggregate(info, result_of_run(info, run.test_set, run.outcomes, scoring))
    _check_names(info.aggregate, scored, "info.aggregate")
    given = _flat_figures(scored)
    for name, told in _flat_figures(info.aggregate).items():
        found = given.get(name)
        if told != found and (
            told is None or found is None or not math.isclose(told, found, abs_tol=_ROUNDED)
        ):
            raise InputError(
                f"the run says {name} is {told}, and its outcomes give {found}",
                hint="send the run as it was exported; assay eval rescore scores an older one anew",
            )


def _check_names(told: Any, given: Any, where: str) -> None:
    """Refuse what scoring would not write."""
    if not isinstance(told, Mapping) or not isinstance(given, Mapping):
        return
    for name, value in told.items():
        if name in given and name != "reasons":
            _check_names(value, given[name], f"{where}.{name}")
        elif name not in given and name not in _AT_TIMES:
            raise InputError(f"{where}.{name!s:.60}: its outcomes give nothing of that name")


_AT_TIMES = frozenset({"ci", "ci_reason", "reason"})
"""What an entry has or lacks by the number of resamples."""
_ROUNDED = 1.01e-4
"""By how much figures may differ that were rounded to four decimals."""
_COUNTED = (
    *("total_queries", "skipped_queries", "scored_queries"),
    *("failed_queries", "degraded_queries", "empty_queries"),
)


def _flat_figures(aggregate: Mapping[str, Any]) -> dict[str, float | None]:
    """The means and counts of an aggregate, each under one name."""
    figures: dict[str, float | None] = {
        name: aggregate[name] for name in _COUNTED if aggregate.get(name) is not None
    }
    figures |= aggregate.get("metrics", {})
    for group in ("per_query_type", "per_speaker"):
        for value, means in (aggregate.get(group) or {}).items():
            figures |= {f"{group}.{value}.{name}": mean for name, mean in means.items()}
    for name, about in (aggregate.get("aggregates") or {}).items():
        figures[f"aggregates.{name}.mean"] = about.get("mean")
    return figures


def _check_scoring(scoring: Scoring) -> None:
    """What a run is scored by comes from elsewhere, and every later verb believes it."""
    drawn = scoring.sampling
    Statistics(
        confidence=drawn.level, resamples=drawn.resamples, seed=drawn.seed, ci_method=drawn.method
    )
    overriding(SETTINGS["chunk_separator"]).accept(scoring.chunk_separator)
    if scoring.measures is not None:
        parse_measures(scoring.measures)


# Reports and bundles


def report(
    assay: Assay,
    run: str = "latest",
    *,
    measures: Measures = (),
    workflow: bool = False,
    targets: Sequence[str] = (),
    statistics: Statistics = USUAL,
) -> RunReport:
    """Tables, breakdowns, insights and worst queries of one run.

    ``workflow`` chooses the measures of the workflow report. ``targets`` such as ``P@5>0.65`` or
    ``P@5>=0.65`` are held against the run beside the usual ones; their measures are computed, too.
    """
    assay.require()
    stored = assay.stored_run(run)
    usual = report_measures(stored, WORKFLOW_MEASURES if workflow else REPORT_MEASURES)
    asked = parse_targets(targets)
    held = {target.measure: target for target in (*usual_targets(), *asked)}
    return run_report(
        stored,
        tuple(dict.fromkeys([*parse_measures(measures or usual), *(one.measure for one in asked)])),
        targets=tuple(held.values()),
        sampling=statistics.drawn_as(stored.info.scoring.sampling),
    )


def bundle(
    assay: Assay,
    refs: Sequence[str],
    folder: Path,
    *,
    measures: Measures = (),
    statistics: Statistics = USUAL,
) -> tuple[str, ...]:
    """Write the master file, a report on each run, and the manifest; the names of the files.

    Each run is scored by its own rule, and its intervals are drawn as they were, unless
    ``statistics`` says otherwise.
    """
    assay.require()
    runs = [assay.stored_run(ref) for ref in dict.fromkeys(refs)]
    for run in runs:
        if run.incomplete is not None:
            raise UsageError(
                f"{run.incomplete}, and a bundle holds whole runs only",
                hint="assay eval run --resume goes on with it",
            )
    sampling = None
    if statistics != USUAL:
        sampling = statistics.drawn_as(runs[0].info.scoring.sampling)
    recipe = bundles.usual_recipe(runs, sampling)
    if measures:
        recipe = replace(recipe, measures=as_text(measures))
    master = bundles.master(runs, recipe)
    files = {bundles.MASTER: bundles.as_text(master).encode(), **_reports(master)}
    files[bundles.MANIFEST] = bundles.manifest(files).encode()
    for name, content in files.items():
        write_atomically(folder / name, content)
    return tuple(files)


def _reports(master: Mapping[str, Any]) -> dict[str, bytes]:
    """The reports of a bundle, written from its master file and nothing else."""
    return {
        bundles.report_name(run_id): content_markdown(bundles.content_of(master, run_id)).encode()
        for run_id in master["runs"]
    }


@dataclass(frozen=True, slots=True)
class BundleCheck:
    """How many numbers of a bundle were computed again, and what is wrong with it.

    ``unchecked`` names the files whose numbers nothing vouches for.
    """

    metrics: int
    problems: tuple[str, ...]
    unchecked: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything is as the bundle says."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "ok": self.ok,
            "metrics": self.metrics,
            "problems": list(self.problems),
            "unchecked": list(self.unchecked),
        }


def verify_bundle(assay: Assay, folder: Path) -> BundleCheck:
    """Check the files against the manifest and the master file, and that against the runs."""
    assay.require()
    problems, unchecked = _damaged(folder), list[str]()
    stated = _master(folder)
    try:
        recipe = bundles.Recipe.from_dict(stated["recipe"])
        names = list(stated["runs"])
        form = stated["form"]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            f"not a bundle of ours: {error}", source=str(folder / bundles.MASTER)
        ) from None
    if form not in bundles.FORMS:
        raise FormatError(
            f"a bundle of form {form!r:.40}, and this version knows {bundles.FORMS}",
            source=str(folder / bundles.MASTER),
            hint="check it with the version that wrote it, or a newer one",
        )
    if form == bundles.FORM:
        problems += _other_numbers(folder, stated)
    elif recipe.sampling is None:
        raise FormatError(
            f"not a bundle of ours: form {form} says how intervals were drawn",
            source=str(folder / bundles.MASTER),
        )
    else:
        unchecked = [
            f"{path.name} was not checked: in a bundle of form {form}, numbers of reports do not "
            f"come from {bundles.MASTER}; write it again with assay eval bundle"
            for path in sorted(folder.glob(bundles.report_name("*")))
        ]
    runs = []
    for name in names:
        try:
            runs.append(assay.stored_run(name))
        except AssayError as error:
            problems.append(f"the run {name} cannot be read: {error.message}")
    if len(runs) < len(names):
        return BundleCheck(0, tuple(problems), tuple(unchecked))
    computed = json.loads(bundles.as_text(bundles.master(runs, recipe, form)))
    problems += bundles.differences(stated, computed)
    return BundleCheck(len(computed["metrics"]), tuple(problems), tuple(unchecked))


def _other_numbers(folder: Path, stated: Mapping[str, Any]) -> list[str]:
    """Every line of every report that does not follow from the master file, and foreign files."""
    try:
        reports = _reports(stated)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, AssayError) as error:
        return [f"no report can be written from {bundles.MASTER}: {type(error).__name__} {error}"]
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    found = [
        f"{name} is not a file of this bundle, and its numbers cannot be checked"
        for name in sorted(there - {bundles.MASTER, bundles.MANIFEST, *reports})
    ]
    for name, content in reports.items():
        if name not in there:
            found.append(f"{name} is missing")
        elif (written := (folder / name).read_bytes()) != content:
            found += _line_differences(name, written.decode(errors="replace"), content.decode())
    return found


def _line_differences(name: str, written: str, expected: str) -> list[str]:
    """What stands in a report, and what the master file says instead, line by line."""
    lines, due = written.splitlines(), expected.splitlines()
    matcher = difflib.SequenceMatcher(None, lines, due, autojunk=False)
    found = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            continue
        said, meant = " / ".join(lines[a:b]), " / ".join(due[c:d])
        found.append(f"{name}:{a + 1}: {said[:100]!r} where {bundles.MASTER} says {meant[:100]!r}")
    return found or [f"{name} differs from what {bundles.MASTER} says in its blanks"]


def _damaged(folder: Path) -> list[str]:
    stated = bundles.read_manifest(_text(folder / bundles.MANIFEST))
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    found = [
        f"{name} is not in the manifest" for name in sorted(there - {bundles.MANIFEST, *stated})
    ]
    for name, checksum in stated.items():
        if "/" in name or name.startswith("."):
            found.append(f"the manifest names {name!r:.80}, which is not a file of a bundle")
            continue
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            found.append(f"{name}: {error.strerror}")
            continue
        if hashlib.sha256(content).hexdigest() != checksum:
            found.append(f"{name} is not the file that the manifest was written for")
    return found


def _master(folder: Path) -> dict[str, Any]:
    place = folder / bundles.MASTER
    try:
        content = json.loads(_text(place))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", source=str(place)) from None
    if not isinstance(content, dict):
        raise FormatError("not a JSON object", source=str(place))
    return content


def _text(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8")
    except OSError as error:
        raise MissingFileError(
            f"{place}: {error.strerror}", hint="assay eval bundle writes one"
        ) from None
    except UnicodeDecodeError:
        raise FormatError("not UTF-8 text", source=str(place)) from None
