"""What does a stored run show: its scores, its components, and each of its queries?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from assay.app.run_exchange import outcome_json
from assay.app.statistics import USUAL, Measures, Statistics, as_text
from assay.errors import (
    MissingFileError,
    UsageError,
)
from assay.evaluation.components import (
    ComponentReport,
    component_names,
    component_outcomes,
    component_report,
)
from assay.evaluation.defaults import (
    HISTORY_MEASURES,
    PAGE_MEASURES,
)
from assay.evaluation.documents import documents_of
from assay.evaluation.match import (
    LookUp,
    graded_ranks,
    judgment_ranks,
    places_of,
    scored_order,
)
from assay.evaluation.outcomes import query_field, score_run
from assay.evaluation.result import EvaluationResult, result_of_run
from assay.evaluation.scope import Scope
from assay.evaluation.scores import Scores
from assay.evaluation.stored_run import rankings_of
from assay.evaluation.waterfall import Waterfall
from assay.evaluation.waterfall import waterfall as find_fates
from assay.measures.base import Measure
from assay.model.codec import encode
from assay.model.ranking import Match, MatchName
from assay.model.runs import QueryOutcome, RunInfo
from assay.model.scoring import Scoring
from assay.model.tabular import Records, Tabular
from assay.model.testset import GoldenQuery, TestSet
from assay.render import evaluation as tables
from assay.render.runs import figures_table
from assay.render.tables import Table
from assay.search.fuse_again import fuser_of

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.app.workspace import Workspace

STAGE_RESAMPLES = 1_000


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
    result = score_stored(assay, info, scoring, stages=per_component or waterfall)
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
    result = score_stored(assay, info, scoring, stages=True)
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


def score_stored(
    assay: Assay,
    info: RunInfo,
    scoring: Scoring,
    *,
    stages: bool = False,
    test_set: TestSet | None = None,
) -> EvaluationResult:
    """The scores of a stored run; nothing is searched."""
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
            hint="assay eval run --resume continues it",
        )
    if query_id in test_set.held_out_ids:
        return MissingFileError(
            f"{query_id} is held out of {info.suite}, and the run {info.run_id} was made without "
            "the held-out part",
            hint=f"assay eval run -t {info.suite} --part all asks every query, which is logged",
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
            f"the run has no list for {component!r:.40}", hint=f"known: {', '.join(known)}"
        )
    places = places_of(assay.runs.test_set(info.run_id), outcomes, places_lookup(assay, info))
    return Rankings(info, component_outcomes(outcomes, component, places))
