"""May this run replace its baseline?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.engine import Progress, silent
from assay.app.latency import check_repeats
from assay.app.statistics import USUAL, Statistics
from assay.errors import UnknownRunError, UsageError
from assay.evaluation.baseline import Baseline, side_of_file, side_of_run, sides_of_runs
from assay.evaluation.defaults import GATE_MEASURES, OF_JUDGES
from assay.evaluation.gate import (
    AnyLimit,
    GateLimit,
    GateReport,
    LatencyBound,
    LatencyLimit,
    chunkers_differ,
    lacking,
    parse_limits,
    slack,
)
from assay.evaluation.gate import gate as rule_on
from assay.evaluation.judge_quality import require_agreement
from assay.evaluation.latency import LatencyChange, latency_together
from assay.evaluation.outcomes import groups_of
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Measure
from assay.measures.parse import parse_measures
from assay.model.codec import flat
from assay.model.run_store import BASELINE, RunFilter
from assay.model.runs import RunInfo, RunStatus
from assay.model.sampling import Sampling

if TYPE_CHECKING:
    from assay.app.interface import Assay


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """A run held against another; either may be a file with the numbers of one.

    ``limits`` such as ``Recall@10=5%`` or ``latency_p95=20%`` replace the usual one. With
    ``non_inferiority`` the interval of the change decides instead of the means. Where latency has
    a limit, ``latency_repeats`` is how often the configurations of both runs are timed in turn; 0
    takes the times that the runs noted. Of the statistics, a gate uses alpha, resamples, seed and
    ci_method; what is not given is as the run has it.
    """

    baseline: str | Path
    current: str | Path = "latest"
    limits: tuple[str, ...] = ()
    non_inferiority: bool = False
    latency_repeats: int = 0
    statistics: Statistics = field(default=USUAL, metadata=flat)

    def __post_init__(self) -> None:
        check_repeats(self.latency_repeats)


def gate(assay: Assay, request: GateRequest, progress: Progress = silent) -> GateReport:
    """Say whether a run may replace its baseline.

    Runs of different chunkers are matched by what was archived of their chunks. Two files need no
    workspace.
    """
    if not (isinstance(request.baseline, Path) and isinstance(request.current, Path)):
        assay.require()
    settings = request.statistics.applied_to(assay.settings)
    limits = parse_limits(request.limits)
    shown = parse_measures(GATE_MEASURES)
    limited = (limit.measure for limit in limits if isinstance(limit, GateLimit))
    measures = tuple(dict.fromkeys([*shown, *limited]))
    run = None if isinstance(request.current, Path) else assay.stored_run(request.current)
    judged_sides = [] if run is None else [run.info]
    if run is None:
        before = _side(assay, request.baseline, measures)
        now = _side(assay, request.current, measures)
    elif isinstance(request.baseline, Path):
        before, now = side_of_file(request.baseline, measures), side_of_run(run, measures)
        unclear = chunkers_differ(before, now) or lacking(before, now)
        if unclear and (made := _made_from(assay, before, measures)):
            sides = sides_of_runs(made, run, measures, assay.archived)
            before, now = replace(sides[0], name=before.name), sides[1]
    else:
        other = assay.stored_run(request.baseline)
        judged_sides.append(other.info)
        before, now = sides_of_runs(other, run, measures, assay.archived)
    before, now = (
        replace(side, sampling=side.sampling and request.statistics.drawn_as(side.sampling))
        for side in (before, now)
    )
    usual = (now.sampling or Sampling()) if run is None else run.info.scoring.sampling
    return rule_on(
        before,
        now,
        limits,
        non_inferiority=request.non_inferiority,
        alpha=settings.alpha,
        sampling=request.statistics.drawn_as(usual),
        timed=_timed(assay, request, run, limits, seed=settings.seed, progress=progress),
        warnings=[
            *(["the run is its own baseline"] if before.name == now.name else []),
            *_of_judge(judged_sides, limits),
        ],
    )


def _of_judge(sides: Sequence[RunInfo], limits: Sequence[AnyLimit]) -> list[str]:
    """What to say of the judge behind measures that have limits; a bad one is refused."""
    made = set(parse_measures(OF_JUDGES))
    measures = [one.measure for one in limits if isinstance(one, GateLimit)]
    judged = [str(measure) for measure in measures if measure in made]
    return require_agreement(sides, judged) if judged and sides else []


def _side(assay: Assay, named: str | Path, measures: Sequence[Measure]) -> Baseline:
    if isinstance(named, Path):
        return side_of_file(named, measures)
    return side_of_run(assay.stored_run(named), measures)


def _timed(
    assay: Assay,
    request: GateRequest,
    run: StoredRun | None,
    limits: Sequence[AnyLimit],
    *,
    seed: int,
    progress: Progress,
) -> LatencyChange | None:
    """The configurations of both runs timed in turn, where that was asked for and is needed."""
    wanted = any(
        isinstance(limit, LatencyLimit) and limit.bound is not LatencyBound.CEILING
        for limit in limits
    )
    if not wanted or not request.latency_repeats:
        return None
    for named in (request.baseline, request.current):
        if isinstance(named, Path):
            raise UsageError(
                f"{named.name} is a file, which cannot be timed",
                hint="name the stored run, or leave latency_repeats out",
            )
    assert isinstance(request.baseline, str)
    assert run is not None
    timings = assay.timings(
        request.baseline,
        run.info.run_id,
        repeats=request.latency_repeats,
        seed=seed,
        progress=progress,
    )
    sampling = request.statistics.drawn_as(run.info.scoring.sampling)
    groups = groups_of(run.queries) if run.info.scoring.by_group else None
    return latency_together(timings, sampling, groups)


def _made_from(assay: Assay, file: Baseline, measures: Sequence[Measure]) -> StoredRun | None:
    """The stored run that a file was made from, if it is here and still has the file's values.

    Its results can be matched where those of a file cannot.
    """
    if not file.run_id:
        return None
    try:
        info = assay.runs.run(file.run_id)
    except UnknownRunError:
        return None
    if info.run_id != file.run_id:
        return None
    made = assay.stored_run(info.run_id)
    values = side_of_run(made, measures).means
    pairs = [(value, values.get(name)) for name, value in file.means.items()]
    same = all(a == b or _close(a, b) for a, b in pairs)
    return made if same else None


def _close(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and abs(a - b) <= slack(rounded=True)


def named_run(assay: Assay, request: GateRequest) -> GateRequest:
    """The same by the ids of its runs, which later runs do not change as they do "latest"."""
    assert not isinstance(request.baseline, Path)
    assert not isinstance(request.current, Path)
    before, now = (assay.runs.run(ref).run_id for ref in (request.baseline, request.current))
    return replace(request, baseline=before, current=now)


def run_or_file(assay: Assay, text: str) -> str | Path:
    """What a person meant: a stored run wins over a file of the same name."""
    if text.endswith(".json") or os.sep in text:
        return Path(text)
    assay.require()
    try:
        assay.runs.run(text)
    except UnknownRunError:
        if Path(text).exists():
            return Path(text)
        raise
    return text


def usual_baseline(assay: Assay, current: str = "latest") -> str:
    """What a run is held against where nobody says: the tag baseline, else the newest other run.

    Only a complete run of the same test set will do; empty where there is none.
    """
    try:
        now = assay.runs.run(current or "latest")
    except UnknownRunError:
        return ""
    fitting = RunFilter(suite=now.suite, status=RunStatus.COMPLETE)
    tagged = assay.runs.runs(replace(fitting, tag=BASELINE), limit=1).runs
    if any(info.run_id != now.run_id for info in tagged):
        return BASELINE
    others = (info.run_id for info in assay.runs.runs(fitting, limit=2).runs)
    return next((run_id for run_id in others if run_id != now.run_id), "")
