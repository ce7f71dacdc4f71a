"""How good is the search on a test set?

``evaluate`` is the one way to carry out an ``EvaluationRequest``: the command, a service, the
schedule, tuning and the sides of an A/B test all call it. Outcomes are committed as they come,
and an evaluation that was cut short continues where it stopped.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.app.evaluated_system import (
    changed_parts,
    preceded,
    refuse_other_index,
    requested_system,
    resumed_system,
)
from assay.app.evaluation_request import (
    COMMIT_FORM,
    CROSS_MODE,
    EvaluationRequest,
    refuse_other_judges,
)
from assay.app.search import incomplete, options_of_caller
from assay.errors import ConflictError, UnknownRunError, UsageError
from assay.model.tabular import Records, Tabular
from assay.model.testset import TestSet
from assay.tracing import Span, span

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.app.workspace import Workspace
    from assay.evaluation.cross_mode import ModeDifference
    from assay.evaluation.parts import SetPart
    from assay.evaluation.record import Recorded
    from assay.evaluation.result import EvaluationResult
    from assay.model.runs import QueryOutcome
    from assay.model.system import System


COMMIT_VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")
COMMIT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class EvaluationStep:
    """How far an evaluation is; what was found so far is known only where it is made."""

    done: int
    total: int
    test_set: TestSet | None = None
    outcomes: Sequence[QueryOutcome] = ()

    def so_far(self) -> str:
        """The measures over the queries that were answered, in one line."""
        from assay.evaluation.defaults import PROGRESS_MEASURES
        from assay.evaluation.outcomes import score_outcomes
        from assay.evaluation.scores import shown

        ids = {one.query_id for one in self.outcomes}
        failed = sum(one.error is not None for one in self.outcomes)
        words = [f"{failed} failed"] if failed else []
        if self.test_set is not None:
            queries = tuple(one for one in self.test_set.queries if one.query_id in ids)
            if any(query.judged for query in queries):
                part = replace(self.test_set, queries=queries)
                scores = score_outcomes(part, self.outcomes, PROGRESS_MEASURES)
                words = [*(f"{m} {shown(scores[m])}" for m in scores.measures), *words]
        return "  ".join(words)


EvaluationProgress: TypeAlias = Callable[[EvaluationStep], None]


def unwatched(step: EvaluationStep) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Evaluated(Tabular):
    """The runs of an evaluation, two of them in cross-mode, and what they could not find.

    ``unindexed`` says what is stored and not indexed, ``absent`` what was judged and is not there.
    """

    runs: tuple[Recorded, ...]
    unindexed: tuple[str, ...] = ()
    absent: str | None = None

    @property
    def result(self) -> EvaluationResult:
        """The result of the only run, with all warnings; of two, each has its own."""
        if self.modes:
            raise UsageError(
                "cross-mode has two results", hint="see modes, by OFFLINE and LIVE, and difference"
            )
        (run,) = self.runs
        return replace(run.result, info=run.info, notes=self.warnings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before believing the figures."""
        compared = () if self.difference is None else tuple(self.difference.warnings())
        absent = () if self.absent is None else (self.absent,)
        return (*compared, *self.unindexed, *absent, *self.unseen)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Of code of one's own only the code is known, not what it looks into."""
        return tuple(
            f"{name} was not asked again, since its code is unchanged; "
            "if what it searches has changed: --no-cache"
            for one in self.runs
            if one.cached
            for name in (
                [one.info.config["retriever"]]
                if one.info.engine == "python"
                else one.info.config.get("component_code", {})
            )
        )

    @property
    def modes(self) -> dict[str, Recorded]:
        """The runs of cross-mode by their names; nothing otherwise."""
        names = ("OFFLINE", "LIVE")
        return dict(zip(names, self.runs, strict=True)) if len(self.runs) == len(names) else {}

    @property
    def difference(self) -> ModeDifference | None:
        """What came live against what came from files; None but in cross-mode."""
        from assay.evaluation.cross_mode import mode_difference

        sides = {name: one.result for name, one in self.modes.items()}
        return mode_difference(sides) if sides else None

    @property
    def degraded(self) -> bool:
        """Whether anything is missing from the figures."""
        return any(one.result.degraded or one.result.failed for one in self.runs)

    def records(self) -> Records:
        """A row for each query of each run."""
        found = [one.result.records() for one in self.runs]
        rows = (dict(zip(one.names, row, strict=True)) for one in found for row in one.rows)
        return Records.of(rows, notes=self.warnings)

    def overview(self) -> Records:
        """A row for each run with its measures, and what to know before believing them."""
        rows = [
            {
                "run": one.info.run_id,
                "name": one.info.name,
                "queries": len(one.result.scores.queries),
            }
            | {str(measure): one.result[measure] for measure in one.result.scores.measures}
            for one in self.runs
        ]
        said = (warning for one in self.runs for warning in one.result.warnings())
        return Records.of(rows, notes=(*said, *self.warnings))

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """JSON-ready."""
        if self.modes:
            results = {
                name: one.result.to_dict(per_query=per_query) for name, one in self.modes.items()
            }
            difference = self.difference
            assert difference is not None
            return {
                "modes": results,
                "difference": difference.to_dict(),
                "warnings": list(self.warnings),
            }
        return self.result.to_dict(per_query=per_query)


def evaluate(
    workspace: Workspace,
    request: EvaluationRequest,
    progress: EvaluationProgress = unwatched,
    before_query: Callable[[], None] | None = None,
) -> Evaluated:
    """Run a test set and keep the run, or find that it was run before.

    ``before_query`` is called before each query, so that other work can go first.
    """
    with span("assay.evaluate") as noted:
        made = _evaluate(workspace, request, progress, before_query)
        _note(noted, made)
        return made


def _note(noted: Span, made: Evaluated) -> None:
    """Tell whoever listens what was run and what it scored."""
    noted.note("test_set", made.runs[0].info.suite)
    noted.note("run_ids", [one.info.run_id for one in made.runs])
    noted.note("queries", sum(one.info.queries for one in made.runs))
    noted.note("cached", all(one.cached for one in made.runs))
    noted.note("failed", sum(len(one.result.failed) for one in made.runs))
    for mode, one in (made.modes or {"": made.runs[0]}).items():
        for measure in one.result.scores.measures:
            noted.note(".".join(filter(None, ("metric", mode, measure.key))), one.result[measure])


def _evaluate(
    workspace: Workspace,
    request: EvaluationRequest,
    progress: EvaluationProgress,
    before_query: Callable[[], None] | None,
) -> Evaluated:
    if request.resume is not None:
        return evaluated(workspace, request, [_resumed(workspace, request, progress)])
    system = requested_system(workspace, request)
    if before_query is not None:
        many = system.retrieve_many
        system = replace(
            system,
            retrieve=preceded(system.retrieve, before_query),
            retrieve_many=None if many is None else preceded(many, before_query),
        )
    parts = _parts(workspace, request)
    made: list[Recorded] = []
    before, total = 0, sum(_size(part) for part in parts)
    for part in parts:
        run_id = request.run_id
        if run_id is not None and len(parts) > 1:
            run_id = f"{run_id}_{part.mode}"
        shifted = _shifted(progress, before, total)
        made.append(_record(workspace, request, system, part, shifted, run_id=run_id))
        before += _size(part)
    return evaluated(workspace, request, made)


def check_request(workspace: Workspace, request: EvaluationRequest) -> None:
    """Refuse an evaluation by a service that could only fail, or that nobody may ask it for."""
    from assay.search.run_config import evaluation_options

    options_of_caller(workspace.settings, request.options)
    refuse_other_judges(workspace.settings, request)
    searcher = workspace.searcher
    searcher.check_named(request.options)
    options = evaluation_options(searcher.defaults, **request.options)
    searcher.check(options)
    searcher.snapshot.resolved(options.filters)


def scored_run(
    assay: Assay, ref: str, request: EvaluationRequest, *, cached: bool = False
) -> Recorded:
    """A stored run as ``evaluate`` gives it, without what components found, scored as asked."""
    from assay.evaluation.record import Recorded
    from assay.evaluation.result import result_of_run

    run = assay.stored_run(ref)
    scoring = run.info.scoring.changed(measures=request.measures)
    result = result_of_run(run.info, run.test_set, run.outcomes, scoring, cached=cached)
    return Recorded(run.info, result, cached=cached, reused=len(run.outcomes) if cached else 0)


def evaluated(assay: Assay, request: EvaluationRequest, made: Sequence[Recorded]) -> Evaluated:
    """The runs, held against the corpus: our own search cannot find what is not in the index."""
    from assay.evaluation.match import absence

    ours = [one.result.test_set for one in made if one.info.ours]
    if not ours:
        return Evaluated(tuple(made))  # of other engines we know nothing
    queries = [query for test_set in ours for query in test_set.queries]
    held_out = frozenset().union(*(test_set.held_out_ids for test_set in ours))
    absent = absence(queries, assay.present, made[0].info.scoring.match, held_out)
    return Evaluated(tuple(made), tuple(incomplete(assay)), absent)


def joined_test_set(names: Sequence[str], folder: Path | None = None) -> TestSet:
    """The test set that names or paths of this machine mean; several are one."""
    from assay.testsets.join import join
    from assay.testsets.load import load_test_set

    return join([load_test_set(name, folder=folder, lenient=True) for name in names])


def test_set_body(request: EvaluationRequest) -> dict[str, Any]:
    """The test set of a request as a service takes it: files are sent, other names are its own."""
    from assay.testsets.write import as_plain

    test_set, names = request.test_set, request.test_sets
    if test_set is None:
        elsewhere = [name for name in names if not Path(name).exists()]
        if elsewhere and len(names) == 1:
            return {"dataset_id": names[0]}
        if elsewhere:
            raise UsageError(
                f"{elsewhere[0]} is not a file here, and a service runs one of its own test sets "
                "at a time",
                hint="name one test set, or files",
            )
        test_set = joined_test_set([os.path.abspath(name) for name in names])
    return as_plain(test_set)


def commit_hash() -> str:
    """The commit that CI names, else that of the working folder; empty where there is none."""
    for name in COMMIT_VARIABLES:
        if (found := os.environ.get(name, "")[:64]) and COMMIT_FORM.fullmatch(found):
            return found
    try:
        said = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607 - whichever git the caller uses
            capture_output=True,
            text=True,
            timeout=COMMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""


def _parts(workspace: Workspace, request: EvaluationRequest) -> list[SetPart]:
    from assay.evaluation.parts import Mode, Split, part_of

    test_set = request.test_set
    if test_set is None:
        test_set = joined_test_set(request.test_sets, workspace.layout.test_sets)
    split = None if request.part is None else Split(request.part)
    if request.mode != CROSS_MODE:
        return [part_of(test_set, split, Mode(request.mode), speakers=request.speakers)]
    modes_of = workspace.store.inventory.ingestion_modes
    return [
        part_of(test_set, split, mode, modes_of=modes_of, speakers=request.speakers)
        for mode in (Mode.OFFLINE, Mode.LIVE)
    ]


def _size(part: SetPart) -> int:
    from assay.evaluation.scope import answerable

    return len(answerable(part.test_set))


def _shifted(progress: EvaluationProgress, before: int, total: int) -> EvaluationProgress:
    return lambda step: progress(replace(step, done=before + step.done, total=total))


def _record(
    workspace: Workspace,
    request: EvaluationRequest,
    system: System,
    part: SetPart,
    progress: EvaluationProgress,
    *,
    run_id: str | None = None,
) -> Recorded:
    from assay.evaluation.parts import Mode
    from assay.evaluation.record import RecordOptions, record
    from assay.store.owner import this_process

    config = dict(system.config)
    if part.mode is not Mode.AS_WRITTEN:
        config["mode"] = str(part.mode)
    system = replace(system, config=config)
    options = RecordOptions(
        name=request.name,
        tags=request.tags,
        run_id=run_id,
        resume=request.resume or _begun(workspace, request, run_id, system, part),
        use_cache=request.use_cache,
        max_errors=request.max_errors,
        commit_hash=request.commit_hash,
        uploaded=request.uploaded,
        owner=this_process(),
        purpose=request.purpose,
        scoring=request.scoring(workspace.settings),
    )

    def report(done: int, total: int, outcomes: Sequence[QueryOutcome]) -> None:
        progress(EvaluationStep(done, total, part.test_set, outcomes))

    return record(system, part, workspace.runs, options, report)


def _begun(
    workspace: Workspace,
    request: EvaluationRequest,
    run_id: str | None,
    system: System,
    part: SetPart,
) -> str | None:
    """The run of this very id to go on with, if there is one; refused where it is another's."""
    from assay.model.runs import RunStatus

    if run_id is None:
        return None
    try:
        known = workspace.runs.run(run_id)
    except UnknownRunError:
        return None
    if known.run_id != run_id:
        return None  # a tag or a name of another run: refused when the run is entered
    same = (part.test_set.checksum, part.label)
    scoring = request.scoring(workspace.settings)
    if (
        (known.test_set_checksum, known.part) != same
        or changed_parts(known, system)
        or replace(known.scoring, measures=None) != replace(scoring, measures=None)
        or request.name not in ("", known.name)
    ):
        raise ConflictError(
            f"the run {run_id} was made with another test set, other options or another name",
            hint="use another id for another evaluation",
        )
    if known.status is not RunStatus.COMPLETE:
        refuse_other_index(known, system)
    return run_id


def _resumed(
    workspace: Workspace, request: EvaluationRequest, progress: EvaluationProgress
) -> Recorded:
    """Go on with a run: the same queries, put to the same system."""
    from assay.evaluation.parts import Mode, SetPart

    assert request.resume is not None
    info = workspace.runs.run(request.resume)
    last = info.part.rpartition(", ")[2]
    mode = Mode(last) if last in set(Mode) else Mode.AS_WRITTEN
    test_set = workspace.runs.test_set(info.run_id)
    held_out = not test_set.held_out_ids.isdisjoint(test_set.by_id)
    part = SetPart(test_set, info.part, mode, held_out)
    return _record(workspace, request, resumed_system(workspace, request, info), part, progress)
